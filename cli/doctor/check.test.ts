import { expect, test } from 'vitest';
import { oneLine, pass, runCheck } from './check.ts';
import { judgeClock } from './clock.ts';
import { reportOf } from './report.ts';

test('text from the network cannot move the cursor, break the line or turn the writing round', () => {
  expect(oneLine('v=spf1\u001b[2J\r\nFAKE\u009b31m\u202egnp.\u2028x')).toBe('v=spf1 [2J FAKE 31m gnp. x');
  expect(oneLine('x'.repeat(200), 10)).toBe('xxxxxxxxx…');
});

test('a check that breaks says so, and a called-off one rejects', async () => {
  const parts = { id: 'x', name: 'X', signal: new AbortController().signal };
  const broken = await runCheck(parts, () => Promise.reject(new Error('the name server did not answer (ESERVFAIL)')));
  expect(broken).toEqual({
    id: 'x',
    name: 'X',
    ok: null,
    detail: 'It could not be told: the name server did not answer (ESERVFAIL).',
    fix: '',
  });
  const stop = new AbortController();
  const waiting = runCheck({ ...parts, signal: stop.signal }, () => new Promise(() => {}));
  stop.abort();
  await expect(waiting).rejects.toBeTruthy();
});

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

test('the report keeps to 80 columns, but for what must not be broken', () => {
  const record = `v=DKIM1;p=${'A'.repeat(100)}`;
  const check = { id: 'x', name: 'Name', ...pass('Some words that go on. '.repeat(8).trim(), `Add: ${record}`) };
  const lines = reportOf([check, { ...check, ok: false }, { ...check, ok: null, fix: '' }], (_, text) => text).split('\n');
  expect(lines.filter((line) => line.length > 80)).toEqual([`      ${record}`, `      ${record}`]);
  expect(lines.filter((line) => /^[A-Z]/.test(line)).map((line) => line.slice(0, 10))).toEqual([
    'PASS  Name',
    'FAIL  Name',
    'SKIP  Name',
    'One check ',
  ]);
});
