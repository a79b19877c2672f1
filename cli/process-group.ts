import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { stripVTControlCharacters } from 'node:util';

/** A program that runs in a process group of its own, together with all that it starts. */
export type ProcessGroup = {
  /** What it wrote to stdout and stderr, at most the last 64 KB. */
  output(): string;
  /** Whether it has ended by itself or by `stop`. */
  hasEnded(): boolean;
  /** Resolves once it has ended and all its output was read. */
  ended: Promise<Exit>;
  /** Ends the whole group: asks it to, and after a while kills it. */
  stop(): Promise<void>;
};

/** How a program ended. `code` is null when a signal ended it, or when it could not be started. */
type Exit = { code: number | null; isMissing: boolean };

type GroupOptions = {
  cwd?: string;
  env: Readonly<Record<string, string | undefined>>;
  /** Receives the output as it comes. */
  onOutput?: (text: string) => void;
};

const MAX_OUTPUT = 64 * 1024;
const GRACE_MS = 5_000;
const POLL_MS = 50;
const isWindows = process.platform === 'win32';

const running = new Set<ChildProcess>();
// The process may end without `stop`, by a second Ctrl-C for instance.
process.once('exit', () => {
  for (const child of running) signalGroup(child, 'SIGKILL');
});

/**
 * Starts a program without stdin. Ctrl-C in the terminal does not reach it: its caller stops it.
 * @param command a program with its arguments, or a line for the shell
 */
export function startGroup(command: readonly [string, ...string[]] | string, { cwd, env, onOutput }: GroupOptions): ProcessGroup {
  const { program, args, shell } = toSpawn(command);
  const child = spawn(program, args, {
    cwd,
    env: env as NodeJS.ProcessEnv,
    stdio: ['ignore', 'pipe', 'pipe'],
    detached: !isWindows,
    shell,
  });
  running.add(child);
  let output = '';
  let hasEnded = false;
  const write = (text: string) => {
    output = (output + text).slice(-MAX_OUTPUT);
    onOutput?.(text);
  };
  for (const stream of [child.stdout, child.stderr]) stream?.setEncoding('utf8').on('data', write);
  child.on('exit', () => {
    hasEnded = true;
  });
  const ended = new Promise<Exit>((resolve) => {
    child.on('error', (error: NodeJS.ErrnoException) => {
      const isMissing = error.code === 'ENOENT';
      write(isMissing ? `${program} is not installed.\n` : `${error.message}\n`);
      hasEnded = true;
      resolve({ code: null, isMissing });
    });
    // cmd.exe reports a missing program as 9009.
    child.on('close', (code) => resolve({ code, isMissing: isWindows && code === 9009 }));
  });
  return {
    output: () => output,
    hasEnded: () => hasEnded,
    ended,
    async stop() {
      if (child.pid !== undefined) await stopGroup(child);
      running.delete(child);
    },
  };
}

/**
 * Returns what `spawn` takes to run a program with its arguments, or a line for the shell. On Windows npm and others are batch files, which only cmd.exe can
 * run; Node.js joins the words for it without quotes. Variables in %…% are replaced there even in quotes.
 */
export function toSpawn(
  command: readonly [string, ...string[]] | string,
  platform: NodeJS.Platform = process.platform,
): { program: string; args: string[]; shell: boolean } {
  if (typeof command === 'string') return { program: command, args: [], shell: true };
  const [program, ...args] = command;
  if (platform !== 'win32' || /\.exe$/i.test(program)) return { program, args, shell: false };
  return { program: quoteForCmd(program), args: args.map(quoteForCmd), shell: true };
}

/** Quotes a word for cmd.exe and for the program, which reads a backslash before a quote as an escape (CommandLineToArgvW). */
function quoteForCmd(word: string): string {
  if (/^[\w.:@/\\+-]+$/.test(word)) return word;
  return `"${word.replace(/(?<!\\)\\+(?="|$)/g, (slashes) => slashes + slashes).replaceAll('"', '\\"')}"`;
}

async function stopGroup(child: ChildProcess): Promise<void> {
  const closed = child.exitCode === null && child.signalCode === null ? once(child, 'exit') : Promise.resolve();
  signalGroup(child, 'SIGTERM');
  const end = Date.now() + GRACE_MS;
  while (isAlive(child) && Date.now() < end) await new Promise((resolve) => setTimeout(resolve, POLL_MS));
  signalGroup(child, 'SIGKILL');
  await closed;
}

/** Whether a process of the group runs. */
function isAlive(child: ChildProcess): boolean {
  if (isWindows) return child.exitCode === null;
  try {
    return process.kill(-(child.pid as number), 0);
  } catch {
    return false;
  }
}

function signalGroup({ pid }: ChildProcess, name: NodeJS.Signals): void {
  if (pid === undefined) return;
  if (isWindows) {
    if (name === 'SIGKILL') spawnSync('taskkill', ['/pid', String(pid), '/T', '/F'], { stdio: 'ignore' });
    return;
  }
  try {
    process.kill(-pid, name);
  } catch {
    // The group has ended.
  }
}

/** Whether a process runs, also one of another user. */
export function isRunning(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch (error) {
    return (error as NodeJS.ErrnoException).code !== 'ESRCH';
  }
}

/** Returns the last lines of an output, without colors and empty lines. */
export function lastLines(output: string, count: number): string {
  const lines = stripVTControlCharacters(output).replaceAll('\r', '').split('\n');
  return lines
    .filter((line) => line.trim() !== '')
    .slice(-count)
    .join('\n');
}

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
  /** Stops it as well. */
  timeoutMs?: number;
  /** Receives the output as it comes. */
  onOutput?: (text: string) => void;
  /** Stops the program, as a success, once this returns true. */
  until?: () => boolean;
};

const UNTIL_POLL_MS = 100;
const SETTLED_POLLS = 4;

/** Runs a program without stdin until it ends. Resolves after the program and what it has started have ended, also when it was stopped. */
export async function runProgram(command: readonly [string, ...string[]], options: RunOptions): Promise<Ended> {
  const { cwd, env, signal, timeoutMs, onOutput, until } = options;
  const group = startGroup(command, { cwd, env, onOutput });
  let stopped: 'ready' | 'late' | 'aborted' | undefined;
  const stop = (reason: NonNullable<typeof stopped>) => {
    stopped ??= reason;
    void group.stop();
  };
  const onAbort = () => stop('aborted');
  const timer = timeoutMs && setTimeout(() => stop('late'), timeoutMs);
  // Several polls have to succeed, since the program may fail right after the first one.
  let polls = 0;
  const poll = until && setInterval(() => until() && ++polls > SETTLED_POLLS && stop('ready'), UNTIL_POLL_MS);
  signal.addEventListener('abort', onAbort);
  if (signal.aborted) onAbort();
  const { code, isMissing } = await group.ended;
  clearTimeout(timer);
  clearInterval(poll);
  signal.removeEventListener('abort', onAbort);
  // What it has left running would keep files open that are removed next.
  await group.stop();
  const ok = stopped ? stopped === 'ready' : code === 0;
  return { ok, output: group.output(), isMissing, timedOut: stopped === 'late' };
}
