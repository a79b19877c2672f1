import { stripVTControlCharacters } from 'node:util';
import { CommanderError } from 'commander';
import { createContext, type GlobalFlags } from './context.ts';
import { CommandError, describeFailure, EXIT } from './exit.ts';
import { createProgram, type RunCommand } from './program.ts';
import { columnsOf, printable, printableJson } from './terminal.ts';
import { fitColumns } from './text.ts';
import { version } from './version.ts';

/** Time limit for a command's clean-up after Ctrl-C, unless the command is marked with waitsForCleanUp. */
const CLEAN_UP_MS = 2_000;
/** npm forwards a Ctrl-C that the terminal has already sent to this process: only a later one is a second Ctrl-C. */
const SECOND_SIGNAL_MS = 1_000;

const runCommand: RunCommand = async (command, args, flags) => {
  // Ink and chalk read only FORCE_COLOR, when they are imported.
  if (flags.color === false || process.env.NO_COLOR) process.env.FORCE_COLOR = '0';
  const stop = new AbortController();
  isStdoutOwned = command.ownsStdout === true;
  const { host: _, ...otherFlags } = flags;
  // `start --host` is the address to listen on.
  const context = createContext(command.ownsSignals ? otherFlags : flags, process.env, process.cwd(), stop.signal);
  if (command.ownsSignals) {
    process.exitCode = await command.run(context, args, flags);
    return;
  }
  for (const event of ['uncaughtException', 'unhandledRejection']) process.on(event, (error) => end(() => reportError(error)));
  const interrupted = onInterrupt(stop, command.waitsForCleanUp ? Number.POSITIVE_INFINITY : CLEAN_UP_MS);
  try {
    process.exitCode = await Promise.race([command.run(context, args, flags), interrupted]);
  } catch (error) {
    throw stop.signal.aborted && !(error instanceof CommandError) ? interruption() : error;
  }
};

const interruption = () => new CommandError(EXIT.cancelled, 'cancelled', 'Cancelled.');

/** Aborts the command at Ctrl-C, SIGTERM or when the terminal closes. Rejects when its clean-up takes too long. */
function onInterrupt(stop: AbortController, cleanUpMs: number): Promise<never> {
  return new Promise((_, reject) => {
    let firstAt = 0;
    for (const name of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) {
      process.on(name, () => {
        if (firstAt && Date.now() - firstAt > SECOND_SIGNAL_MS) process.exit(EXIT.cancelled);
        if (firstAt) return;
        firstAt = Date.now();
        if (process.stderr.isTTY) process.stderr.write('\n');
        if (Number.isFinite(cleanUpMs)) setTimeout(() => reject(interruption()), cleanUpMs);
        stop.abort();
      });
    }
  });
}

const versionText = process.argv.includes('--json') ? printableJson({ version: version() }) : version();
const program = createProgram(versionText, runCommand);
let hasEnded = false;
let isStdoutOwned = false;

process.stdout.on('error', (error: NodeJS.ErrnoException) => {
  // The reader of our output has closed it, `head` for instance.
  if (error.code === 'EPIPE') process.exit(EXIT.ok);
  process.stderr.write(`The result could not be written: ${error.message}\n`);
  process.exit(EXIT.failure);
});
process.stderr.on('error', () => {});

await end(run);

async function run(): Promise<void> {
  const [command, dashes, ...words] = process.argv.slice(2);
  try {
    // The completion scripts call this at every Tab; it is not for people.
    if (command === 'complete' && dashes === '--') return await printCompletion(words);
    await program.parseAsync();
  } catch (error) {
    reportError(error);
  }
}

async function printCompletion(words: string[]): Promise<void> {
  const { complete } = await import('./completion.ts');
  process.stdout.write(await complete(words, (flags) => createContext(flags, process.env, process.cwd(), new AbortController().signal)));
}

/** Exits after all output is written. What fails after that, a connection for instance, is ignored. */
async function end(last: () => void | Promise<void>): Promise<void> {
  await last();
  if (hasEnded) return;
  hasEnded = true;
  for (const stream of [process.stdout, process.stderr]) await new Promise((resolve) => stream.write('', resolve));
  process.exit();
}

/** Prints an error and sets the exit code; all errors end here. */
function reportError(error: unknown): void {
  if (hasEnded || (error instanceof CommanderError && error.exitCode === 0)) return;
  const { exitCode, code, message, hint } = describeFailure(error);
  const { json, verbose } = program.opts<GlobalFlags>();
  process.exitCode = exitCode;
  if (json && !isStdoutOwned) process.stdout.write(`${printableJson({ error: { code, message, hint } })}\n`);
  // A message from the service may contain styles.
  else {
    const text = printable(stripVTControlCharacters(`${message}\n${hint ? `${hint}\n` : ''}`));
    process.stderr.write(fitColumns(text, columnsOf(process.stderr)));
  }
  if (verbose && error instanceof Error)
    process.stderr.write(printable(`${exitCode === EXIT.failure ? error.stack : ''}${describeCauses(error)}\n`));
}

function describeCauses({ cause }: Error): string {
  if (!(cause instanceof Error)) return '';
  const { message, code } = cause as NodeJS.ErrnoException;
  return `\nbecause: ${message || code || cause.name}${describeCauses(cause)}`;
}
