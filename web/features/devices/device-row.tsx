import { timeAgo } from '../../lib/dates.ts';
import { Badge } from '../../ui/badge.tsx';
import { Button } from '../../ui/button.tsx';
import type { Device } from './queries.ts';

export function DeviceRow({ device, busy, onSignOut }: { device: Device; busy: boolean; onSignOut: () => void }) {
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
      <Button look="quiet" small busy={busy} className="hover:text-danger" onClick={onSignOut} aria-label={`Sign out ${label}`}>
        Sign out
      </Button>
    </li>
  );
}

const lastSeenText = (lastSeen: string) => `last seen ${timeAgo(Date.parse(lastSeen), 'en')}`;
