import type pg from 'pg';
import type { Output } from '../../contract/calls.ts';
import { STATS_DAYS } from '../../contract/limits.ts';
import { countsOf, OTHER_METHODS } from '../../contract/methods.ts';
import { columnOf } from '../platform/db/activity-rows.ts';
import type { JobQuery } from '../platform/db/database.ts';
import { BY_EMAIL, methodCode, NEEDS_NO_EMAIL, WITHOUT_EMAIL } from '../platform/db/method-rows.ts';
import { writersOf } from '../platform/db/row-numbers.ts';
import { managedBy } from '../websites/managers.ts';

/**
 * Whether a row of the audit log is a sign-in of a visitor, a developer or an application's user. For a portal token, not its opening but
 * the session that follows counts.
 */
const IS_SIGN_IN = "(action in ('developer_signed_in', 'application_signed_in') or action = 'signed_in' and domain is not null)";

/** The rows that any of the statistics counts. */
const COUNTED = "action in ('sign_in_requested', 'signed_in', 'token_verified', 'developer_signed_in', 'application_signed_in')";

/** The UTC day of a row, as SQL. */
const DAY_OF_ROW = "(at at time zone 'UTC')::date";
/** The present UTC day, as SQL. */
export const TODAY = "(now() at time zone 'UTC')::date";
const FIRST_DAY = `${TODAY} - ${STATS_DAYS - 1}`;

/** The methods without an email that have a count of their own: its column in daily_sites, its name in the API, and its rows. */
const OWN_COUNTS = countsOf(OTHER_METHODS).map(({ method, name }) => ({
  column: columnOf(name),
  name,
  rows: `method = ${methodCode(method)}`,
}));

/** The counts of a website over rows of the audit log, by their columns in daily_sites. Rows with a client_id are of OpenID Connect. */
const WEBSITE_COUNTS: readonly { column: string; rows: string }[] = [
  { column: 'sent', rows: "action = 'sign_in_requested' and client_id is null" },
  { column: 'opened', rows: `action = 'signed_in' and ${BY_EMAIL}` },
  { column: 'again', rows: WITHOUT_EMAIL },
  ...OWN_COUNTS,
  { column: 'completed', rows: "action = 'token_verified'" },
  { column: 'completed_again', rows: `action = 'token_verified' and ${NEEDS_NO_EMAIL}` },
  { column: 'openid_again', rows: `${WITHOUT_EMAIL} and client_id is not null` },
  { column: 'openid_sent', rows: "action = 'sign_in_requested' and client_id is not null" },
  { column: 'openid_opened', rows: `action = 'application_signed_in' and ${BY_EMAIL}` },
];
const COLUMNS = WEBSITE_COUNTS.map(({ column }) => column);

/** Returns the counts that methods without an email have of their own, as columns of a result. @param of rows with the columns of daily_sites */
export const ownCounts = (of: string) =>
  OWN_COUNTS.map(({ column, name }) => `coalesce(${of}.${column}, 0)::float8 as "${name}"`).join(', ');

/** Selects the newest row, and the transactions that may still add a row before it. */
const NEWEST = `select (select max(id) from audit_log)::text as newest, ${writersOf('audit_log')} as writers`;

/**
 * Adds the next $2 numbers of the audit log, at most up to $1, to the totals, and returns the last number that they include; no row
 * when they are complete or another instance is adding to them. The row of roll_up is locked first and updated in the same commit, so
 * that every row counts once. The websites are locked until the end, so that none is deleted while its totals are written.
 */
const ADD_TO_TOTALS = `
with span as materialized (
  select last_audit_id as after, least(last_audit_id + $2::bigint, $1::bigint) as up_to
  from roll_up where only_row and last_audit_id < $1::bigint for update skip locked
),
event as materialized (
  select ${DAY_OF_ROW} as day, at, action, method, domain, client_id, website_id, application_id, seconds
  from audit_log where id > (select after from span) and id <= (select up_to from span) and ${COUNTED}
),
registered as materialized (
  select id, domain_since as since from websites w where id = any(array(select distinct website_id from event)) order by id for key share
),
website_event as materialized (
  select registered.id as website, day, action, method, seconds, client_id from event join registered on registered.id = website_id and at >= since
),
application as materialized (
  select id from applications where id = any(array(select distinct application_id from event)) order by id for key share
),
logins as (
  insert into daily_logins as old (day, logins)
  select day, count(*) from event where ${IS_SIGN_IN} group by day
  on conflict (day) do update set logins = old.logins + excluded.logins
),
sites as (
  insert into daily_sites as old (website, day, ${COLUMNS.join(', ')})
  select website, day, ${WEBSITE_COUNTS.map(({ rows }) => `count(*) filter (where ${rows})`).join(', ')}
  from website_event group by website, day
  on conflict (website, day) do update set ${COLUMNS.map((column) => `${column} = old.${column} + excluded.${column}`).join(', ')}
),
times as (
  insert into daily_site_times as old (website, day, seconds, opened, methods)
  select website, day, array_agg(seconds), array_agg(opened), array_agg(method) from (
    select website, day, method, seconds, count(*)::integer as opened
    from website_event where action = 'signed_in' and ${BY_EMAIL} and seconds is not null group by website, day, method, seconds
  ) counted group by website, day
  on conflict (website, day) do update set (seconds, opened, methods) = (
    select array_agg(seconds), array_agg(opened), array_agg(method) from (
      select seconds, sum(opened)::integer as opened, method from (
        select * from unnest(old.seconds, old.opened, old.methods)
        union all select * from unnest(excluded.seconds, excluded.opened, excluded.methods)
      ) both_of (seconds, opened, method) group by seconds, method
    ) merged
  )
),
applications as (
  insert into daily_applications as old (application, day, logins)
  select id, day, count(*) from event join application on id = application_id where action = 'application_signed_in' group by id, day
  on conflict (application, day) do update set logins = old.logins + excluded.logins
),
moved as (
  update roll_up set last_audit_id = up_to from span where only_row
)
select up_to::text as "upTo" from span`;

