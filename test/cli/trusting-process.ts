import { startCommand } from './command.ts';
import type { CommandInput } from './trusting.ts';

// Runs the commands that its parent sends, each with its own environment; see trusting.ts.

process.on('message', async ({ id, args, ...options }: CommandInput) => {
  const { exitCode, stdout, stderr } = await startCommand(args, options).ended;
  process.send?.({ id, exitCode, stdout, stderr });
});
process.on('disconnect', () => process.exit());
