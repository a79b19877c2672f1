import { execa } from 'execa';
import { expect, test } from 'vitest';

test('a run that used a PostgreSQL cluster keeps its exit status', async () => {
  // As vitest reports failed tests: it sets the status and lets the process end.
  const script =
    "const { createCluster } = await import('./test/postgres.ts'); await (await createCluster()).remove(); process.exitCode = 3;";
  const { exitCode } = await execa(process.execPath, ['--import', 'tsx', '--input-type=module', '-e', script], { reject: false });
  expect(exitCode).toBe(3);
});
