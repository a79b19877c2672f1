import cluster, { type Worker } from 'node:cluster';
import { extname } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import type { Config } from './config.ts';
import type { DatabaseRoute } from './db/database.ts';
import type { Log } from './log.ts';
import type { Serving } from './serving.ts';
import { StartError } from './start-error.ts';

/** What the primary tells a worker. */
export type ToWorker = { do: 'serve'; config: Config; route: DatabaseRoute } | { do: 'drain' } | { do: 'stop' };
/** What a worker tells the primary. */
export type FromWorker = { is: 'listening to orders' } | { is: 'serving' } | { is: 'failed'; why: string };

const PROGRAM = fileURLToPath(new URL(`./worker${extname(import.meta.url)}`, import.meta.url));
/** Longer than a worker takes to stop, and shorter than the primary waits for its own stop. */
const STOP_MS = 7_500;
const RESTART_PAUSE_MS = 500;

/**
 * Serves in `config.workers` processes that share the port; one that dies is replaced. Each is an instance like those on
 * other machines: they share the database and nothing else.
 * @throws StartError when the first ones cannot start
 */
export async function serveInWorkers(parts: { config: Config; route: DatabaseRoute; log: Log }): Promise<Serving> {
  const { config, route, log } = parts;
  const serving = new Set<Worker>();
  let draining = false;
  let stopping = false;
  // Settings travel as a message, not in the environment, where other programs of this user could read them.
  cluster.setupPrimary({ exec: PROGRAM, args: [], serialization: 'advanced' });

  const begin = () => {
    const worker = cluster.fork();
    // What is sent before the worker listens is lost.
    worker.on('message', (report: FromWorker) => {
      if (report.is === 'listening to orders') worker.send({ do: 'serve', config, route } satisfies ToWorker);
      if (report.is !== 'serving') return;
      serving.add(worker);
      // One that replaces another during the drain drains as well.
      if (draining) tell(worker, { do: 'drain' });
    });
    worker.once('exit', () => serving.delete(worker));
    return worker;
  };
  const first = Array.from({ length: config.workers }, begin);
  try {
    await Promise.all(first.map(whenServing));
  } catch (error) {
    for (const worker of first) worker.process.kill('SIGKILL');
    throw error;
  }

  cluster.on('exit', async (worker, code, signal) => {
    if (stopping) return;
    log.error({ worker: worker.process.pid, exitCode: code, signal }, 'a worker ended and is replaced');
    await sleep(RESTART_PAUSE_MS);
    if (!stopping) begin();
  });

  return {
    drain: () => {
      draining = true;
      for (const worker of serving) tell(worker, { do: 'drain' });
    },
    stop: async () => {
      stopping = true;
      await Promise.all(Object.values(cluster.workers ?? {}).map((worker) => worker && stopWorker(worker)));
    },
  };
}

function whenServing(worker: Worker): Promise<void> {
  return new Promise((resolve, reject) => {
    worker.on('message', (report: FromWorker) => {
      if (report.is === 'serving') resolve();
      if (report.is === 'failed') reject(new StartError(report.why));
    });
    worker.once('exit', (code) => reject(new StartError(`A worker ended with code ${code} while starting; its log says why.`)));
  });
}

async function stopWorker(worker: Worker): Promise<void> {
  if (worker.isDead()) return;
  const ended = new Promise((resolve) => worker.once('exit', resolve));
  tell(worker, { do: 'stop' });
  if ((await Promise.race([ended.then(() => true), sleep(STOP_MS, false, { ref: false })])) !== true) worker.process.kill('SIGKILL');
}

function tell(worker: Worker, order: ToWorker): void {
  if (worker.isConnected()) worker.send(order);
}
