/**
 * Program: keeps one PostgreSQL running for as long as its parent lives. It has a session of its own, so that Ctrl-C
 * in a terminal reaches the service alone, which drains before it lets PostgreSQL stop.
 */
import { type ChildProcess, spawn } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { childrenOf, isPostmaster, signal, waitForEnd } from './processes.ts';

/** What the parent asks: the server to keep running, and later its end. */
export type Order =
  | { do: 'run'; program: string; args: string[]; env: Record<string, string>; directory: string; owner: Owner }
  | { do: 'stop' };
/** What the parent is told. */
export type Report = { is: 'ready' } | { is: 'failing' } | { is: 'restarted' };
type Owner = { uid: number; gid: number } | null;
type Run = Extract<Order, { do: 'run' }>;

const POLL_MS = 25;
const WATCH_MS = 100;
/** A fast shutdown writes a checkpoint; beyond this an immediate one, recovered at the next start, is the smaller harm. */
const FAST_STOP_MS = 2_500;
const IMMEDIATE_STOP_MS = 500;
const LAST_PAUSE_MS = 2_000;

let stopping = false;
let postmaster: number | null = null;

process.on('message', (order: Order) => {
  if (order.do === 'run') void keepRunning(order);
  else void stop();
});
process.on('disconnect', stop);
// A shutdown of the machine signals everybody at once; the parent's end is what counts here.
for (const name of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(name, () => {});

async function keepRunning(order: Run): Promise<void> {
  let everReady = false;
  let pause = POLL_MS;
  while (!stopping) {
    const ended = adopt(order) ?? launch(order);
    const wasReady = await waitUntilReady(order, ended);
    if (wasReady) {
      report({ is: everReady ? 'restarted' : 'ready' });
      everReady = true;
      pause = POLL_MS;
    }
    await ended;
    postmaster = null;
    if (stopping) return;
    if (!wasReady) {
      if (pause >= LAST_PAUSE_MS) report({ is: 'failing' });
      await sleep(pause);
      pause = Math.min(pause * 2, LAST_PAUSE_MS);
    }
  }
}

/** Takes over a server that an earlier supervisor left behind. @returns its end; null when there is none */
function adopt(order: Run): Promise<void> | null {
  const left = read(order.directory);
  if (!left) return null;
  if (!isPostmaster(left.pid, order.directory)) {
    disown(order.directory, left.pid);
    return null;
  }
  postmaster = left.pid;
  return watch(left.pid);
}

async function watch(pid: number): Promise<void> {
  while (!(await waitForEnd(pid, WATCH_MS)));
}

function launch(order: Run): Promise<void> {
  const child: ChildProcess = spawn(order.program, order.args, {
    ...order.owner,
    cwd: '/',
    env: order.env,
    // Its log is this process's stderr, a file: a pipe would break with the service.
    stdio: ['ignore', 'ignore', 'inherit'],
  });
  postmaster = child.pid ?? null;
  return new Promise((resolve) => {
    child.once('exit', () => resolve());
    child.once('error', (error) => {
      console.error(`${order.program}: ${error.message}`);
      resolve();
    });
  });
}

async function waitUntilReady(order: Run, ended: Promise<void>): Promise<boolean> {
  let over = false;
  void ended.then(() => {
    over = true;
  });
  while (!over) {
    const state = read(order.directory);
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
    // Processes that somebody has halted hear it only so.
    for (const pid of [postmaster, ...childrenOf(postmaster)]) signal(pid, 'SIGCONT');
    if (!(await waitForEnd(postmaster, FAST_STOP_MS))) {
      signal(postmaster, 'SIGQUIT');
      if (!(await waitForEnd(postmaster, IMMEDIATE_STOP_MS))) signal(postmaster, 'SIGKILL');
    }
  }
  process.exit(0);
}

function report(what: Report): void {
  if (process.connected) process.send?.(what);
}

/**
 * PostgreSQL refuses to start while the process that its lock file names lives, even when that is somebody else with a
 * reused id. An id that cannot exist is put in its place: removing the file would also remove PostgreSQL's own check
 * that no process of the old server still holds its shared memory.
 */
function disown(directory: string, pid: number): void {
  const file = join(directory, 'postmaster.pid');
  const text = readFileSync(file, 'utf8');
  if (text.startsWith(`${pid}\n`)) writeFileSync(file, text.replace(/^\d+/, '2147483647'));
}

function read(directory: string): { pid: number; ready: boolean } | null {
  try {
    // Line 1 is the process, line 8 its state.
    const lines = readFileSync(join(directory, 'postmaster.pid'), 'utf8').split('\n');
    return { pid: Number(lines[0]), ready: lines[7]?.trim() === 'ready' };
  } catch {
    return null;
  }
}
