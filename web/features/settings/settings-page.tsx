import type { ReactNode } from 'react';
import { useSettings } from '../../lib/settings.ts';
import { Failed } from '../../ui/failed.tsx';
import { PageHeading } from '../../ui/page-heading.tsx';
import { Skeleton } from '../../ui/skeleton.tsx';
import { BrandingForm } from './branding-form.tsx';
import { OrganisationForm } from './organisation-form.tsx';
import { ProfileForm } from './profile-form.tsx';
import { Section } from './section.tsx';

/** /dashboard/settings. @param devices where the account is signed in, a part of its own */
export function SettingsPage({ devices }: { devices: ReactNode }) {
  const { data: settings, ...query } = useSettings();
  if (query.error && !settings) {
    return (
      <div className="grid max-w-xl gap-6">
        <PageHeading title="Settings" />
        <Failed {...query} fallback="Your settings could not be loaded." />
      </div>
    );
  }
  return (
    <>
      <PageHeading title="Settings" className="mb-8 text-2xl leading-8" />
      <Section title="Profile Settings" text="Who you are in the portal.">
        {settings ? <ProfileForm settings={settings} /> : <FormLoading fields={2} />}
      </Section>
      <Section title="Organization" text="Whom you build for, and what the service costs.">
        {settings ? <OrganisationForm settings={settings} /> : <FormLoading fields={1} />}
      </Section>
      <Section
        title="Email Branding"
        text="How the sign-in emails of your websites look. The subject and the text always name the website’s domain."
      >
        {settings ? <BrandingForm settings={settings} /> : <FormLoading fields={2} />}
      </Section>
      <Section title="Devices" text="Where you are signed in, or remembered so that one click signs you in.">
        {devices}
      </Section>
    </>
  );
}

function FormLoading({ fields }: { fields: number }) {
  return (
    <div role="status" aria-label="Loading your settings" className="grid gap-5">
      {Array.from({ length: fields }, (_, field) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: all alike, and never moved
        <div key={field} className="grid gap-1.5">
          <Skeleton className="h-5 w-24" />
          <Skeleton className="h-11 w-full" />
        </div>
      ))}
      <Skeleton className="h-11 w-36" />
    </div>
  );
}
