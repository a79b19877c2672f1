#!/usr/bin/env node
import { CommanderError } from 'commander';
import { createContext } from './context.ts';
import { cancelled, describeFailure, EXIT } from './exit.ts';
import { createProgram, type RunRow } from './program.ts';
import { version } from './version.ts';

// Ink and chalk look at FORCE_COLOR alone, and only when they are imported.
if (process.env.NO_COLOR || process.argv.includes('--no-color')) process.env.FORCE_COLOR = '0';
// Who read our output has seen enough, `head` for instance.
process.stdout.on('error', (error: NodeJS.ErrnoException) => process.exit(error.code === 'EPIPE' ? EXIT.ok : EXIT.failure));

const json = process.argv.includes('--json');

const runRow: RunRow = async (row, args, flags) => {
  const stop = new AbortController();
  const { host: _, ...others } = flags;
  // `start --host` is an address to listen on.
  const context = createContext(row.ownsSignals ? others : flags, process.env, process.cwd(), stop.signal);
  const running = row.run(context, args, flags);
  if (row.ownsSignals) process.exitCode = await running;
  else process.exitCode = await Promise.race([running, whenInterrupted(stop)]);
};

/** Rejects at Ctrl-C, once what the command has begun was told to stop. */
function whenInterrupted(stop: AbortController): Promise<never> {
  return new Promise((_, reject) => {
    // Not `once`: conf's own listener would then end the process by the signal itself.
    for (const name of ['SIGINT', 'SIGTERM', 'SIGHUP']) {
      process.on(name, () => {
        stop.abort();
        reject(cancelled());
      });
    }
  });
}

try {
  await createProgram(version(), runRow)
    .configureOutput(json ? { writeErr: () => {} } : {})
    .parseAsync();
} catch (error) {
  process.exitCode = tell(error);
}
// A command that has ended leaves nothing to wait for.
process.exit();

/** The one place that turns an error into words and an exit code. */
function tell(error: unknown): number {
  // --help and --version end here too; commander has said what is wrong with the arguments.
  if (error instanceof CommanderError && error.exitCode === 0) return EXIT.ok;
  const isUsage = error instanceof CommanderError;
  const { exitCode, code, message, hint } = isUsage
    ? { exitCode: EXIT.usage, code: 'usage', message: error.message.replace(/^error: /, ''), hint: 'Add --help to see how it is used.' }
    : describeFailure(error);
  if (json) process.stdout.write(`${JSON.stringify({ error: { code, message, hint } }, null, 2)}\n`);
  else if (!isUsage) process.stderr.write(`${message}\n${hint ? `${hint}\n` : ''}`);
  return exitCode;
}