/** The sign-ins of each day, newest first. */
const DAILY_LOGINS = `
select given.day::text as date, coalesce(logins, 0)::float8 as count
from (select ${TODAY} - n as day from generate_series(0, ${STATS_DAYS - 1}) n) given left join daily_logins using (day)
order by given.day desc`;

/** The statistics of the websites of the address $1. The median is a measured time: of two in the middle, the lower one. */
const WEBSITE_STATS = `
with registered as materialized (select id from websites w where ${managedBy('w', '$1')}),
totals as (
  select website, ${COLUMNS.map((column) => `sum(${column}) as ${column}`).join(', ')}
  from daily_sites join registered on website = registered.id where day >= ${FIRST_DAY} group by website
),
times as (
  select website, entry.seconds, sum(entry.opened) as opened
  from daily_site_times t join registered on website = registered.id cross join unnest(t.seconds, t.opened) as entry (seconds, opened)
  where day >= ${FIRST_DAY} group by 1, 2
),
ranked as (
  select website, seconds, sum(opened) over (partition by website order by seconds) as up_to, sum(opened) over (partition by website) as total
  from times
),
median as (select website, min(seconds) as seconds from ranked where 2 * up_to >= total group by website)
select registered.id, coalesce(sent, 0)::float8 as sent, coalesce(opened, 0)::float8 as opened, coalesce(again, 0)::float8 as again,
  ${ownCounts('totals')},
  coalesce(completed, 0)::float8 as completed, median.seconds as "medianSeconds"
from registered left join totals on totals.website = registered.id left join median on median.website = registered.id
order by registered.id`;

/** The overview of the account with the address $1 and the id $2. */
const OVERVIEW = `
with owned as materialized (select id as application from applications where user_id = $2),
registered as materialized (select id from websites w where ${managedBy('w', '$1')})
select ((select coalesce(sum(opened + again + openid_opened), 0) from daily_sites join registered on website = registered.id where day >= ${FIRST_DAY})
    + (select coalesce(sum(logins), 0) from daily_applications join owned using (application) where day >= ${FIRST_DAY})
  )::float8 as "totalLogins",
  (select coalesce(sum(calls), 0) from api_key_days join api_keys on api_keys.id = api_key where user_id = $2 and day >= ${FIRST_DAY})::float8
    as "apiRequests"`;

// The statements run with settings that make the planner use the indexes: those of the core's pool.

/** Reads all sign-ins of the service per day, newest day first. */
export async function readDailyLogins(core: pg.Pool): Promise<Output<'dailyLogins'>> {
  return (await core.query<Output<'dailyLogins'>[number]>({ name: 'stats-daily', text: DAILY_LOGINS })).rows;
}

/** Reads the sign-ins of the websites that an address manages. */
export async function readWebsiteStats(core: pg.Pool, email: string): Promise<Output<'websiteStats'>> {
  const query = { name: 'stats-websites', text: WEBSITE_STATS, values: [email] };
  return (await core.query<Output<'websiteStats'>[number]>(query)).rows;
}

/** Reads how many sign-ins and API calls an account had. */
export async function readOverview(
  core: pg.Pool,
  account: { id: string; email: string },
): Promise<Omit<Output<'overview'>, 'uptimePercent' | 'activeApplications'>> {
  const query = { name: 'stats-overview', text: OVERVIEW, values: [account.email, account.id] };
  return (await core.query<{ totalLogins: number; apiRequests: number }>(query)).rows[0];
}

/** Returns how many applications of an account are active. */
export async function countActiveApplications(core: pg.Pool, userId: string): Promise<number> {
  const text = 'select count(*)::integer as count from applications where user_id = $1 and is_active';
  return (await core.query<{ count: number }>({ name: 'stats-applications', text, values: [userId] })).rows[0].count;
}

/** Returns the number of the newest row of the audit log, null when it is empty, and the transactions that may still add one before it. */
export async function findNewestRow(query: JobQuery): Promise<{ newest: string | null; writers: string[] }> {
  return (await query<{ newest: string | null; writers: string[] }>(NEWEST)).rows[0];
}

/**
 * Adds up to `maxRows` rows to the totals.
 * @returns the last row that they include, null when they are complete up to `newest` or another instance is adding to them
 */
export async function addToTotals(query: JobQuery, newest: string, maxRows: number): Promise<string | null> {
  return (await query<{ upTo: string }>(ADD_TO_TOTALS, [newest, maxRows])).rows[0]?.upTo ?? null;
}
