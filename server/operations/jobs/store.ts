import pg from 'pg';
import { MAX_STATS_DAYS, VISITOR_DAYS } from '../../../contract/limits.ts';
import { DatabaseClient, SESSION_SETTINGS } from '../../platform/db/client.ts';
import { idAt } from '../../platform/db/partitions.ts';

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
  override connect(): Promise<pg.PoolClient>;
  override connect(callback: OnConnection): void;
  override connect(callback?: OnConnection): Promise<pg.PoolClient> | undefined {
    if (!callback) return super.connect();
    super.connect((error, client, release) => {
      let isReleased = false;
      callback(error, client, (reason) => {
        if (client && !isReleased) release(reason);
        isReleased = true;
      });
    });
  }
}

type OnConnection = Parameters<pg.Pool['connect']>[0];

/** When a task runs: at `minute` of every hour, or every minute. */
export type Timetable = { task: string; minute: number | null }[];

/**
 * Schedules the next run of each task; an hourly one that failed is tried again after five minutes. The job key makes it one run
 * for all instances, and the time is that of the database's clock.
 */
export async function scheduleNextRuns(pool: pg.Pool, timetable: Timetable): Promise<void> {
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
    [timetable.map((run) => run.task), timetable.map((run) => run.minute)],
  );
}

/** Runs one statement; graphile-worker passes it to its tasks. */
export type Query = <Row extends object>(text: string, values?: unknown[]) => Promise<{ rows: Row[] }>;

/** Removes one batch. Returns whether there may be more rows. */
export type RemoveBatch = (query: Query) => Promise<boolean>;

/** Begins to remove one kind of rows; each batch continues where the previous one ended. */
export type Removal = () => RemoveBatch;

const BATCH = 5_000;

/**
 * Returns the removal of rows whose `column` is less than `before`, in the order of the column. The table is not partitioned, since a ctid
 * names a row of one partition only.
 * @param rows.column has an index, or is the first column of one
 * @param rows.first less than every value of the column
 * @param rows.and another condition
 */
function removal(rows: { table: string; column: string; type: string; first: string; before: string; and?: string }): Removal {
  const { table, column, type, first, before, and = 'true' } = rows;
  // The rows are locked when they are selected, so that none is renewed before it is removed. For the ctid there is only one plan.
  // The lower bound skips the dead rows that the previous batch left for vacuum.
  const statement = `
    with ended as (
      delete from ${table} where ctid = any(array(
        select ctid from ${table} where ${column} >= $1::${type} and ${column} < ${before} and ${and}
        order by ${column} limit ${BATCH} for update skip locked))
      returning ${column} as place)
    select count(*)::int as removed, (select place::text from ended order by place desc limit 1) as last from ended`;
  return () => {
    let from = first;
    return async (query) => {
      const { rows } = await query<{ removed: number; last: string | null }>(statement, [from]);
      from = rows[0].last ?? from;
      return rows[0].removed === BATCH;
    };
  };
}

/** Attempts that ended more than a day ago, of the few that are not dropped with their partition. The primary key finds them by their time. */
export const removeEndedAttempts = removal({
  table: 'sign_in_attempts_default',
  column: 'id',
  type: 'uuid',
  first: '00000000-0000-0000-0000-000000000000',
  before: idAt("now() - interval '1 day'"),
  and: "expires_at < now() - interval '1 day'",
});

const byTime = { type: 'timestamptz', first: '-infinity' };
const byDay = { type: 'date', first: '-infinity' };

/** Tokens that expired more than a day ago, of those that had no partition. Until then the reason of a refusal can be given. */
export const removeExpiredTokens = removal({
  table: 'tokens_default',
  column: 'expires_at',
  ...byTime,
  before: "now() - interval '1 day'",
});

/** Codes, tokens, sessions, grants and everything else of the OpenID provider that has expired. */
export const removeExpiredRecords = removal({ table: 'oidc_records', column: 'expires_at', ...byTime, before: 'now()' });

/** Counters of rate limits whose window has ended. */
export const removeEndedLimits = removal({ table: 'rate_limits', column: 'resets_at', ...byTime, before: 'now()' });

/** Used challenges of passkeys and nonces of pages, a day after their use: they are valid for an hour at most by the clock of the instance that issued them. */
export const removeUsedChallenges = removal({
  table: 'passkey_challenges',
  column: 'used_at',
  ...byTime,
  before: "now() - interval '1 day'",
});

/** Generations of accounts, a day after the last permission of an earlier one has expired. */
export const removeOldGenerations = removal({
  table: 'account_generations',
  column: 'generation',
  type: 'bigint',
  first: '0',
  before: "(extract(epoch from now() - interval '31 days') * 1000000)::bigint",
});

/** Sessions that expired, after 30 days at most. One that is idle for 7 days is not valid, and is kept until then. */
export const removeEndedSessions = removal({ table: 'sessions', column: 'expires_at', ...byTime, before: 'now()' });

/**
 * Keys of remembered accounts that were not used for 90 days; an expired one cannot be used. `used_at` has no index, since it
 * changes at every use; `rotated_at` is never later, and less than a day earlier.
 */
export const removeIdleKeys = removal({
  table: 'remembered_keys',
  column: 'rotated_at',
  ...byTime,
  before: "now() - interval '90 days'",
  and: "used_at < now() - interval '90 days'",
});

/** Sessions of the admin pages that expired, after 8 hours at most. */
export const removeEndedAdminSessions = removal({ table: 'admin_sessions', column: 'expires_at', ...byTime, before: 'now()' });

/** Recipients of unclaimed websites, once the day for which they count has ended in every time zone. */
export const removeOldRecipients = removal({ table: 'website_recipients', column: 'day', ...byDay, before: 'current_date - 2' });

/** Challenges of domains that were not proven within 30 days and are not a website of their address. */
export const removeOldClaims = removal({
  table: 'domain_claims',
  column: 'created_at',
  ...byTime,
  before: "now() - interval '30 days'",
  and: 'not exists (select from websites w where w.domain = domain_claims.domain and w.email = domain_claims.email)',
});

/** Visitors of websites who did not sign in for 400 days, as long as a browser remembers an account at most. */
export const removeOldVisitors = removal({
  table: 'website_visitors',
  column: 'last_at',
  ...byTime,
  before: `now() - interval '${VISITOR_DAYS} days'`,
});

/** Invitations that were not accepted, 30 days after they were sent; they are valid for INVITATION_DAYS. */
export const removeOldInvitations = removal({
  table: 'website_members',
  column: 'invited_at',
  ...byTime,
  before: "now() - interval '30 days'",
  and: 'joined_at is null',
});

/** Probes of the service, after 90 days. */
export const removeOldProbes = removal({ table: 'probes', column: 'minute', ...byTime, before: "now() - interval '90 days'" });

/** Sign-in times of a website, once no statistics cover the day. */
export const removeOldTimes = removal({
  table: 'daily_site_times',
  column: 'day',
  ...byDay,
  before: `current_date - ${MAX_STATS_DAYS + 10}`,
});
