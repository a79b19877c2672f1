import { setTimeout as sleep } from 'node:timers/promises';
import pg from 'pg';
import { DatabaseClient } from './client.ts';

/**
 * One part of a migration. Steps run in order, and each commits together with its record, so that an interrupted migration continues
 * with the step that was not finished.
 */
export type Step = SqlStep | IndexStep | BackfillStep;

/** DDL that is quick once it has its locks, in one transaction. At most one table that sign-ins use: see docs/extending.md. */
type SqlStep = { title: string; sql: string };

/** Builds an index while the table is read and written. An index of the same name is replaced when the new one is complete. */
type IndexStep = {
  index: string;
  table: string;
  /** Columns and condition: `(email) where domain is null`. */
  definition: string;
};

/**
 * Updates the rows of a large table in batches, each in its own transaction, in the order of `key`, a unique column. `where` must be
 * false for a row that was updated, since a resumed backfill reads all rows again.
 */
type BackfillStep = { title: string; table: string; key: string; set: string; where: string };

/** Returns what a step does, for messages. */
export function titleOf(step: Step): string {
  return 'index' in step ? `build index ${step.index} on ${step.table}` : step.title;
}

/** Returns the step as SQL for the caller's transaction, on tables that are not in use. */
export function plainSql(step: Step): string {
  if ('index' in step) return `drop index if exists ${step.index}; create index ${step.index} on ${step.table} ${step.definition}`;
  return 'sql' in step ? step.sql : `update ${step.table} set ${step.set} where ${step.where}`;
}

/** The application_name of a migration's connections. */
export const MIGRATION_NAME = 'emailauth-migrate';

export type OnlineOptions = {
  /** For short connections in addition to the one that runs the steps. */
  url: string;
  /** Receives one line of progress. */
  report?: (line: string) => void;
  /** How often the progress of a long step is reported. */
  reportIntervalMs?: number;
};

/** `label`: names the step in messages. `record`: the SQL that records it as done, for the same transaction. */
export type StepRun = { label: string; record: string };

/**
 * How long DDL waits for a lock before it is tried again: all other statements on the table queue behind it meanwhile.
 * Shorter than PostgreSQL's deadlock_timeout (1 s), so that a deadlock cancels the migration's statement and never a sign-in's.
 */
const LOCK_TIMEOUT_MS = 300;
const FIRST_PAUSE_MS = 500;
const MAX_PAUSE_MS = 5_000;
const REPORT_INTERVAL_MS = 10_000;
const BATCH_ROWS = 5_000;

/** SQLSTATEs lock_not_available and deadlock_detected. */
const LOCK_ERRORS = ['55P03', '40P01'];

/** Runs one step on tables that other instances use, and records it as done. */
export async function runOnline(client: pg.ClientBase, step: Step, options: OnlineOptions, run: StepRun): Promise<void> {
  let sql = 'sql' in step ? step.sql : '';
  if ('index' in step) {
    const building = await buildIndex(client, step, options, run);
    sql = `drop index if exists ${step.index}; alter index ${building} rename to ${step.index}`;
  }
  if ('where' in step) await backfill(client, step, options, run);
  await inShortTransaction(client, options, () => client.query(`${sql};\n${run.record}`));
}

/**
 * Runs `work` in a transaction in which no wait for a lock is longer than LOCK_TIMEOUT_MS, and repeats it until it succeeds.
 * @param options.maxTries after which the error of the last try is thrown
 */
export async function inShortTransaction<Result>(
  client: pg.ClientBase,
  options: Partial<OnlineOptions> & { maxTries?: number },
  work: () => Promise<Result>,
): Promise<Result> {
  const { report = () => {}, reportIntervalMs = REPORT_INTERVAL_MS, maxTries = Number.POSITIVE_INFINITY } = options;
  let reportedAt = Number.NEGATIVE_INFINITY;
  for (let pause = FIRST_PAUSE_MS, tries = 1; ; pause = Math.min(pause * 1.5, MAX_PAUSE_MS), tries++) {
    try {
      await client.query(`begin; set local lock_timeout = ${LOCK_TIMEOUT_MS}`);
      const result = await work();
      await client.query('commit');
      return result;
    } catch (error) {
      await client.query('rollback').catch(() => {});
      if (!isLockError(error) || tries >= maxTries) throw error;
    }
    if (performance.now() - reportedAt > reportIntervalMs) {
      report(`  waiting for a lock that a transaction of another connection holds: ${await openTransactions(client)}`);
      reportedAt = performance.now();
    }
    await sleep(pause);
  }
}

