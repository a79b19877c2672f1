import type pg from 'pg';
import { STATS_DAYS } from '../../contract/limits.ts';
import type { Output } from '../../contract/routes.ts';
import { LOCALHOST } from '../../contract/rules.ts';
import { type JobQuery, writersOf } from '../db/writers.ts';
import { WITHOUT_EMAIL } from '../visitors/visits.ts';
import { managedBy } from '../websites/managers.ts';

/**
 * Whether a row of the audit log is a sign-in of a visitor, a developer or an application's user. For a portal token, not its opening but
 * the session that follows counts.
 */
const IS_SIGN_IN = `(action in ('developer_signed_in', 'application_signed_in') or (action in ('signed_in', ${WITHOUT_EMAIL}) and (domain is not null or client_id is not null)))`;

/** Whether a row is a sign-in of an application's user, by email or without one. */
const IS_APPLICATION_SIGN_IN = `(action = 'application_signed_in' or action in (${WITHOUT_EMAIL}) and client_id is not null)`;

/** The rows that any of the statistics counts. */
const COUNTED = `action in ('sign_in_requested', 'signed_in', ${WITHOUT_EMAIL}, 'token_verified', 'developer_signed_in', 'application_signed_in')`;

/** The UTC day of a row, as SQL. */
const DAY_OF_ROW = "(at at time zone 'UTC')::date";
/** The present UTC day, as SQL. */
export const TODAY = "(now() at time zone 'UTC')::date";
const FIRST_DAY = `${TODAY} - ${STATS_DAYS - 1}`;

/**
 * The host of a website that is a client of OpenID Connect, whose client_id is its origin; null for other rows. Such a sign-in ends
 * at the provider, so its rows have a client_id and no domain.
 */
const OPENID_HOST = "substring(client_id from '^https://([^/:]+)$')";

/** The counts of a website over rows of the audit log. Rows with a `host` are of OpenID Connect. `again`: the sign-ins without an email, of which two methods are counted by themselves too. */
const WEBSITE_COUNTS = `
  count(*) filter (where action = 'sign_in_requested' and host is null) as sent,
  count(*) filter (where action = 'signed_in') as opened,
  count(*) filter (where action in (${WITHOUT_EMAIL})) as again,
  count(*) filter (where action = 'signed_in_passkey') as by_passkey,
  count(*) filter (where action = 'signed_in_verified_email') as by_verified_email,
  count(*) filter (where action = 'token_verified') as completed,
  count(*) filter (where action = 'sign_in_requested' and host is not null) as openid_sent,
  count(*) filter (where action = 'application_signed_in') as openid_opened`;

/**
 * The seconds from the request to the opening, of a row of the audit log or an element of daily_site_times. The complement of the
 * seconds, which is negative, is stored for an opening by the code.
 */
