import { existsSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { execa } from 'execa';
import { expect, test } from 'vitest';
import { openProgram } from '../cli/terminal.ts';

test('a run that used a PostgreSQL cluster keeps its exit status', async () => {
  // As vitest reports failed tests: it sets the status and lets the process end.
  const script =
    "const { createCluster } = await import('./test/support/postgres.ts'); await (await createCluster()).remove(); process.exitCode = 3;";
  const { exitCode } = await execa(process.execPath, ['--import', 'tsx', '--input-type=module', '-e', script], { reject: false });
  expect(exitCode).toBe(3);
});

test('a terminal has all output of a program that ended before it was read', async () => {
  const script = "process.stdout.write('x'.repeat(8_000) + 'end')";
  const terminal = openProgram({ directory: tmpdir(), env: {} }, process.execPath, ['-e', script]);
  // Keeps this process from reading until the program is gone.
  while (existsSync(`/proc/${terminal.pid}`));
  expect(await terminal.exited).toBe(0);
  expect(terminal.bytes()).toBe(`${'x'.repeat(8_000)}end`);
  await terminal.close();
});
