import { startGroup } from '../process-group.ts';
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

const POLL_MS = 100;
const SETTLED_POLLS = 4;

/** Runs a program without stdin until it ends. Resolves after the program and what it has started have ended, also when it was stopped. */
export async function runProgram(command: CommandLine, options: RunOptions): Promise<Ended> {
  const { cwd, env, signal, timeoutMs, onOutput, until } = options;
  const group = startGroup(command, { cwd, env, onOutput });
  let stopped: 'ready' | 'late' | 'aborted' | undefined;
  const stop = (reason: NonNullable<typeof stopped>) => {
    stopped ??= reason;
    void group.stop();
  };
  const onAbort = () => stop('aborted');
  const timer = setTimeout(() => stop('late'), timeoutMs);
  // An error right after it is a failure still.
  let polls = 0;
  const poll = until && setInterval(() => until() && ++polls > SETTLED_POLLS && stop('ready'), POLL_MS);
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
