import { expect, test } from 'vitest';
import { oneLine, pass, runCheck } from './check.ts';

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

test('a check ends with what it says when it is late, at the deadline that it is given', async () => {
  const late = pass('The time is up.');
  const { signal } = new AbortController();
  for (const deadline of [AbortSignal.timeout(20), AbortSignal.abort()]) {
    const check = await runCheck({ id: 'x', name: 'X', signal, deadline, late }, () => new Promise(() => {}));
    expect(check).toEqual({ id: 'x', name: 'X', ...late });
  }
});
