import { expect, test } from 'vitest';
import { oneLine, pass, runCheck } from './check.ts';

test('oneLine removes what moves the cursor, breaks the line or reverses the text', () => {
  expect(oneLine('v=spf1\u001b[2J\r\nFAKE\u009b31m\u202egnp.\u2028x')).toBe('v=spf1 [2J FAKE 31m gnp. x');
  expect(oneLine('x'.repeat(200), 10)).toBe('xxxxxxxxx…');
});

test('a check that throws is skipped with its message, and a cancelled one rejects', async () => {
  const parts = { id: 'x', name: 'X', signal: new AbortController().signal };
  const broken = await runCheck(parts, () => Promise.reject(new Error('the name server did not answer (ESERVFAIL)')));
  expect(broken).toEqual({
    id: 'x',
    name: 'X',
    ok: null,
    detail: 'This could not be checked: the name server did not answer (ESERVFAIL).',
    fix: '',
  });
  const stop = new AbortController();
  const waiting = runCheck({ ...parts, signal: stop.signal }, () => new Promise(() => {}));
  stop.abort();
  await expect(waiting).rejects.toBeTruthy();
});

test('a check ends at its deadline with the finding for that case', async () => {
  const timedOut = pass('The time is up.');
  const { signal } = new AbortController();
  for (const deadline of [AbortSignal.timeout(20), AbortSignal.abort()]) {
    const result = await runCheck({ id: 'x', name: 'X', signal, deadline, timedOut }, () => new Promise(() => {}));
    expect(result).toEqual({ id: 'x', name: 'X', ...timedOut });
  }
});
