import { expect, test } from 'vitest';
import { runProgram, toSpawn } from './process-group.ts';

test('starts a program of Windows without a shell, whatever is in its path', () => {
  const node = 'C:\\Program Files\\nodejs\\node.exe';
  expect(toSpawn([node, 'C:\\My App\\main.js'], 'win32')).toEqual({ program: node, args: ['C:\\My App\\main.js'], shell: false });
});

test('quotes the words for the shell of Windows, which runs batch files', () => {
  const { program, args, shell } = toSpawn(
    ['C:\\My Tools\\npm.cmd', 'install', '@scope/a', 'a & b', 'C:\\My Packages\\', 'say "\\"', ''],
    'win32',
  );
  expect([program, shell]).toEqual(['"C:\\My Tools\\npm.cmd"', true]);
  expect(args).toEqual(['install', '@scope/a', '"a & b"', '"C:\\My Packages\\\\"', '"say \\"\\\\\\""', '""']);
});

test('passes the words on as they are elsewhere', async () => {
  expect(toSpawn(['npm', 'a b'], 'linux')).toEqual({ program: 'npm', args: ['a b'], shell: false });
  const command = [process.execPath, '-e', 'console.log(process.argv[1])', 'a "b" & c'] as const;
  const { signal } = new AbortController();
  const { ok, output } = await runProgram(command, { cwd: import.meta.dirname, env: process.env, signal, timeoutMs: 20_000 });
  expect([ok, output]).toEqual([true, 'a "b" & c\n']);
});
