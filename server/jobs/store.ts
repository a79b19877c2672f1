import pg from 'pg';

/** Connections for the jobs alone: one waits for news, the other one works. An error of theirs shows at the next query. */
export function openJobsPool(url: string): pg.Pool {
  const pool = new pg.Pool({
    connectionString: url,
    max: 2,
    connectionTimeoutMillis: 5_000,
    keepAlive: true,
    application_name: 'emailauth-jobs',
  });
  const ignore = () => {};
  return pool.on('error', ignore).on('connect', (client) => client.on('error', ignore));
}

const ANSWER_MS = 10_000;

/** When a task runs: at `minute` of every hour, or every minute. */
export type Timetable = { task: string; minute: number | null }[];

/**
 * Sees to it that the next run of each task is on the list. The key makes it one run however many instances ask for it,
 * and the database's clock says when.
 */
export async function scheduleNextRuns(pool: pg.Pool, timetable: Timetable): Promise<void> {
  const text = `select graphile_worker.add_job(task, job_key => task, job_key_mode => 'preserve_run_at', max_attempts => 1, run_at =>
       case when minute is null then date_trunc('minute', now()) + interval '1 minute'
            else date_trunc('hour', now() - minute * interval '1 minute') + interval '1 hour' + minute * interval '1 minute' end)
     from unnest($1::text[], $2::int[]) as run (task, minute)`;
  const values = [timetable.map((run) => run.task), timetable.map((run) => run.minute)];
  // Finds a server that has gone without a word.
  await pool.query({ text, values, query_timeout: ANSWER_MS } as pg.QueryConfig);
}

/** Runs one statement; what graphile-worker gives its tasks. */
export type Query = <Row extends object>(text: string, values?: unknown[]) => Promise<{ rows: Row[] }>;

/** Removes one batch. @returns whether there may be more */
export type RemoveBatch = (query: Query) => Promise<boolean>;

const BATCH = 5_000;

/**
 * Attempts that ended more than a day ago. Their ids are UUIDs of version 7 (RFC 9562 §5.7), so the primary key finds the
 * old ones; each batch goes on where the one before ended and does not pass over what that left for vacuum.
 */
export function removeEndedAttempts(): RemoveBatch {
  let last = '00000000-0000-0000-0000-000000000000';
  return async (query) => {
    const { rows } = await query<{ removed: number; last: string | null }>(
      `with ended as (
         delete from sign_in_attempts
         where expires_at < now() - interval '1 day' and id in (
           select id from sign_in_attempts
           where id > $1 and id < (lpad(to_hex((extract(epoch from now() - interval '1 day') * 1000)::bigint), 12, '0') || repeat('0', 20))::uuid
           order by id limit ${BATCH})
         returning id)
       select count(*)::int as removed, (select id from ended order by id desc limit 1) as last from ended`,
      [last],
    );
    last = rows[0].last ?? last;
    return rows[0].removed === BATCH;
  };
}

/** Tokens that expired more than a day ago: until then a site learns why its token is refused. */
export const removeExpiredTokens = batches('tokens', 'hash', "expires_at < now() - interval '1 day'", 'expires_at');

/** Counters of the mail limits whose time is over. */
export const removeEndedLimits = batches('sign_in_limits', 'key', 'resets_at < now()', 'resets_at');

/** Sessions past their end, or idle for 7 days. */
export const removeEndedSessions = batches('sessions', 'hash', "(expires_at < now() or seen_at < now() - interval '7 days')");

/** Keys of remembered accounts past their end, or idle for 90 days. */
export const removeEndedKeys = batches('remembered_keys', 'selector', "(expires_at < now() or used_at < now() - interval '90 days')");

/** Sessions of the admin pages past their end, or idle for 30 minutes. */
export const removeEndedAdminSessions = batches(
  'admin_sessions',
  'hash',
  "(expires_at < now() or seen_at < now() - interval '30 minutes')",
);

/** Whom unclaimed sites sent mails to, once the day that counts is over everywhere. */
export const removeOldRecipients = batches('website_recipients', 'website_id, day, mailbox', 'day < current_date - 2');

/** Challenges of domains that were not proven within 30 days and are no website of their address. */
export const removeOldClaims = batches(
  'domain_claims',
  'domain, email',
  `created_at < now() - interval '30 days'
    and not exists (select from websites w where w.domain = domain_claims.domain and w.email = domain_claims.email)`,
);

/** Probes of the service, after 90 days. */
export const removeOldProbes = batches('probes', 'minute', "minute < now() - interval '90 days'", 'minute');
/** How long the openings of a site took, once no figure covers the day. */
export const removeOldTimes = batches('daily_site_times', 'website, day', 'day < current_date - 40');

function batches(table: string, key: string, condition: string, order?: string): RemoveBatch {
  // The condition stands twice: a row that was renewed between choice and removal stays.
  const statement = `
    with ended as (
      delete from ${table}
      where ${condition} and (${key}) in (
        select ${key} from ${table} where ${condition} ${order ? `order by ${order}` : ''} limit ${BATCH} for update skip locked)
      returning 1)
    select count(*)::int as removed from ended`;
  return async (query) => (await query<{ removed: number }>(statement)).rows[0].removed === BATCH;
}
