import { EventEmitter } from 'node:events';
import { setTimeout as sleep } from 'node:timers/promises';
import { Logger, type LogLevel, runMigrations, runTaskList, type Task, type TaskList, type WorkerEvents } from 'graphile-worker';
import { rollUp } from '../../activity/stats.ts';
import type { Log } from '../../platform/log.ts';
import { jobRuns } from '../../platform/metrics/metrics.ts';
import { BEGIN_EXPORT, exportAuditLog } from './audit-export.ts';
import {
  openJobsPool,
  PREPARING,
  type Query,
  type Removal,
  removeEndedAdminSessions,
  removeEndedAttempts,
  removeEndedLimits,
  removeEndedSessions,
  removeExpiredRecords,
  removeExpiredTokens,
  removeIdleKeys,
  removeOldClaims,
  removeOldGenerations,
  removeOldInvitations,
  removeOldProbes,
  removeOldRecipients,
  removeOldTimes,
  removeOldVisitors,
  removeUsedChallenges,
  scheduleNextRuns,
  type Timetable,
} from './store.ts';

/** How often the next runs are scheduled; the shortest interval of the timetable is a minute. */
const SCHEDULE_MS = 20_000;
/** New jobs are announced by NOTIFY; polling finds those that become due at a set time. */
const POLL_MS = 5_000;
const RETRY_MS = 500;
/** Neither a long export of a partition nor a reader of stdout that does not read may delay the other jobs. */
const CONCURRENCY = 3;
const SHUTDOWN_MS = 2_000;

type Parts = {
  /** A direct connection: LISTEN does not work through a pooler in transaction mode. */
  databaseUrl: string;
  log: Log;
  releaseUnclaimed: (query: Query) => Promise<number>;
  removeUnneededUploads: (query: Query) => Promise<number>;
  maintainProviderKeys: () => Promise<void>;
  maintainPartitions: (signal: AbortSignal) => Promise<void>;
  printsAuditLog: boolean;
};

/**
 * Runs the scheduled jobs until `stop`, and starts again by itself after the database was away. Instances share the jobs: each run is
 * done once, by one of them. docs/decisions/0013 explains why graphile-worker's cron entries are not used.
 */
export class Jobs {
  readonly #databaseUrl: string;
  readonly #log: Log;
  readonly #logger: Logger;
  readonly #tasks: TaskList;
  readonly #printsAuditLog: boolean;
  readonly #stopping = new AbortController();
  readonly #running: Promise<void>;
  #connection = new AbortController();
  #ready = false;
  #loggedOutage = false;

