import { type ChildProcess, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { stripVTControlCharacters } from 'node:util';

/** A program that runs in a process group of its own, together with all that it starts. */
export type ProcessGroup = {
  /** What it wrote to stdout and stderr, at most the last 64 KB. */
  output(): string;
  /** Whether it has ended by itself or by `stop`. */
  hasEnded(): boolean;
  /** Resolves once it has ended and all its output was read. */
  ended: Promise<{ hasFailed: boolean; isMissing: boolean }>;
  /** Ends the whole group: asks it to, and after a while kills it. */
  stop(): Promise<void>;
};

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
/** Without `cleanup` and `buffer`, execa ends no program by itself: when this process exits, or when the output is long. */
const OPTIONS = { extendEnv: false, stdin: 'ignore', detached: !isWindows, cleanup: false, buffer: false, reject: false } as const;

const running = new Set<ChildProcess>();
// The process may end without `stop`, by a second Ctrl-C for instance.
process.once('exit', () => {
  for (const child of running) signalGroup(child, 'SIGKILL');
});

/**
 * Starts a program without stdin. Ctrl-C in the terminal does not reach it: its caller stops it.
 * @param command a program with its arguments, or a line for the shell
 */
export async function startGroup(
  command: readonly [string, ...string[]] | string,
  { cwd, env, onOutput }: GroupOptions,
): Promise<ProcessGroup> {
  const { execa } = await import('execa');
  const shell = typeof command === 'string';
  const [program, ...args] = shell ? [command] : command;
  const child = execa(program, args, { ...OPTIONS, cwd, env, shell });
  running.add(child);
  let output = '';
  let hasEnded = false;
  const write = (text: string) => {
    output = (output + text).slice(-MAX_OUTPUT);
    onOutput?.(text);
  };
  for (const stream of [child.stdout, child.stderr]) stream.setEncoding('utf8').on('data', write);
  child.once('exit', () => {
    hasEnded = true;
  });
  const ended = child.then(({ failed, exitCode, code, originalMessage }) => {
    hasEnded = true;
    // cmd.exe reports a missing program as 9009.
    const isMissing = code === 'ENOENT' || (isWindows && exitCode === 9009);
    if (code) write(isMissing ? `${program} is not installed.\n` : `${originalMessage}\n`);
    return { hasFailed: failed, isMissing };
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

/** Signals the whole group, by its negative id or with taskkill /T: execa ends only the program itself. */
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
  const group = await startGroup(command, { cwd, env, onOutput });
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
  const { hasFailed, isMissing } = await group.ended;
  clearTimeout(timer);
  clearInterval(poll);
  signal.removeEventListener('abort', onAbort);
  // What it has left running would keep files open that are removed next.
  await group.stop();
  const ok = stopped ? stopped === 'ready' : !hasFailed;
  return { ok, output: group.output(), isMissing, timedOut: stopped === 'late' };
}
