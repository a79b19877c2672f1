import { type ReactNode, useId } from 'react';
import { useSettings } from '../../lib/session.ts';
import { cx } from '../../ui/cx.ts';
import { PageHeading } from '../../ui/page-heading.tsx';
import { Failed, Skeleton } from '../../ui/states.tsx';
import { OrganisationForm, ProfileForm } from './account-forms.tsx';
import { BrandedWebsites, BrandingForm } from './branding.tsx';

/** /dashboard/settings. @param devices, connections lists of other features */
export function SettingsPage({ devices, connections }: { devices: ReactNode; connections: ReactNode }) {
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
      <Section title="Organization" text="Your organization, and what the service costs.">
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
      <Section
        title="Connected applications"
        text="Applications and websites that you signed in to, and what you allowed them. To end their access, revoke it."
      >
        {connections}
      </Section>
    </>
  );
}

/** A placeholder of the same height as the form. @param hints the height of each field's hint @param after the classes of a block below the form */
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

/** One part of the settings: its title on the left, its controls on the right. */
function Section({ title, text, children }: { title: string; text: string; children: ReactNode }) {
  const id = useId();
  return (
    <section aria-labelledby={id} className="grid gap-x-10 gap-y-5 border-t border-line py-8 lg:grid-cols-[13rem_minmax(0,1fr)]">
      <div>
        <h2 id={id} className="font-semibold tracking-tight">
          {title}
        </h2>
        <p className="mt-1 max-w-md text-sm leading-6 text-muted">{text}</p>
      </div>
      <div className="min-w-0 max-w-xl">{children}</div>
    </section>
  );
}
