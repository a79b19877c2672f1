import cluster, { type Worker } from 'node:cluster';
import module from 'node:module';
import { extname } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import type { Config } from './platform/config.ts';
import type { DatabaseRoute } from './platform/db/database.ts';
import type { Log } from './platform/log.ts';
import { type ReportsFromWorker, type ReportsToWorker, WorkerReports } from './platform/metrics/worker-reports.ts';
import { StartError } from './platform/start-error.ts';
import type { Serving } from './serving.ts';

/** A command from the primary to a worker. */
export type ToWorker = { type: 'serve'; config: Config; route: DatabaseRoute } | { type: 'drain' } | { type: 'stop' } | ReportsToWorker;
/** A report from a worker to the primary. `ready`: it receives commands. */
export type FromWorker = { type: 'ready' } | { type: 'serving' } | { type: 'failed'; message: string } | ReportsFromWorker;

const PROGRAM = fileURLToPath(new URL(`./worker${extname(import.meta.url)}`, import.meta.url));
/** Longer than a worker takes to stop, and shorter than the primary's own stop may take; serving.ts has all limits of a stop. */
const STOP_MS = 7_500;
const RESTART_DELAY_MS = 500;

/**
 * Serves in `config.workers` processes that share the port. A process that ends is replaced. The processes share only the database,
 * like instances on several machines.
 * @param parts.signal completes the start while some workers are still starting, so that those that serve can drain
 * @throws StartError when they cannot start
 */
export async function serveInWorkers(parts: { config: Config; route: DatabaseRoute; log: Log; signal?: AbortSignal }): Promise<Serving> {
  const { config, route, log, signal = new AbortController().signal } = parts;
  const ready = new Set<Worker>();
  const serving = new Set<Worker>();
  const reports = new WorkerReports();
  let draining = false;
  let stopping = false;
  let isStarted = false;
  // Settings are sent as a message and not in the environment, which other programs of this user can read.
  cluster.setupPrimary({ exec: PROGRAM, args: [], serialization: 'advanced' });

  const startWorker = () => {
    const worker = cluster.fork(compileCacheSetting());
    // A message to a worker that is not ready is lost.
    worker.on('message', (report: FromWorker) => {
      if (report.type === 'ready' && !stopping) {
        ready.add(worker);
        worker.send({ type: 'serve', config, route } satisfies ToWorker);
      }
      if (report.type === 'collect') void reports.collect().then((all) => send(worker, { type: 'reports', reports: all }));
      // During the start, whenServing reports it.
      if (report.type === 'failed' && isStarted) log.error({ worker: worker.process.pid, reason: report.message }, 'a worker cannot start');
      if (report.type !== 'serving') return;
      serving.add(worker);
      if (draining) send(worker, { type: 'drain' });
    });
    // A message to a worker that has just ended fails, which would end this process; its exit follows.
    worker.on('error', (error) => log.warn({ err: error, worker: worker.process.pid }, 'a worker does not receive messages'));
    worker.once('exit', (exitCode, signal) => {
      ready.delete(worker);
      const hasServed = serving.delete(worker);
      reports.keep(worker);
      // One that ends before it has served ends the start.
      if (hasServed || isStarted) void replace(worker, exitCode, signal);
    });
    return worker;
  };
  const replace = async (worker: Worker, exitCode: number, signal: string) => {
    if (stopping) return;
    log.error({ worker: worker.process.pid, exitCode, signal }, 'a worker ended and is replaced');
    await sleep(RESTART_DELAY_MS);
    if (!stopping) startWorker();
  };
  const first = signal.aborted ? [] : Array.from({ length: config.workers }, startWorker);
  const started = Promise.all(first.map(whenServing));
  // A worker that is stopped while it starts ends without having served.
  started.catch(() => {});
  try {
    await Promise.race([started, aborted(signal)]);
  } catch (error) {
    stopping = true;
    for (const worker of runningWorkers()) worker.process.kill('SIGKILL');
    throw error;
  }
  isStarted = true;

  return {
    drain: () => {
      draining = true;
      for (const worker of serving) send(worker, { type: 'drain' });
      return serving.size > 0;
    },
    stop: async () => {
      stopping = true;
      // One that is not ready has accepted nothing.
      await Promise.all(runningWorkers().map((worker) => stopWorker(worker, ready.has(worker) ? STOP_MS : 0)));
    },
  };
}

/** Returns the setting with which a worker uses the compile cache of this process. Node.js 20 has none. */
function compileCacheSetting(): { NODE_COMPILE_CACHE?: string } {
  const folder = (module as { getCompileCacheDir?(): string | undefined }).getCompileCacheDir?.();
  return folder ? { NODE_COMPILE_CACHE: folder } : {};
}

const runningWorkers = () => Object.values(cluster.workers ?? {}).filter((worker) => worker !== undefined);

function whenServing(worker: Worker): Promise<void> {
  return new Promise((resolve, reject) => {
    worker.on('message', (report: FromWorker) => {
      if (report.type === 'serving') resolve();
      if (report.type === 'failed') reject(new StartError(report.message));
    });
    worker.once('exit', (code) => reject(new StartError(`A worker ended with code ${code} while it was starting. See its log.`)));
  });
}

const aborted = (signal: AbortSignal) =>
  new Promise<void>((resolve) => (signal.aborted ? resolve() : signal.addEventListener('abort', () => resolve(), { once: true })));

/** @param maxMs then it is killed */
async function stopWorker(worker: Worker, maxMs: number): Promise<void> {
  if (worker.isDead()) return;
  const exited = new Promise((resolve) => worker.once('exit', resolve));
  if (maxMs > 0) send(worker, { type: 'stop' });
  const stopped = await Promise.race([exited.then(() => true), sleep(maxMs, false, { ref: false })]);
  if (stopped) return;
  worker.process.kill('SIGKILL');
  await exited;
}

function send(worker: Worker, command: ToWorker): void {
  if (worker.isConnected()) worker.send(command);
}