  constructor(parts: Parts) {
    this.#databaseUrl = parts.databaseUrl;
    this.#log = parts.log;
    this.#logger = loggerTo(parts.log);
    this.#printsAuditLog = parts.printsAuditLog;
    const { signal } = this.#stopping;
    this.#tasks = {
      'clean-up-sign-ins': cleanUpSignIns(signal),
      'clean-up-accounts': cleanUpAccounts(signal),
      'roll-up': sumUpStatistics(signal),
      'release-unclaimed': releaseUnclaimed(parts.releaseUnclaimed),
      'clean-up-uploads': cleanUpUploads(parts.removeUnneededUploads),
      'maintain-provider-keys': () => parts.maintainProviderKeys(),
      'maintain-partitions': () => parts.maintainPartitions(signal),
      ...(parts.printsAuditLog && { 'export-audit': printAuditLog(signal) }),
    };
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
    const pool = openJobsPool(this.#databaseUrl);
    const events = new EventEmitter() as WorkerEvents & EventEmitter;
    const connection = new AbortController();
    this.#connection = connection;
    events.on('job:success', ({ job }) => jobRuns.count(job.task_identifier, 'succeeded'));
    events.on('job:error', ({ job }) => jobRuns.count(job.task_identifier, 'failed'));
    // After either event, the library would wait up to a minute, or forever, before it works again.
    for (const end of ['pool:listen:error', 'worker:fatalError'] as const) events.once(end, () => connection.abort());
    try {
      await this.#createTables();
      if (this.#printsAuditLog) await pool.query(BEGIN_EXPORT);
      const timetable = TIMETABLE.filter(({ task }) => task in this.#tasks);
      const options = { concurrency: CONCURRENCY, pollInterval: POLL_MS, noHandleSignals: true, events, logger: this.#logger };
      const workers = runTaskList(options, this.#tasks, pool);
      try {
        while (!this.#stopping.signal.aborted && !connection.signal.aborted) {
          await scheduleNextRuns(pool, timetable);
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

  async #createTables(): Promise<void> {
    const pool = openJobsPool(this.#databaseUrl, PREPARING);
    try {
      await runMigrations({ pgPool: pool, logger: this.#logger });
    } finally {
      void pool.end().catch(() => {});
    }
  }
}

/** graphile-worker logs each of its steps, and as errors what this runner handles; those lines are for debugging. */
function loggerTo(log: Log): Logger {
  const levels: Record<LogLevel, 'warn' | 'debug' | 'trace'> = { error: 'warn', warning: 'warn', info: 'trace', debug: 'trace' };
  return new Logger(() => (level, message, meta) => {
    // The runner itself logs a lost connection, once.
    const isLostConnection = /notify listener|listening client|unlisten/i.test(message);
    log[isLostConnection ? 'debug' : levels[level]]({ err: meta?.error }, message);
  });
}

/** The time that one run of a job may take; the next run continues. */
const RUN_MS = 20_000;

const TIMETABLE: Timetable = [
  { task: 'clean-up-sign-ins', minute: null },
  { task: 'roll-up', minute: null },
  { task: 'clean-up-accounts', minute: 23 },
  { task: 'release-unclaimed', minute: 7 },
  { task: 'clean-up-uploads', minute: 41 },
  { task: 'maintain-provider-keys', minute: 53 },
  { task: 'maintain-partitions', minute: 29 },
  { task: 'export-audit', minute: null },
];

const SIGN_IN_REMOVALS = [removeEndedAttempts, removeExpiredTokens, removeExpiredRecords, removeEndedLimits, removeUsedChallenges];
const ACCOUNT_REMOVALS = [
  removeEndedSessions,
  removeIdleKeys,
  removeEndedAdminSessions,
  removeOldRecipients,
  removeOldClaims,
  removeOldInvitations,
  removeOldProbes,
  removeOldTimes,
  removeOldVisitors,
  removeOldGenerations,
];

/** Removes what visitors' sign-ins leave behind. @param signal ends it between two batches */
function cleanUpSignIns(signal: AbortSignal): Task {
  return (_, { query }) => removeAll(query, SIGN_IN_REMOVALS, signal);
}

/** Removes what browsers, websites and the service's own probes leave behind. @param signal ends it between two batches */
function cleanUpAccounts(signal: AbortSignal): Task {
  return (_, { query }) => removeAll(query, ACCOUNT_REMOVALS, signal);
}

/** Sums up the audit log for the statistics. @param signal ends it between two batches */
function sumUpStatistics(signal: AbortSignal): Task {
  return async (_, { query, logger }) => {
    const upToDate = await rollUp(query, { signal, maxMs: RUN_MS });
    if (!upToDate && !signal.aborted)
      logger.warn('a transaction has been writing to audit_log for seconds; its statistics are summed up later');
  };
}

/** Prints new rows of the audit log to stdout. @param signal ends it between two batches */
function printAuditLog(signal: AbortSignal): Task {
  // Each write reports its own error; without a listener, one would end the process.
  process.stdout.on('error', () => {});
  return (_, { query, logger }) => {
    const onWait = () => logger.warn('the audit log waits until what reads stdout continues to read');
    return exportAuditLog(query, process.stdout, { signal, maxMs: RUN_MS, onWait });
  };
}

/**
 * Releases the domains that were registered and neither claimed nor proven within 7 days.
 * @param release deletes them together with writing their audit rows; resolves to their number
 */
function releaseUnclaimed(release: (query: Query) => Promise<number>): Task {
  return async (_, { query, logger }) => {
    const released = await release(query);
    if (released > 0) logger.warn(`${released} unclaimed websites released`);
  };
}

/**
 * Removes icons that were never uploaded or that no website shows, with their files.
 * @param remove resolves to their number; rejects when the disk or the bucket failed, and a later run tries again
 */
function cleanUpUploads(remove: (query: Query) => Promise<number>): Task {
  return async (_, { query, logger }) => {
    const removed = await remove(query);
    if (removed > 0) logger.info(`${removed} uploads removed`);
  };
}

/** Removes one batch of each kind in turn, so that neither a large kind nor one that fails delays the others. */
async function removeAll(query: Query, removals: readonly Removal[], signal: AbortSignal): Promise<void> {
  const end = Date.now() + RUN_MS;
  const failures: unknown[] = [];
  let remaining = removals.map((begin) => begin());
  while (remaining.length > 0 && !signal.aborted && Date.now() < end) {
    const unfinished: typeof remaining = [];
    for (const removeBatch of remaining) {
      try {
        if (await removeBatch(query)) unfinished.push(removeBatch);
      } catch (error) {
        failures.push(error);
      }
    }
    remaining = unfinished;
  }
  if (failures.length > 0) throw failures[0];
}
