import type { ReactNode } from 'react';
import { useSettings } from '../../lib/settings.ts';
import { cx } from '../../ui/cx.ts';
import { Failed } from '../../ui/failed.tsx';
import { PageHeading } from '../../ui/page-heading.tsx';
import { Skeleton } from '../../ui/skeleton.tsx';
import { BrandedWebsites } from './branded-websites.tsx';
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
        {settings ? <ProfileForm settings={settings} /> : <FormLoading hints={['', 'h-15 sm:h-10']} />}
      </Section>
      <Section title="Organization" text="Whom you build for, and what the service costs.">
        {settings ? <OrganisationForm settings={settings} /> : <FormLoading hints={['']} after="mt-6 h-15.5" />}
      </Section>
      <Section
        title="Email Branding"
        text="How the sign-in emails of your websites look, once you have proved their domains. The subject and the text always name the website’s domain."
      >
        <BrandedWebsites />
        {settings ? <BrandingForm settings={settings} /> : <FormLoading hints={['h-10 sm:h-5', 'h-10 sm:h-5']} after="mt-28.5 h-[44rem]" />}
      </Section>
      <Section title="Devices" text="Where you are signed in, or remembered so that one click signs you in.">
        {devices}
      </Section>
    </>
  );
}

/** As high as the form, so that nothing moves. @param hints the height of each field's hint @param after what stands below the form */
function FormLoading({ hints, after }: { hints: string[]; after?: string }) {
  return (
    <div role="status" aria-label="Loading your settings">
      <div className="grid gap-5">
        {hints.map((hint, field) => (
          // biome-ignore lint/suspicious/noArrayIndexKey: never moved
          <div key={field}>
            <Skeleton className="mb-1.5 h-5 w-24" />
            <Skeleton className="h-11 w-full" />
            {hint && <div className={cx('mt-1.5', hint)} />}
          </div>
        ))}
        <Skeleton className="h-11 w-36" />
      </div>
      {after && <Skeleton className={cx('w-full', after)} />}
    </div>
  );
}
