import { EventEmitter } from 'node:events';
import { setTimeout as sleep } from 'node:timers/promises';
import type { LogFunctionFactory, LogLevel, TaskList, WorkerEvents } from 'graphile-worker';
import type { Pool } from 'pg';
import type { Log } from '../../platform/log.ts';
import { jobRuns } from '../../platform/metrics/metrics.ts';
import type { Job } from '../../platform/platform.ts';
import { openJobsPool, PREPARING, scheduleNextRuns } from './store.ts';

/** How often the next runs are scheduled; the shortest interval of the timetable is a minute. */
const SCHEDULE_MS = 20_000;
/** New jobs are announced by NOTIFY; polling finds those that become due at a set time. */
const POLL_MS = 5_000;
const RETRY_MS = 500;
/** Neither a long export of a partition nor a reader of stdout that does not read may delay the other jobs. */
const CONCURRENCY = 3;
const SHUTDOWN_MS = 2_000;
/** The time that one run of a job may take; the next run continues. */
const RUN_MS = 20_000;

type Parts = {
  /** A direct connection: LISTEN does not work through a pooler in transaction mode. */
  databaseUrl: string;
  log: Log;
  jobs: readonly Job[];
};

/**
 * Runs the scheduled jobs until `stop`, and starts again by itself after the database was away. Instances share the jobs: each run is
 * done once, by one of them. docs/decisions/0013 explains why graphile-worker's cron entries are not used.
 */
export class Jobs {
  readonly #databaseUrl: string;
  readonly #log: Log;
  readonly #jobs: readonly Job[];
  readonly #tasks: TaskList;
  readonly #stopping = new AbortController();
  readonly #running: Promise<void>;
  #connection = new AbortController();
  #ready = false;
  #loggedOutage = false;

  constructor({ databaseUrl, log, jobs }: Parts) {
    this.#databaseUrl = databaseUrl;
    this.#log = log;
    this.#jobs = jobs;
    const limits = { signal: this.#stopping.signal, maxMs: RUN_MS };
    this.#tasks = Object.fromEntries(jobs.map(({ name, run }) => [name, async (_, { query }) => void (await run(query, limits))]));
    this.#running = this.#run();
  }

  /** Returns whether jobs are run now. */
  ready(): boolean {
    return this.#ready;
  }

  /** Closes the connections and opens new ones. */
  reconnect(): void {
    this.#connection.abort();
  }

  async stop(): Promise<void> {
    this.#stopping.abort();
    this.#connection.abort();
    await this.#running;
  }

  async #run(): Promise<void> {
    const { signal } = this.#stopping;
    while (!signal.aborted) {
      await this.#runConnected().catch((error) => {
        this.#log[this.#loggedOutage ? 'debug' : 'warn']({ err: error }, 'jobs: waiting for the database');
        this.#loggedOutage = true;
      });
      await sleep(RETRY_MS, null, { signal }).catch(() => {});
    }
  }

  /** Runs jobs from a connection to its end: by `stop` or `reconnect`, or because the database went away. */
  async #runConnected(): Promise<void> {
    // Not imported before the service listens.
    const { Logger, runMigrations, runTaskList } = await import('graphile-worker');
    const logger = new Logger(linesTo(this.#log));
    const pool = openJobsPool(this.#databaseUrl);
    const events = new EventEmitter() as WorkerEvents & EventEmitter;
    const connection = new AbortController();
    this.#connection = connection;
    events.on('job:success', ({ job }) => jobRuns.count(job.task_identifier, 'succeeded'));
    events.on('job:error', ({ job }) => jobRuns.count(job.task_identifier, 'failed'));
    // After either event, the library would wait up to a minute, or forever, before it works again.
    for (const end of ['pool:listen:error', 'worker:fatalError'] as const) events.once(end, () => connection.abort());
    try {
      await this.#prepareTables((pgPool) => runMigrations({ pgPool, logger }));
      for (const { prepare } of this.#jobs) await prepare?.((text, values) => pool.query(text, values));
      const options = { concurrency: CONCURRENCY, pollInterval: POLL_MS, noHandleSignals: true, events, logger };
      const workers = runTaskList(options, this.#tasks, pool);
      try {
        while (!this.#stopping.signal.aborted && !connection.signal.aborted) {
          await scheduleNextRuns(pool, this.#jobs);
          this.#ready = true;
          this.#loggedOutage = false;
          await sleep(SCHEDULE_MS, null, { ref: false, signal: connection.signal }).catch(() => {});
        }
      } finally {
        this.#ready = false;
        await Promise.race([workers.gracefulShutdown(), sleep(SHUTDOWN_MS, null, { ref: false })]);
      }
    } finally {
      void pool.end().catch(() => {});
    }
  }

  async #prepareTables(migrate: (pool: Pool) => Promise<void>): Promise<void> {
    const pool = openJobsPool(this.#databaseUrl, PREPARING);
    try {
      await migrate(pool);
    } finally {
      void pool.end().catch(() => {});
    }
  }
}

/** graphile-worker logs each of its steps, and as errors what this runner handles; those lines are for debugging. */
function linesTo(log: Log): LogFunctionFactory {
  const levels: Record<LogLevel, 'warn' | 'debug' | 'trace'> = { error: 'warn', warning: 'warn', info: 'trace', debug: 'trace' };
  return () => (level, message, meta) => {
    // The runner itself logs a lost connection, once.
    const isLostConnection = /notify listener|listening client|unlisten/i.test(message);
    log[isLostConnection ? 'debug' : levels[level]]({ err: meta?.error }, message);
  };
}
