import pg from 'pg';

/** How long a statement may take, and how long it may wait for a lock. */
type Limits = { statementMs: number; lockMs: number };

/** A slow statement leaves time for other jobs. A locked table makes its job fail soon; it is tried again later. */
const RUNNING: Limits = { statementMs: 5_000, lockMs: 1_000 };
/** Instances that start at once wait for one another to make graphile-worker's tables. */
export const PREPARING: Limits = { statementMs: 30_000, lockMs: 30_000 };
/** On top of the statement's own time, for a server that does not enforce it any more: frozen, or out of reach. */
const LATE_MS = 3_000;

// The rows to remove are found by an index, in its order. With every other kind of plan switched off the planner cannot
// choose one because its statistics are old: it takes a table that was filled a minute ago for an empty one.
const PLANNING = ['seqscan', 'bitmapscan', 'nestloop'].map((kind) => `set enable_${kind} = off`);

/** Opens the jobs' own connections: one waits for notifications, the other one works. An error of theirs shows at the next query. */
export function openJobsPool(url: string, { statementMs, lockMs }: Limits = RUNNING): pg.Pool {
  const settings = [
    `set statement_timeout = ${statementMs}`,
    `set lock_timeout = ${lockMs}`,
    ...PLANNING,
    'set jit = off',
    'set max_parallel_workers_per_gather = 0',
  ].join('; ');
  const pool = new pg.Pool({
    connectionString: url,
    max: 2,
    connectionTimeoutMillis: statementMs + LATE_MS,
    query_timeout: statementMs + LATE_MS,
    keepAlive: true,
    application_name: 'emailauth-jobs',
    onConnect: async (client) => void (await client.query(settings)),
  });
  const ignore = () => {};
  return pool.on('error', ignore).on('connect', (client) => client.on('error', ignore));
}

/** When a task runs: at `minute` of every hour, or every minute. */
export type Timetable = { task: string; minute: number | null }[];

/**
 * Puts the next run of each task on the list; an hourly one that failed is tried again after five minutes. The key makes
 * it one run however many instances ask for it, and the database's clock says when.
 */
export async function scheduleNextRuns(pool: pg.Pool, timetable: Timetable): Promise<void> {
  await pool.query(
    // graphile-worker keeps failed runs, and those of a process that died, for ever; after four hours a run counts as dead.
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

/** Runs one statement; what graphile-worker gives its tasks. */
export type Query = <Row extends object>(text: string, values?: unknown[]) => Promise<{ rows: Row[] }>;

/** Removes one batch. @returns whether there may be more */
export type RemoveBatch = (query: Query) => Promise<boolean>;

/** Begins to remove one kind of rows; each batch goes on where the one before ended. */
export type Removal = () => RemoveBatch;

const BATCH = 5_000;

/**
 * Removes rows whose `column` is less than `before`, in its order.
 * @param rows.column has an index of its own, or is the first column of one
 * @param rows.first less than every value of the column
 * @param rows.and what else must be true
 */
function removal(rows: { table: string; column: string; type: string; first: string; before: string; and?: string }): Removal {
  const { table, column, type, first, before, and = 'true' } = rows;
  // The rows are locked when they are chosen, so that none is renewed before it is removed. By ctid there is one way to
  // get at them. The lower bound keeps off what the batch before left for vacuum.
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

/** Attempts that ended more than a day ago. Their ids are UUIDs of version 7 (RFC 9562 §5.7), so the primary key finds the old ones. */
export const removeEndedAttempts = removal({
  table: 'sign_in_attempts',
  column: 'id',
  type: 'uuid',
  first: '00000000-0000-0000-0000-000000000000',
  before: "(lpad(to_hex((extract(epoch from now() - interval '1 day') * 1000)::bigint), 12, '0') || repeat('0', 20))::uuid",
  and: "expires_at < now() - interval '1 day'",
});

const byTime = { type: 'timestamptz', first: '-infinity' };
const byDay = { type: 'date', first: '-infinity' };

/** Tokens that expired more than a day ago: until then a site learns why its token is refused. */
export const removeExpiredTokens = removal({
  table: 'tokens',
  column: 'expires_at',
  ...byTime,
  before: "now() - interval '1 day'",
});

/** Counters of the mail limits whose time is over. */
export const removeEndedLimits = removal({ table: 'sign_in_limits', column: 'resets_at', ...byTime, before: 'now()' });

/** Counters of all other limits, an hour after their time. `expire` is in Unix milliseconds. */
export const removeEndedRateLimits = removal({
  table: 'rate_limits',
  column: 'expire',
  type: 'bigint',
  first: '0',
  before: "(extract(epoch from now() - interval '1 hour') * 1000)::bigint",
});

/** Sessions past their end, 30 days at most. One that is idle for 7 days opens nothing, and waits for it. */
export const removeEndedSessions = removal({ table: 'sessions', column: 'expires_at', ...byTime, before: 'now()' });

/**
 * Keys of remembered accounts that nobody has used for 90 days; one past its end cannot be used. `used_at` has no index,
 * since it changes at every use; `rotated_at` is never later, and by less than a day earlier.
 */
export const removeIdleKeys = removal({
  table: 'remembered_keys',
  column: 'rotated_at',
  ...byTime,
  before: "now() - interval '90 days'",
  and: "used_at < now() - interval '90 days'",
});

/** Sessions of the admin pages past their end, 8 hours at most. */
export const removeEndedAdminSessions = removal({ table: 'admin_sessions', column: 'expires_at', ...byTime, before: 'now()' });

/** Whom unclaimed sites sent mails to, once the day that counts is over everywhere. */
export const removeOldRecipients = removal({ table: 'website_recipients', column: 'day', ...byDay, before: 'current_date - 2' });

/** Challenges of domains that were not proven within 30 days and are no website of their address. */
export const removeOldClaims = removal({
  table: 'domain_claims',
  column: 'created_at',
  ...byTime,
  before: "now() - interval '30 days'",
  and: 'not exists (select from websites w where w.domain = domain_claims.domain and w.email = domain_claims.email)',
});

/** Probes of the service, after 90 days. */
export const removeOldProbes = removal({ table: 'probes', column: 'minute', ...byTime, before: "now() - interval '90 days'" });

/** How long the openings of a site took, once no figure covers the day. */
export const removeOldTimes = removal({ table: 'daily_site_times', column: 'day', ...byDay, before: 'current_date - 40' });
