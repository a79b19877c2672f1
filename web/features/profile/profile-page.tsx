import type { ReactNode } from 'react';
import { Link } from 'wouter';
import type { Output } from '../../../contract/calls.ts';
import { useCall } from '../../lib/calls.ts';
import { dayOf } from '../../lib/dates.ts';
import { paths } from '../../pages.ts';
import { ButtonLink } from '../../ui/button.tsx';
import { PageHeading } from '../../ui/page-heading.tsx';
import { Failed, Skeleton } from '../../ui/states.tsx';

/** /profile: the account and its devices. @param devices the list of devices, which is another feature */
export function ProfilePage({ devices }: { devices: ReactNode }) {
  const { data: settings, ...query } = useCall('settings');
  return (
    <div className="max-w-2xl">
      <PageHeading title="Profile" />
      <p className="mt-1.5 text-muted">Your account and where it is signed in.</p>
      <h2 className="mt-10 mb-4 text-lg font-semibold tracking-tight">Account</h2>
      {query.error && !settings ? <Failed {...query} fallback="Your account could not be loaded." /> : <Account settings={settings} />}
      <h2 className="mt-10 mb-4 text-lg font-semibold tracking-tight">Devices</h2>
      {devices}
    </div>
  );
}

function Account({ settings }: { settings: Output<'settings'> | undefined }) {
  return (
    <>
      <dl aria-busy={!settings} className="divide-y divide-line rounded-panel border border-line bg-panel">
        <Fact name="Email" value={settings?.email} />
        <Fact name="Name" value={settings && (settings.name || 'Not set')} />
        <Fact name="Organization" value={settings && (settings.organisation || 'Not set')} />
        <Fact name="Member since" value={settings && dayOf(settings.createdAt)} />
      </dl>
      <ButtonLink as={Link} variant="secondary" className="mt-4" href={paths.settings}>
        Edit in Settings
      </ButtonLink>
    </>
  );
}

function Fact({ name, value }: { name: string; value: string | undefined }) {
  return (
    <div className="grid gap-x-4 px-4 py-3 sm:grid-cols-[9rem_1fr] sm:px-5">
      <dt className="text-sm leading-6 text-muted">{name}</dt>
      <dd className="min-w-0 wrap-anywhere">{value ?? <Skeleton className="h-6 w-44" />}</dd>
    </div>
  );
}
