import { type Check, fail, pass, runCheck, skip, type Verdict } from '../../contract/check.ts';
import type { Seen } from './service.ts';

const MAX_SECONDS = 60;

/** Compares this machine's clock with the service's. */
export function checkClock(seen: Seen | null, signal: AbortSignal): Promise<Check> {
  return runCheck({ id: 'clock', name: 'Clock', signal }, async () =>
    seen ? judgeClock(seen) : skip('There is no service whose clock could be compared.'),
  );
}

/** Half of the round trip lies before the moment at which the service looked at its clock. */
export function judgeClock({ about, askedAt, answeredAt }: Seen): Verdict {
  const seconds = Math.round(((askedAt + answeredAt) / 2 - Date.parse(about.time)) / 1000);
  const apart = Math.abs(seconds);
  if (apart <= MAX_SECONDS) return pass(apart === 0 ? "This machine's and the service's agree." : `${apart} s from the service's.`);
  return fail(
    `This machine's clock is ${inWords(apart)} ${seconds > 0 ? 'ahead of' : 'behind'} the service's.`,
    "Links and tokens end by the service's clock, so the times shown here are off. Set the wrong clock, for instance by `timedatectl set-ntp true`.",
  );
}

function inWords(seconds: number): string {
  if (seconds < 120) return `${seconds} s`;
  if (seconds < 7_200) return `${Math.round(seconds / 60)} min`;
  return seconds < 172_800 ? `${Math.round(seconds / 3_600)} h` : `${Math.round(seconds / 86_400)} days`;
}
