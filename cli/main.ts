#!/usr/bin/env node
import { stripVTControlCharacters } from 'node:util';
import { CommanderError } from 'commander';
import { createContext, type GlobalFlags } from './context.ts';
import { CommandError, describeFailure, EXIT } from './exit.ts';
import { printable, printableJson } from './printable.ts';
import { createProgram, type RunRow } from './program.ts';
import { version } from './version.ts';

/** How long a command may take to clean up after Ctrl-C, unless its row says that it is waited for. */
const CLEAN_UP_MS = 2_000;
/** npm hands Ctrl-C on to a program that the terminal has told already: only a later one is the person's second. */
const SECOND_SIGNAL_MS = 1_000;

const runRow: RunRow = async (row, args, flags) => {
  // Ink and chalk look at FORCE_COLOR alone, and only when they are imported.
  if (flags.color === false || process.env.NO_COLOR) process.env.FORCE_COLOR = '0';
  const stop = new AbortController();
  isStdoutTaken = row.ownsStdout === true;
  const { host: _, ...others } = flags;
  // `start --host` is an address to listen on.
  const context = createContext(row.ownsSignals ? others : flags, process.env, process.cwd(), stop.signal);
  if (row.ownsSignals) {
    process.exitCode = await row.run(context, args, flags);
    return;
  }
  for (const event of ['uncaughtException', 'unhandledRejection']) process.on(event, (error) => end(() => tell(error)));
  const interrupted = whenInterrupted(stop, row.endsItself ? Number.POSITIVE_INFINITY : CLEAN_UP_MS);
  try {
    process.exitCode = await Promise.race([row.run(context, args, flags), interrupted]);
  } catch (error) {
    throw stop.signal.aborted && !(error instanceof CommandError) ? interruption() : error;
  }
};

const interruption = () => new CommandError(EXIT.cancelled, 'cancelled', 'Cancelled.');

/** At Ctrl-C, SIGTERM or the end of the terminal: what the command has begun is told to stop. Rejects when that takes too long. */
function whenInterrupted(stop: AbortController, cleanUpMs: number): Promise<never> {
  return new Promise((_, reject) => {
    let first = 0;
    for (const name of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) {
      process.on(name, () => {
        if (first && Date.now() - first > SECOND_SIGNAL_MS) process.exit(EXIT.cancelled);
        if (first) return;
        first = Date.now();
        if (process.stderr.isTTY) process.stderr.write('\n');
        if (Number.isFinite(cleanUpMs)) setTimeout(() => reject(interruption()), cleanUpMs);
        stop.abort();
      });
    }
  });
}

const program = createProgram(version(), runRow);
let ended = false;
let isStdoutTaken = false;

process.stdout.on('error', (error: NodeJS.ErrnoException) => {
  // Who read our output has seen enough, `head` for instance.
  if (error.code === 'EPIPE') process.exit(EXIT.ok);
  process.stderr.write(`The answer could not be written: ${error.message}\n`);
  process.exit(EXIT.failure);
});
process.stderr.on('error', () => {});

await end(run);

async function run(): Promise<void> {
  const [command, dashes, ...words] = process.argv.slice(2);
  try {
    // What the shells call at every Tab; nothing for people.
    if (command === 'complete' && dashes === '--') return await offer(words);
    await program.parseAsync();
  } catch (error) {
    tell(error);
  }
}

async function offer(words: string[]): Promise<void> {
  const { suggest } = await import('./suggest.ts');
  process.stdout.write(await suggest(words, (flags) => createContext(flags, process.env, process.cwd(), new AbortController().signal)));
}

/** A command that has ended leaves nothing to wait for, and what fails later, a connection for instance, changes nothing. */
async function end(last: () => void | Promise<void>): Promise<void> {
  await last();
  if (ended) return;
  ended = true;
  for (const stream of [process.stdout, process.stderr]) await new Promise((resolve) => stream.write('', resolve));
  process.exit();
}

/** The one place that turns an error into words and an exit code. */
function tell(error: unknown): void {
  if (ended || (error instanceof CommanderError && error.exitCode === 0)) return;
  const { exitCode, code, message, hint } = describeFailure(error);
  const { json, verbose } = program.opts<GlobalFlags>();
  process.exitCode = exitCode;
  if (json && !isStdoutTaken) process.stdout.write(`${printableJson({ error: { code, message, hint } })}\n`);
  // A sentence of the service may have styles of its own.
  else process.stderr.write(printable(stripVTControlCharacters(`${message}\n${hint ? `${hint}\n` : ''}`)));
  if (verbose && error instanceof Error)
    process.stderr.write(printable(`${exitCode === EXIT.failure ? error.stack : ''}${causes(error)}\n`));
}

function causes({ cause }: Error): string {
  if (!(cause instanceof Error)) return '';
  const { message, code } = cause as NodeJS.ErrnoException;
  return `\nbecause: ${message || code || cause.name}${causes(cause)}`;
}
