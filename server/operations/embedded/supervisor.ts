/**
 * A program that keeps one PostgreSQL running until its parent ends. It runs in a separate session, so that Ctrl-C in a terminal
 * reaches only the service, which drains before PostgreSQL stops.
 */
import { type ChildProcess, spawn } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { childrenOf, isPostmaster, signal, waitForEnd } from './processes.ts';

/** A message of the parent. */
export type Command =
  | { type: 'run'; program: string; args: string[]; env: Record<string, string>; directory: string; owner: Owner }
  | { type: 'stop' };
/** A message to the parent. */
export type Status = 'ready' | 'failing' | 'restarted';
type Owner = { uid: number; gid: number } | null;
type Run = Extract<Command, { type: 'run' }>;

const POLL_MS = 25;
const WATCH_MS = 100;
/** How long a fast shutdown, which writes a checkpoint, may take before an immediate one, after which the next start has to recover. */
const FAST_STOP_MS = 2_500;
const IMMEDIATE_STOP_MS = 500;
const MAX_PAUSE_MS = 2_000;

let stopping = false;
let postmaster: number | null = null;

process.on('message', (command: Command) => {
  if (command.type === 'run') void keepRunning(command);
  else void stop();
});
process.on('disconnect', stop);
// A shutdown of the machine signals all processes at once; the supervisor stops after its parent.
for (const name of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(name, () => {});

async function keepRunning(run: Run): Promise<void> {
  let everReady = false;
  let pause = POLL_MS;
  while (!stopping) {
    const ended = adopt(run) ?? launch(run);
    const wasReady = await waitUntilReady(run, ended);
    if (wasReady) {
      report(everReady ? 'restarted' : 'ready');
      everReady = true;
      pause = POLL_MS;
    }
    await ended;
    postmaster = null;
    if (stopping) return;
    if (!wasReady) {
      if (pause >= MAX_PAUSE_MS) report('failing');
      await sleep(pause);
      pause = Math.min(pause * 2, MAX_PAUSE_MS);
    }
  }
}

/** Takes over the server of a previous supervisor. @returns a promise of its end, or null when none is running */
function adopt(run: Run): Promise<void> | null {
  const previous = readLockFile(run.directory);
  if (!previous) return null;
  if (!isPostmaster(previous.pid, run.directory)) {
    invalidateLockFile(run.directory, previous.pid);
    return null;
  }
  postmaster = previous.pid;
  return watch(previous.pid);
}

async function watch(pid: number): Promise<void> {
  while (!(await waitForEnd(pid, WATCH_MS)));
}

function launch(run: Run): Promise<void> {
  const child: ChildProcess = spawn(run.program, run.args, {
    ...run.owner,
    cwd: '/',
    env: run.env,
    // It logs to this process's stderr, which is a file: a pipe would close with the service.
    stdio: ['ignore', 'ignore', 'inherit'],
  });
  postmaster = child.pid ?? null;
  return new Promise((resolve) => {
    child.once('exit', () => resolve());
    child.once('error', (error) => {
      console.error(`${run.program}: ${error.message}`);
      resolve();
    });
  });
}

async function waitUntilReady(run: Run, ended: Promise<void>): Promise<boolean> {
  let hasEnded = false;
  void ended.then(() => {
    hasEnded = true;
  });
  while (!hasEnded) {
    const state = readLockFile(run.directory);
    if (state?.ready && state.pid === postmaster) return true;
    await sleep(POLL_MS);
  }
  return false;
}

async function stop(): Promise<void> {
  if (stopping) return;
  stopping = true;
  if (postmaster !== null) {
    signal(postmaster, 'SIGINT');
    // Stopped processes handle a signal only after SIGCONT.
    for (const pid of [postmaster, ...childrenOf(postmaster)]) signal(pid, 'SIGCONT');
    if (!(await waitForEnd(postmaster, FAST_STOP_MS))) {
      signal(postmaster, 'SIGQUIT');
      if (!(await waitForEnd(postmaster, IMMEDIATE_STOP_MS))) signal(postmaster, 'SIGKILL');
    }
  }
  process.exit(0);
}

function report(status: Status): void {
  if (process.connected) process.send?.(status);
}

/**
 * Replaces the process id in PostgreSQL's lock file by one that cannot exist: PostgreSQL refuses to start while the process of the
 * file is running, even if another program has got the id. Removing the file would also remove PostgreSQL's check that no process
 * of the previous server still uses its shared memory.
 */
function invalidateLockFile(directory: string, pid: number): void {
  const file = join(directory, 'postmaster.pid');
  const text = readFileSync(file, 'utf8');
  if (text.startsWith(`${pid}\n`)) writeFileSync(file, text.replace(/^\d+/, '2147483647'));
}

function readLockFile(directory: string): { pid: number; ready: boolean } | null {
  try {
    // Line 1 is the process, line 8 its state.
    const lines = readFileSync(join(directory, 'postmaster.pid'), 'utf8').split('\n');
    return { pid: Number(lines[0]), ready: lines[7]?.trim() === 'ready' };
  } catch {
    return null;
  }
}