/** Builds an index under a temporary name. An index that an interrupted run completed is used. @returns the name */
async function buildIndex(client: pg.ClientBase, step: IndexStep, options: OnlineOptions, { label }: StepRun): Promise<string> {
  const building = `${step.index}_building`;
  for (;;) {
    const { rows } = await client.query<{ valid: boolean }>('select indisvalid as valid from pg_index where indexrelid = to_regclass($1)', [
      building,
    ]);
    if (rows[0]?.valid) return building;
    const pid = await pidOf(client);
    try {
      await client.query(`drop index concurrently if exists ${building}`);
      const built = client.query(`create index concurrently ${building} on ${step.table} ${step.definition}`);
      await reporting(built, options, async () => `  ${label}: ${await buildProgress(options.url, pid)}`);
    } catch (error) {
      if (!isLockError(error)) throw error;
      options.report?.(`  ${label}: interrupted by a lock of another connection; building it again`);
    }
  }
}

async function backfill(client: pg.ClientBase, step: BackfillStep, options: OnlineOptions, { label }: StepRun): Promise<void> {
  const { table, key, set, where } = step;
  let done = 0;
  /** @param last key of the previous batch @returns the last key of this batch, null after the last row */
  const runBatch = async (last: string | null): Promise<string | null> => {
    const after = last === null ? '' : `where ${key} > ${pg.escapeLiteral(last)}`;
    const { rows } = await client.query<{ count: number; last: string | null }>(
      `with batch as materialized (select ${key} as key_of_batch from ${table} ${after} order by ${key} limit ${BATCH_ROWS}),
       updated as (update ${table} set ${set} from batch where ${table}.${key} = key_of_batch and (${where}))
       select count(*)::integer as count, (select key_of_batch from batch order by 1 desc limit 1)::text as last from batch`,
    );
    done += rows[0].count;
    return rows[0].last;
  };
  const runBatches = async () => {
    let last: string | null = null;
    do last = await inShortTransaction<string | null>(client, options, () => runBatch(last));
    while (last !== null);
  };
  await reporting(runBatches(), options, async () => `  ${label}: ${done.toLocaleString('en')} rows done`);
}

/** Reports at intervals until `work` has ended. */
async function reporting<Result>(work: Promise<Result>, options: OnlineOptions, line: () => Promise<string>): Promise<Result> {
  const { report = () => {}, reportIntervalMs = REPORT_INTERVAL_MS } = options;
  const timer = setInterval(() => void line().then(report, () => {}), reportIntervalMs);
  try {
    return await work;
  } finally {
    clearInterval(timer);
  }
}

/** Returns the progress of an index build (pg_stat_progress_create_index). */
async function buildProgress(url: string, pid: number): Promise<string> {
  const [progress] = await runSeparately<{ phase: string; done: number | null; locker: string | null }>(
    url,
    `select phase, floor(100 * coalesce(tuples_done::float8 / nullif(tuples_total, 0), blocks_done::float8 / nullif(blocks_total, 0))) as done,
       (select format('process %s, %s, its transaction is open for %s s', a.pid, coalesce(nullif(a.application_name, ''), 'without a name'),
          round(extract(epoch from now() - a.xact_start))) from pg_stat_activity a where a.pid = current_locker_pid) as locker
     from pg_stat_progress_create_index where pid = ${pid}`,
  );
  if (!progress) return 'between two phases';
  if (progress.locker) return `${progress.phase} (${progress.locker})`;
  return progress.done === null ? progress.phase : `${progress.phase}, ${progress.done}%`;
}

/** Returns a description of the three transactions that have been open longest. */
async function openTransactions(client: pg.ClientBase): Promise<string> {
  const { rows } = await client.query<{ who: string }>(
    `select format('process %s (%s) for %s s', pid, coalesce(nullif(application_name, ''), backend_type), round(extract(epoch from now() - xact_start))) as who
     from pg_stat_activity where datname = current_database() and pid <> pg_backend_pid() and xact_start is not null order by xact_start limit 3`,
  );
  return rows.map(({ who }) => who).join(', ') || 'none that this role may see';
}

/** Returns the id of the PostgreSQL process of a connection. */
export async function pidOf(client: pg.ClientBase): Promise<number> {
  return (await client.query<{ pid: number }>('select pg_backend_pid() as pid')).rows[0].pid;
}

/** Runs one statement on a new connection. */
export async function runSeparately<Row extends object>(url: string, sql: string): Promise<Row[]> {
  const client = new DatabaseClient({
    connectionString: url,
    connectionTimeoutMillis: 5_000,
    query_timeout: 5_000,
    application_name: MIGRATION_NAME,
  });
  try {
    await client.connect();
    return (await client.query<Row>(sql)).rows;
  } finally {
    await client.end().catch(() => {});
  }
}

function isLockError(error: unknown): boolean {
  return LOCK_ERRORS.includes((error as { code?: string }).code ?? '');
}
