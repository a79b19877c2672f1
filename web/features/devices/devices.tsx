import { useRef, useState } from 'react';
import { useLocation } from 'wouter';
import { wordsOf } from '../../lib/failure.ts';
import { useLogout } from '../../lib/session.ts';
import { toast, toastFailure } from '../../lib/toast.ts';
import { paths } from '../../paths.ts';
import { Button } from '../../ui/button.tsx';
import { Failed } from '../../ui/failed.tsx';
import { Rows, RowsLoading } from '../../ui/rows.tsx';
import { DeviceRow } from './device-row.tsx';
import { EverywhereDialog } from './everywhere-dialog.tsx';
import { type Device, useDevices, useSignOutDevice } from './queries.ts';

/** Where the account is signed in or remembered; each can be ended, and all at once. */
export function Devices() {
  const devices = useDevices();
  const [, navigate] = useLocation();
  const logout = useLogout(() => navigate(paths.landing, { replace: true }));
  const signOut = useSignOutDevice();
  const [asking, setAsking] = useState(false);
  const list = useRef<HTMLElement>(null);

  const end = (device: Device) => {
    if (device.current) return logout.mutate();
    signOut.mutate(device.id, {
      onSuccess: () => toast('Signed out', device.label),
      onError: (error) => toastFailure('Failed to sign out', wordsOf(error, 'The device is still signed in.')),
    });
    // The button that was pressed goes with its row.
    list.current?.focus();
  };

  if (devices.error && !devices.data) return <Failed {...devices} fallback="Your devices could not be loaded." />;
  if (!devices.data) return <RowsLoading what="your devices" />;
  return (
    <section ref={list} tabIndex={-1} aria-label="Your devices">
      <Rows>
        {devices.data.map((device) => (
          <DeviceRow key={device.id} device={device} busy={device.current && logout.isPending} onSignOut={() => end(device)} />
        ))}
      </Rows>
      <Button look="secondary" className="mt-4" onClick={() => setAsking(true)}>
        Sign out everywhere
      </Button>
      {asking && <EverywhereDialog onClose={() => setAsking(false)} />}
    </section>
  );
}
