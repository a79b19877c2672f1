import { spawn } from 'node:child_process';
import type { CommandLine } from './package-manager.ts';

/** How a program ended. */
export type Ended = {
  /** Whether it exited with 0, or did what `until` waits for. */
  ok: boolean;
  /** Its last output on stdout and stderr. */
  output: string;
  /** The program is not installed. */
  isMissing: boolean;
  /** It was stopped at its time limit. */
  timedOut: boolean;
};

export type RunOptions = {
  cwd: string;
  env: Readonly<Record<string, string | undefined>>;
  /** Stops the program and what it has started. */
  signal: AbortSignal;
  timeoutMs: number;
  /** Receives the output as it comes. */
  onOutput?: (text: string) => void;
  /** Stops the program, as a success, once this returns true. */
  until?: () => boolean;
};

const MAX_OUTPUT = 64 * 1024;
const POLL_MS = 100;
const SETTLED_POLLS = 4;
/** How long a program may take to end after SIGTERM. */
const GRACE_MS = 3_000;

/** Runs a program without stdin until it ends. It resolves after the program has ended, also when it was stopped. */
export function runProgram([program, ...args]: CommandLine, options: RunOptions): Promise<Ended> {
  const { cwd, env, signal, timeoutMs, onOutput, until } = options;
  const isWindows = process.platform === 'win32';
  return new Promise((resolve) => {
    let output = '';
    let stopped: 'ready' | 'late' | 'aborted' | undefined;
    // A process group of its own, so that Ctrl-C reaches this program only, and stopping it stops what it has started as well. On
    // Windows npm is a batch file, which needs a shell.
    const child = spawn(program, args, { cwd, env, stdio: ['ignore', 'pipe', 'pipe'], detached: !isWindows, shell: isWindows });
    const kill = (name: NodeJS.Signals) => {
      try {
        if (isWindows || !child.pid) child.kill(name);
        else process.kill(-child.pid, name);
      } catch {
        // It has ended.
      }
    };
    const stop = (reason: NonNullable<typeof stopped>) => {
      stopped ??= reason;
      kill('SIGTERM');
      setTimeout(() => kill('SIGKILL'), GRACE_MS).unref();
    };
    const onAbort = () => stop('aborted');
    const timer = setTimeout(() => stop('late'), timeoutMs);
    // An error right after it is a failure still.
    let polls = 0;
    const poll = until && setInterval(() => until() && ++polls > SETTLED_POLLS && !stopped && stop('ready'), POLL_MS);
    signal.addEventListener('abort', onAbort);
    if (signal.aborted) onAbort();
    for (const stream of [child.stdout, child.stderr]) {
      stream.setEncoding('utf8').on('data', (text: string) => {
        output = (output + text).slice(-MAX_OUTPUT);
        onOutput?.(text);
      });
    }
    const end = (ok: boolean, isMissing: boolean) => {
      clearTimeout(timer);
      clearInterval(poll);
      signal.removeEventListener('abort', onAbort);
      // What it has left running would keep files open that are removed next.
      if (stopped) kill('SIGKILL');
      resolve({ ok, output, isMissing, timedOut: stopped === 'late' });
    };
    child.on('error', (error: NodeJS.ErrnoException) => {
      output += error.message;
      end(false, error.code === 'ENOENT');
    });
    child.on('close', (code) => {
      // cmd.exe reports a missing program so.
      end(stopped === 'ready' || (code === 0 && !stopped), isWindows && code === 9009);
    });
  });
}

/** Returns the last lines of an output, without colors and empty lines. */
export function lastLines(output: string, count: number): string {
  // biome-ignore lint/suspicious/noControlCharactersInRegex: colors are control sequences.
  const plain = output.replace(/\x1b\[[0-9;]*[A-Za-z]/g, '').replaceAll('\r', '');
  return plain
    .split('\n')
    .filter((line) => line.trim() !== '')
    .slice(-count)
    .join('\n');
}
