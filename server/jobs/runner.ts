import { EventEmitter } from 'node:events';
import { setTimeout as sleep } from 'node:timers/promises';
import { Logger, type LogLevel, runMigrations, runTaskList, type TaskList, type WorkerEvents } from 'graphile-worker';
import type { Log } from '../log.ts';
import { cleanUpAccounts, cleanUpSignIns } from './clean-up.ts';
import { cleanUpUploads } from './clean-up-uploads.ts';
import { releaseUnclaimed } from './release-unclaimed.ts';
import { rollUp } from './roll-up.ts';
import { openJobsPool, PREPARING, type Query, scheduleNextRuns, type Timetable } from './store.ts';

const TIMETABLE: Timetable = [
  { task: 'clean-up-sign-ins', minute: null },
  { task: 'roll-up', minute: null },
  { task: 'clean-up-accounts', minute: 23 },
  { task: 'release-unclaimed', minute: 7 },
  { task: 'clean-up-uploads', minute: 41 },
];
/** How often the next runs are put on the list; the shortest interval of the timetable is a minute. */
const SCHEDULE_MS = 20_000;
/** News come by NOTIFY; this finds what is due at a set time. */
const POLL_MS = 5_000;
const RETRY_MS = 500;
const SHUTDOWN_MS = 2_000;

export type Jobs = {
  /** Whether jobs are taken now. */
  ready(): boolean;
  /** Ends the connections and opens new ones. */
  reconnect(): void;
  stop(): Promise<void>;
};

/**
 * Runs the timed jobs until `stop`, and begins again by itself when the database was away. Instances share the jobs: each
 * run is done once, by one of them.
 *
 * graphile-worker's own cron is not used: a statement of its that fails ends the process by an unhandled rejection.
 * @param parts.databaseUrl a direct connection: LISTEN does not pass a pooler in transaction mode
 */
export async function startJobs(parts: {
  databaseUrl: string;
  log: Log;
  releaseUnclaimed: (query: Query) => Promise<number>;
  removeUnneededUploads: (query: Query) => Promise<number>;
}): Promise<Jobs> {
  const { databaseUrl, log } = parts;
  const over = new AbortController();
  const tasks: TaskList = {
    'clean-up-sign-ins': cleanUpSignIns(over.signal),
    'clean-up-accounts': cleanUpAccounts(over.signal),
    'roll-up': rollUp(over.signal),
    'release-unclaimed': releaseUnclaimed(parts.releaseUnclaimed),
    'clean-up-uploads': cleanUpUploads(parts.removeUnneededUploads),
  };
  const logger = loggerTo(log);
  let ready = false;
  let told = false;
  let connected = new AbortController();

  const makeTables = async () => {
    const pool = openJobsPool(databaseUrl, PREPARING);
    try {
      await runMigrations({ pgPool: pool, logger });
    } finally {
      void pool.end().catch(() => {});
    }
  };

  /** From a connection to its end: by `stop` or `reconnect`, or because the database went away. */
  const workOnce = async () => {
    const pool = openJobsPool(databaseUrl);
    const events = new EventEmitter() as WorkerEvents & EventEmitter;
    const current = new AbortController();
    connected = current;
    // After either, the library would wait up to a minute, or for ever, before it works again.
    for (const end of ['pool:listen:error', 'worker:fatalError'] as const) events.once(end, () => current.abort());
    try {
      await makeTables();
      const workers = runTaskList({ concurrency: 1, pollInterval: POLL_MS, noHandleSignals: true, events, logger }, tasks, pool);
      try {
        while (!over.signal.aborted && !current.signal.aborted) {
          await scheduleNextRuns(pool, TIMETABLE);
          ready = true;
          told = false;
          await sleep(SCHEDULE_MS, null, { ref: false, signal: current.signal }).catch(() => {});
        }
      } finally {
        ready = false;
        await Promise.race([workers.gracefulShutdown(), sleep(SHUTDOWN_MS, null, { ref: false })]);
      }
    } finally {
      void pool.end().catch(() => {});
    }
  };

  const working = (async () => {
    while (!over.signal.aborted) {
      await workOnce().catch((error) => {
        log[told ? 'debug' : 'warn']({ err: error }, 'the jobs wait for the database');
        told = true;
      });
      await sleep(RETRY_MS, null, { signal: over.signal }).catch(() => {});
    }
  })();

  return {
    ready: () => ready,
    reconnect: () => connected.abort(),
    stop: async () => {
      over.abort();
      connected.abort();
      await working;
    },
  };
}

/** graphile-worker tells each of its steps, and as errors what this runner deals with; that is of interest when looking for faults. */
function loggerTo(log: Log): Logger {
  const levels: Record<LogLevel, 'warn' | 'debug' | 'trace'> = { error: 'warn', warning: 'warn', info: 'trace', debug: 'trace' };
  return new Logger(() => (level, message, meta) => {
    // A lost connection is told once, by the runner.
    const lost = /notify listener|listening client|unlisten/i.test(message);
    log[lost ? 'debug' : levels[level]]({ err: meta?.error }, message);
  });
}
