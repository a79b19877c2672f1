import { run } from './command-line.ts';
import { EXIT } from './exit.ts';

// Runs the command line of this process, and ends it.

/** npm forwards a Ctrl-C that the terminal has already sent to this process: only a later one is a second Ctrl-C. */
const SECOND_SIGNAL_MS = 1_000;

const { argv, env, stdin, stdout, stderr } = process;
const stop = new AbortController();
let endsWithStdout = true;

stdout.on('error', (error: NodeJS.ErrnoException) => {
  if (!endsWithStdout) return;
  // The reader of our output has closed it, `head` for instance.
  if (error.code === 'EPIPE') process.exit(EXIT.ok);
  stderr.write(`The result could not be written: ${error.message}\n`);
  process.exit(EXIT.failure);
});
stderr.on('error', () => {});

process.exitCode = await run(argv.slice(2), {
  env,
  cwd: process.cwd(),
  stdin,
  stdout,
  stderr,
  signal: stop.signal,
  onCommand(command, fail) {
    // Ink and chalk read only FORCE_COLOR, when they are imported.
    if (argv.includes('--no-color') || env.NO_COLOR) env.FORCE_COLOR = '0';
    endsWithStdout = !command.outlivesStdout;
    // Log output of a package would break what the command writes there.
    if (command.ownsStdout) Object.assign(console, { log: console.error, info: console.error, debug: console.error });
    if (command.ownsSignals) return;
    for (const event of ['uncaughtException', 'unhandledRejection']) process.on(event, fail);
    stopAtSignals();
  },
});
// What fails now, a connection for instance, is ignored.
for (const event of ['uncaughtException', 'unhandledRejection']) process.on(event, () => {});
for (const stream of [stdout, stderr]) await new Promise((resolve) => stream.write('', resolve));
process.exit();

/** Aborts the command at Ctrl-C, SIGTERM or when the terminal closes; the second one ends the process. */
function stopAtSignals(): void {
  let firstAt = 0;
  for (const name of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) {
    process.on(name, () => {
      if (firstAt && Date.now() - firstAt > SECOND_SIGNAL_MS) process.exit(EXIT.cancelled);
      if (firstAt) return;
      firstAt = Date.now();
      if (stderr.isTTY) stderr.write('\n');
      stop.abort();
    });
  }
}
