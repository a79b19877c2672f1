import pg from 'pg';
import { DatabaseClient, SESSION_SETTINGS } from '../../platform/db/client.ts';
import type { OnConnection } from '../../platform/db/database.ts';
import type { Job } from '../../platform/platform.ts';

/** How long a statement may take, and how long it may wait for a lock. */
type Timeouts = { statementMs: number; lockMs: number };

/** Short, so that a slow statement leaves time for other jobs; the job of a locked table fails and is tried again later. */
const RUNNING: Timeouts = { statementMs: 5_000, lockMs: 1_000 };
/** Instances that start together wait for one another while graphile-worker's tables are created. */
export const PREPARING: Timeouts = { statementMs: 30_000, lockMs: 30_000 };
/** Added to the statement's timeout, for a server that cannot enforce it any more because it is frozen or unreachable. */
const GRACE_MS = 3_000;

// The rows to remove are found by an index, in its order. Other kinds of plans are disabled, because the planner would choose one
// by outdated statistics: it takes a table that was filled a minute ago for an empty one.
const PLANNING = ['seqscan', 'bitmapscan', 'nestloop'].map((kind) => `set enable_${kind} = off`);

/** Opens the connections of the jobs: one listens for notifications, the other one works. An error shows at the next query. */
export function openJobsPool(url: string, { statementMs, lockMs }: Timeouts = RUNNING): pg.Pool {
  const settings = [
    `set statement_timeout = ${statementMs}`,
    `set lock_timeout = ${lockMs}`,
    SESSION_SETTINGS,
    ...PLANNING,
    'set jit = off',
    'set max_parallel_workers_per_gather = 0',
  ].join('; ');
  const pool = new JobsPool({
    connectionString: url,
    Client: DatabaseClient,
    max: 2,
    connectionTimeoutMillis: statementMs + GRACE_MS,
    query_timeout: statementMs + GRACE_MS,
    keepAlive: true,
    application_name: 'emailauth-jobs',
    onConnect: async (client) => void (await client.query(settings)),
  });
  return pool.on('error', () => {});
}

/**
 * A pool that ignores the second release of a connection. graphile-worker 0.16.6 releases the one that it listens on twice when LISTEN
 * fails during its shutdown, on a standby for instance, and the rejection would end the process.
 */
class JobsPool extends pg.Pool {
  override connect = ((callback?: OnConnection) => {
    if (!callback) return super.connect();
    super.connect((error, client, release) => {
      let isReleased = false;
      callback(error, client, (reason) => {
        if (client && !isReleased) release(reason);
        isReleased = true;
      });
    });
  }) as pg.Pool['connect'];
}

/**
 * Schedules the next run of each job; an hourly one that failed is tried again after five minutes. The job key makes it one run
 * for all instances, and the time is that of the database's clock.
 */
export async function scheduleNextRuns(pool: pg.Pool, jobs: readonly Job[]): Promise<void> {
  await pool.query(
    // graphile-worker keeps failed jobs, and those of a process that died, forever; after four hours a locked job counts as dead.
    `with failed as materialized (
       select id, task_identifier as task from graphile_worker.jobs
       where attempts >= max_attempts and (locked_at is null or locked_at < now() - interval '4 hours')
     ),
     removed as materialized (select count(*) from graphile_worker.complete_jobs(array(select id from failed))),
     run as (
       select given.task, exists (select from failed where failed.task = given.task) as failed,
         case when minute is null then date_trunc('minute', now()) + interval '1 minute'
              else date_trunc('hour', now() - minute * interval '1 minute') + interval '1 hour' + minute * interval '1 minute' end as run_at
       from unnest($1::text[], $2::int[]) as given (task, minute)
     )
     select graphile_worker.add_job(task, job_key => task, max_attempts => 1,
       job_key_mode => case when failed then 'replace' else 'preserve_run_at' end,
       run_at => case when failed then least(run_at, now() + interval '5 minutes') else run_at end)
     from run cross join removed`,
    [jobs.map(({ name }) => name), jobs.map(({ minute }) => minute)],
  );
}
