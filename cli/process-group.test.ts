import { expect, test } from 'vitest';
import { waitUntil } from '../test/support/waiting.ts';
import { isRunning, type RunOptions, runProgram } from './process-group.ts';

const options: RunOptions = { cwd: import.meta.dirname, env: process.env, signal: new AbortController().signal, timeoutMs: 20_000 };
const runCode = (code: string, more: Partial<RunOptions> = {}, ...args: string[]) =>
  runProgram([process.execPath, '-e', code, ...args], { ...options, ...more });

test('passes the words and the environment on as they are', async () => {
  const { ok, output } = await runCode(
    'console.log(process.argv[1], Object.keys(process.env).length)',
    { env: { ONLY: 'this' } },
    'a "b" & c',
  );
  expect([ok, output]).toEqual([true, 'a "b" & c 1\n']);
});

test('keeps the last 64 KB of a program that writes much, which runs to its end', async () => {
  const { ok, output } = await runCode('console.log("é".repeat(1e6) + "end")');
  expect([ok, output.length, output.endsWith('éend\n')]).toEqual([true, 64 * 1024, true]);
});

test('tells a program that is not installed from one that fails', async () => {
  const missing = await runProgram(['no-such-program', 'a'], options);
  expect(missing).toEqual({ ok: false, isMissing: true, timedOut: false, output: 'no-such-program is not installed.\n' });
  const failed = await runCode('console.log("out"); process.exitCode = 3');
  expect(failed).toEqual({ ok: false, isMissing: false, timedOut: false, output: 'out\n' });
  const folder = await runProgram([import.meta.dirname], options);
  expect(folder).toMatchObject({ ok: false, isMissing: false, output: expect.stringContaining('EACCES') });
});

test('ends what a program has left running, although that ignores SIGTERM and has its output', async () => {
  const left = 'process.on("SIGTERM", () => {}); setInterval(() => {}, 1000); console.log(process.pid)';
  const start = `require('node:child_process').spawn(process.execPath, ['-e', '${left}'], { stdio: 'inherit' }).unref()`;
  const stop = new AbortController();
  const { ok, timedOut, output } = await runCode(start, { signal: stop.signal, onOutput: () => stop.abort() });
  expect([ok, timedOut, output]).toEqual([false, false, expect.stringMatching(/^\d+\n$/)]);
  await waitUntil('the other program has ended', 5_000, async () => !isRunning(Number(output)));
});

test('stops a program as a success once it has done what is waited for, and as a failure at its time limit', async () => {
  let written = '';
  const onOutput = (text: string) => {
    written += text;
  };
  const ready = await runCode('console.log(process.pid); setInterval(() => {}, 1000)', { onOutput, until: () => written !== '' });
  expect([ready.ok, ready.timedOut, isRunning(Number(written))]).toEqual([true, false, false]);
  expect(await runCode('setInterval(() => {}, 1000)', { timeoutMs: 500 })).toMatchObject({ ok: false, timedOut: true });
});
