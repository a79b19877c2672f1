import { startCommand } from './command.ts';

// Runs the commands that its parent sends, each with its own environment; see trusting.ts.

/** A command to run. */
export type CommandInput = { id: number; args: string[]; input?: string; env: Record<string, string>; cwd: string };

/** What a command returned and wrote. */
export type Output = { exitCode: number | undefined; stdout: string; stderr: string };

process.on('message', async ({ id, args, ...options }: CommandInput) => {
  const { exitCode, stdout, stderr } = await startCommand(args, options).ended;
  process.send?.({ id, exitCode, stdout, stderr });
});
process.on('disconnect', () => process.exit());
