import { expect, test } from 'vitest';
import { evaluateClock, type ServiceProbe } from './service.ts';

test.each([
  [0, 400, true, 'agree'],
  [-59_000, 0, true, '59 s'],
  [61_000, 0, false, '61 s ahead of'],
  [-180_000, 0, false, '3 min behind'],
  [7_200_000, 0, false, '2 h ahead'],
  [-86_400_000 * 3, 0, false, '3 days behind'],
  // Half of the round trip is subtracted.
  [60_000, 20_000, false, '70 s ahead of'],
])('a clock that is %i ms off, after a round trip of %i ms: ok is %s', (difference, roundTrip, ok, text) => {
  const time = 1_800_000_000_000;
  const about = { time: new Date(time).toISOString() } as ServiceProbe['about'];
  const finding = evaluateClock({ about, requestedAt: time + difference, respondedAt: time + difference + roundTrip });
  expect(finding.ok).toBe(ok);
  expect(finding.detail).toContain(text);
});
