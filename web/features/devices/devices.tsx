import { useQuery } from '@tanstack/react-query';
import { useRef, useState } from 'react';
import { useLocation } from 'wouter';
import type { Output } from '../../../contract/calls.ts';
import { api, errorText } from '../../lib/api.ts';
import { useAct, useCall } from '../../lib/calls.ts';
import { dayOf, timeAgo } from '../../lib/dates.ts';
import { useLogout, useSignOutEverywhere } from '../../lib/session.ts';
import { paths } from '../../pages.ts';
import { Button } from '../../ui/button.tsx';
import { Choices } from '../../ui/choices.tsx';
import { FormDialog } from '../../ui/dialog.tsx';
import { Rows, RowsLoading } from '../../ui/panels.tsx';
import { Badge, Failed } from '../../ui/states.tsx';
import { keepToast, toast, toastFailure } from '../../ui/toast.tsx';

type Device = Output<'listDevices'>[number];

/** The browsers in which the account is signed in or remembered. Each can be signed out, and all at once. */
export function Devices() {
  // Other browsers add devices.
  const devices = useCall('listDevices', {}, { staleTime: 0 });
  const [, navigate] = useLocation();
  const logout = useLogout(() => navigate(paths.landing, { replace: true }));
  const signOut = useAct('signOutDevice', { refreshes: ['listDevices'] });
  // A row is removed at once, and restored when the request fails.
  const [ended, setEnded] = useState<readonly string[]>([]);
  const [confirming, setConfirming] = useState(false);
  const list = useRef<HTMLElement>(null);

  const end = (device: Device) => {
    if (device.current) return logout.mutate();
    setEnded((ids) => [...ids, device.id]);
    signOut.mutateAsync({ id: device.id }).then(
      () => toast('Signed out', device.label),
      (error) => {
        setEnded((ids) => ids.filter((id) => id !== device.id));
        toastFailure('Failed to sign out', errorText(error, 'The device is still signed in.'));
      },
    );
    // The pressed button is removed with its row.
    list.current?.focus();
  };

  if (devices.error && !devices.data) return <Failed {...devices} fallback="Your devices could not be loaded." />;
  if (!devices.data) return <RowsLoading what="your devices" />;
  return (
    <section ref={list} tabIndex={-1} aria-label="Your devices">
      <Rows>
        {devices.data
          .filter(({ id }) => !ended.includes(id))
          .map((device) => (
            <DeviceRow key={device.id} device={device} busy={device.current && logout.isPending} onSignOut={() => end(device)} />
          ))}
      </Rows>
      <Button variant="secondary" className="mt-4" onClick={() => setConfirming(true)}>
        Sign out everywhere
      </Button>
      {confirming && <EverywhereDialog onClose={() => setConfirming(false)} />}
    </section>
  );
}

function DeviceRow({ device, busy, onSignOut }: { device: Device; busy: boolean; onSignOut: () => void }) {
  const { label, current, signedIn, lastSeen } = device;
  return (
    <li className="flex flex-wrap items-center gap-x-4 gap-y-1 py-2 pr-2 pl-4 sm:pl-5">
      <div className="min-w-0 grow basis-44 py-1">
        <p className="flex flex-wrap items-center gap-x-3 gap-y-1 font-medium">
          {label}
          {current && <Badge tone="live">This device</Badge>}
        </p>
        <p className="mt-0.5 text-sm text-muted">
          {signedIn ? 'Signed in' : 'Remembered: one click signs in'} · {current ? 'in use' : lastSeenText(lastSeen)}
        </p>
      </div>
      <Button variant="quiet" small busy={busy} className="hover:text-danger" onClick={onSignOut} aria-label={`Sign out ${label}`}>
        Sign out
      </Button>
    </li>
  );
}

const lastSeenText = (lastSeen: string) => `last seen ${timeAgo(Date.parse(lastSeen), 'en')}`;

/** Returns what gives access without a sign-in. */
async function readCredentials(signal: AbortSignal) {
  const [keys, { passkeys }] = await Promise.all([api.listApiKeys({}, { signal }), api.listPasskeys({}, { signal })]);
  return { keys: keys.filter(({ isActive }) => isActive), passkeys };
}

function EverywhereDialog({ onClose }: { onClose: () => void }) {
  const [, navigate] = useLocation();
  const query = useQuery({ queryKey: ['sign-out-everywhere'], queryFn: ({ signal }) => readCredentials(signal), staleTime: 0, gcTime: 0 });
  const [keptKeys, setKeptKeys] = useState<string[]>([]);
  const [endedPasskeys, setEndedPasskeys] = useState<string[]>([]);
  const { keys = [], passkeys = [] } = query.data ?? {};
  const endedKeys = keys.map(({ id }) => id).filter((id) => !keptKeys.includes(id));
  const needed = endedPasskeys.length < passkeys.length ? 'an email or one of your passkeys' : 'an email';
  const signOut = useSignOutEverywhere(() => {
    keepToast('Signed out everywhere', `Every device needs ${needed} to sign in again.`);
    navigate(paths.landing, { replace: true });
  });
  // Everything of a kind, also what was added meanwhile, when nothing of it is left out.
  const submit = () => signOut.mutate({ apiKeys: keptKeys.length === 0 ? 'all' : endedKeys, passkeys: endedPasskeys });
  return (
    <FormDialog
      title="Sign out everywhere"
      action="Sign out everywhere"
      danger
      busy={signOut.isPending || query.isLoading}
      failure={signOut.error && errorText(signOut.error, 'You could not be signed out.')}
      onSubmit={() => (query.data ? submit() : query.refetch())}
      onClose={onClose}
    >
      {query.error && <Failed {...query} fallback="Your API keys and passkeys could not be loaded." />}
      {!query.data && !query.error && <RowsLoading what="your API keys and passkeys" />}
      {query.data && (
        <p className="text-muted">
          Every browser and program is signed out and forgets your address, this one too. To come back you need {needed}.
        </p>
      )}
      {keys.length > 0 && (
        <Choices
          label="API keys that end"
          hint="One that is not ticked keeps working."
          plain
          options={keys.map(({ id, name, keyId }) => ({ value: id, label: name, hint: keyId }))}
          chosen={endedKeys}
          onChange={(chosen) => setKeptKeys(keys.map(({ id }) => id).filter((id) => !chosen.includes(id)))}
        />
      )}
      {passkeys.length > 0 && (
        <Choices
          label="Passkeys that end"
          hint="One that is not ticked still signs in."
          plain
          options={passkeys.map(({ id, name, createdAt }) => ({ value: id, label: name, hint: `Added ${dayOf(createdAt)}` }))}
          chosen={endedPasskeys}
          onChange={setEndedPasskeys}
        />
      )}
    </FormDialog>
  );
}