export const positive = (seconds: string) => `greatest(${seconds}, ~${seconds})`;

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
  select ${DAY_OF_ROW} as day, at, action, domain, client_id, seconds, ${OPENID_HOST} as host
  from audit_log where id > (select after from span) and id <= (select up_to from span) and ${COUNTED}
),
host_domain as materialized (
  select host, array_to_string(labels[n:], '.') as domain
  from (select distinct host, string_to_array(host, '.') as labels from event where host is not null) of_event
  cross join lateral generate_series(1, cardinality(labels)) n
),
registered as materialized (
  select id, domain, domain_since as since from websites w
  where domain = any(array(select domain from event union select domain from host_domain)) order by id for key share
),
website_event as materialized (
  select registered.id as website, day, action, seconds, host from event join registered on registered.domain = event.domain and at >= since
  union all
  select registered.id, day, action, seconds, host
  from event join host_domain using (host) join registered on registered.domain = host_domain.domain and at >= since
),
logins as (
  insert into daily_logins as old (day, logins)
  select day, count(*) from event where ${IS_SIGN_IN} group by day
  on conflict (day) do update set logins = old.logins + excluded.logins
),
sites as (
  insert into daily_sites as old (website, day, sent, opened, again, by_passkey, by_verified_email, completed, openid_sent, openid_opened)
  select website, day, ${WEBSITE_COUNTS} from website_event group by website, day
  on conflict (website, day) do update set sent = old.sent + excluded.sent, opened = old.opened + excluded.opened,
    again = old.again + excluded.again, by_passkey = old.by_passkey + excluded.by_passkey,
    by_verified_email = old.by_verified_email + excluded.by_verified_email, completed = old.completed + excluded.completed,
    openid_sent = old.openid_sent + excluded.openid_sent, openid_opened = old.openid_opened + excluded.openid_opened
),
times as (
  insert into daily_site_times as old (website, day, seconds, opened)
  select website, day, array_agg(seconds), array_agg(opened) from (
    select website, day, seconds, count(*)::integer as opened
    from website_event where action = 'signed_in' and seconds is not null group by website, day, seconds
  ) counted group by website, day
  on conflict (website, day) do update set (seconds, opened) = (
    select array_agg(seconds), array_agg(opened) from (
      select seconds, sum(opened)::integer as opened from (
        select * from unnest(old.seconds, old.opened) union all select * from unnest(excluded.seconds, excluded.opened)
      ) both_of (seconds, opened) group by seconds
    ) merged
  )
),
applications as (
  insert into daily_applications as old (client_id, day, logins)
  select client_id, day, count(*) from event where ${IS_APPLICATION_SIGN_IN} and client_id is not null group by client_id, day
  on conflict (client_id, day) do update set logins = old.logins + excluded.logins
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

/** Returns the SQL condition that the sign-ins to a website `w` are those of the address $1. @param localhost also those to this computer, which no one owns */
export const countedFor = (localhost: boolean) =>
  localhost ? `(${managedBy('w', '$1')} or w.domain = '${LOCALHOST}')` : managedBy('w', '$1');

/** The statistics of the websites of the address $1; $2: only of these ids, or null. The median is a measured time: of two in the middle, the lower one. */
const WEBSITE_STATS = `
with registered as materialized (select id from websites w where ${countedFor(false)} and ($2::uuid[] is null or w.id = any($2))),
totals as (
  select website, sum(sent) as sent, sum(opened) as opened, sum(again) as again, sum(by_passkey) as by_passkey,
    sum(by_verified_email) as by_verified_email, sum(completed) as completed
  from daily_sites join registered on website = registered.id where day >= ${FIRST_DAY} group by website
),
times as (
  select website, ${positive('entry.seconds')} as seconds, sum(entry.opened) as opened
  from daily_site_times t join registered on website = registered.id cross join unnest(t.seconds, t.opened) as entry (seconds, opened)
  where day >= ${FIRST_DAY} group by 1, 2
),
ranked as (
  select website, seconds, sum(opened) over (partition by website order by seconds) as up_to, sum(opened) over (partition by website) as total
  from times
),
median as (select website, min(seconds) as seconds from ranked where 2 * up_to >= total group by website)
select registered.id, coalesce(sent, 0)::float8 as sent, coalesce(opened, 0)::float8 as opened, coalesce(again, 0)::float8 as again,
  coalesce(by_passkey, 0)::float8 as "byPasskey", coalesce(by_verified_email, 0)::float8 as "byVerifiedEmail",
  coalesce(completed, 0)::float8 as completed, median.seconds as "medianSeconds"
from registered left join totals on totals.website = registered.id left join median on median.website = registered.id
order by registered.id`;

/** Returns the overview of the account with the address $1 and the id $2, as SQL. @param localhost with the sign-ins to this computer */
const overviewWith = (localhost: boolean) => `
with application as materialized (select client_id from applications where user_id = $2),
registered as materialized (select id from websites w where ${countedFor(localhost)})
select ((select coalesce(sum(opened + again + openid_opened), 0) from daily_sites join registered on website = registered.id where day >= ${FIRST_DAY})
    + (select coalesce(sum(logins), 0) from daily_applications join application using (client_id) where day >= ${FIRST_DAY})
  )::float8 as "totalLogins",
  (select coalesce(sum(calls), 0) from api_key_days join api_keys on api_keys.id = api_key where user_id = $2 and day >= ${FIRST_DAY})::float8
    as "apiRequests"`;

const OVERVIEW = overviewWith(false);
const LOCAL_OVERVIEW = overviewWith(true);

// The statements run with settings that make the planner use the indexes: those of the core's pool.

/** Reads all sign-ins of the service per day, newest day first. */
export async function readDailyLogins(core: pg.Pool): Promise<Output<'dailyLogins'>> {
  return (await core.query<Output<'dailyLogins'>[number]>({ name: 'stats-daily', text: DAILY_LOGINS })).rows;
}

/** @param ids of the websites to read; null: all that the address manages */
export async function readWebsiteStats(core: pg.Pool, email: string, ids: string[] | null): Promise<Output<'websiteStats'>> {
  const query = { name: 'stats-websites', text: WEBSITE_STATS, values: [email, ids] };
  return (await core.query<Output<'websiteStats'>[number]>(query)).rows;
}

/** Reads how many sign-ins and API calls an account had. @param localhost with the sign-ins to this computer */
export async function readOverview(
  core: pg.Pool,
  account: { id: string; email: string },
  localhost: boolean,
): Promise<Omit<Output<'overview'>, 'uptimePercent' | 'activeApplications'>> {
  const query = { name: 'stats-overview', text: localhost ? LOCAL_OVERVIEW : OVERVIEW, values: [account.email, account.id] };
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
