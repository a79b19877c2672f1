import { expect, test } from 'vitest';
import { judgeClock } from './clock.ts';

test.each([
  [0, 400, true, 'agree'],
  [-59_000, 0, true, '59 s'],
  [61_000, 0, false, '61 s ahead of'],
  [-180_000, 0, false, '3 min behind'],
  [7_200_000, 0, false, '2 h ahead'],
  [-86_400_000 * 3, 0, false, '3 days behind'],
  // Half of the round trip is taken off.
  [60_000, 20_000, false, '70 s ahead of'],
])('a clock %i ms off, %i ms round trip', (off, roundTrip, ok, words) => {
  const time = 1_800_000_000_000;
  const about = { time: new Date(time).toISOString() } as Parameters<typeof judgeClock>[0]['about'];
  const verdict = judgeClock({ about, askedAt: time + off, answeredAt: time + off + roundTrip });
  expect(verdict.ok).toBe(ok);
  expect(verdict.detail).toContain(words);
});
