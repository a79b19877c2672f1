import { STATS_DAYS } from '../../contract/limits.ts';

/** Whether a row of the audit log is a sign-in: of a visitor, a developer or an application's user. A portal token's opening is none, the session that follows it is. */
const IS_SIGN_IN =
  "(action in ('developer_signed_in', 'application_signed_in') or (action in ('signed_in', 'signed_in_again') and domain is not null))";

/** The rows that any figure counts. */
const COUNTED =
  "action in ('sign_in_requested', 'signed_in', 'signed_in_again', 'token_verified', 'developer_signed_in', 'application_signed_in')";

const DAY_OF_ROW = "(at at time zone 'UTC')::date";
const TODAY = "(now() at time zone 'UTC')::date";
const FIRST_DAY = `${TODAY} - ${STATS_DAYS - 1}`;

/** The four sums of a site over rows of the audit log. */
const SITE_SUMS = `
  count(*) filter (where action = 'sign_in_requested') as sent,
  count(*) filter (where action = 'signed_in') as opened,
  count(*) filter (where action = 'signed_in_again') as again,
  count(*) filter (where action = 'token_verified') as completed`;

/** Since when a site has had its domain; what happened there before belongs to nobody who could see it. */
const siteSince = (site: string) => `coalesce(${site}.moved_at, ${site}.created_at)`;

/**
 * The newest row, and the transactions that may still add one before it.
 *
 * Identity columns number rows in the order of their inserts, and transactions commit in another. Whoever inserts holds
 * RowExclusiveLock on the table from before the number is drawn until the end. So once everybody who holds it after the newest
 * row was seen has ended, no row up to that one can appear any more, however long a transaction takes.
 */
export const NEWEST = `
select (select max(id) from audit_log)::text as newest, array(
  select virtualtransaction from pg_locks
  where relation = 'audit_log'::regclass and mode = 'RowExclusiveLock' and granted
    and database = (select oid from pg_database where datname = current_database())
) as writers`;

/** Of the transactions $1, those that have not ended. */
export const STILL_WRITING = `
select count(distinct virtualtransaction)::integer as writers from pg_locks
where relation = 'audit_log'::regclass and virtualtransaction = any($1::text[])`;

/**
 * Adds the next $2 numbers of the audit log, at most up to $1, to the sums, and returns how far they go then; nothing when all
 * is summed up or another instance is at it. The row of roll_up is locked first and moved on in the same commit: every row
 * counts once. A site is held until the end, so that it cannot go while its sums are written.
 */
export const SUM_UP = `
with span as materialized (
  select last_audit_id as after, least(last_audit_id + $2::bigint, $1::bigint) as up_to
  from roll_up where only_row and last_audit_id < $1::bigint for update skip locked
),
event as materialized (
  select ${DAY_OF_ROW} as day, at, action, domain, client_id, seconds
  from audit_log where id > (select after from span) and id <= (select up_to from span) and ${COUNTED}
),
site as materialized (
  select id, domain, ${siteSince('w')} as since from websites w
  where domain = any(array(select distinct domain from event)) order by id for key share
),
site_event as materialized (
  select site.id as website, day, action, seconds from event join site on site.domain = event.domain and at >= since
),
logins as (
  insert into daily_logins as old (day, logins)
  select day, count(*) from event where ${IS_SIGN_IN} group by day
  on conflict (day) do update set logins = old.logins + excluded.logins
),
sites as (
  insert into daily_sites as old (website, day, sent, opened, again, completed)
  select website, day, ${SITE_SUMS} from site_event group by website, day
  on conflict (website, day) do update set sent = old.sent + excluded.sent, opened = old.opened + excluded.opened,
    again = old.again + excluded.again, completed = old.completed + excluded.completed
),
times as (
  insert into daily_site_times as old (website, day, seconds, opened)
  select website, day, array_agg(seconds), array_agg(opened) from (
    select website, day, seconds, count(*)::integer as opened
    from site_event where action = 'signed_in' and seconds is not null group by website, day, seconds
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
  select client_id, day, count(*) from event where action = 'application_signed_in' and client_id is not null group by client_id, day
  on conflict (client_id, day) do update set logins = old.logins + excluded.logins
),
moved as (
  update roll_up set last_audit_id = up_to from span where only_row
)
select up_to::text as "upTo" from span`;

/** The rows that the sums do not hold yet. Asked for in one snapshot with the sums, so that figures are exact at any moment. */
const IS_LATE = 'id > (select last_audit_id from roll_up)';

/** Sign-ins of every one of the days, newest first. */
export const DAILY_LOGINS = `
with late as materialized (select ${DAY_OF_ROW} as day, count(*) as logins from audit_log where ${IS_LATE} and ${IS_SIGN_IN} group by day)
select given.day::text as date, (coalesce(sums.logins, 0) + coalesce(late.logins, 0))::float8 as count
from (select ${TODAY} - n as day from generate_series(0, ${STATS_DAYS - 1}) n) given
left join daily_logins sums on sums.day = given.day
left join late on late.day = given.day
order by given.day desc`;

// The sites of the address $1, with their late rows.
const OWN_SITES = `
site as materialized (select id, domain, ${siteSince('w')} as since from websites w where email = $1),
late as materialized (
  select at, action, domain, seconds from audit_log where ${IS_LATE} and domain = any(array(select domain from site)) and ${COUNTED}
),
site_late as materialized (
  select site.id as website, action, seconds from late join site on site.domain = late.domain and at >= since
  where ${DAY_OF_ROW} >= ${FIRST_DAY}
)`;

/** The figures of the sites of the address $1. The median is a time that was measured, the lower one of two in the middle. */
export const SITE_FIGURES = `
with ${OWN_SITES},
parts as (
  select website, sent, opened, again, completed from daily_sites join site on website = site.id where day >= ${FIRST_DAY}
  union all
  select website, ${SITE_SUMS} from site_late group by website
),
sums as (
  select website, sum(sent) as sent, sum(opened) as opened, sum(again) as again, sum(completed) as completed from parts group by website
),
times as (
  select website, seconds, sum(opened) as opened from (
    select website, entry.seconds, entry.opened
    from daily_site_times t join site on website = site.id cross join unnest(t.seconds, t.opened) as entry (seconds, opened)
    where day >= ${FIRST_DAY}
    union all
    select website, seconds, 1 from site_late where action = 'signed_in' and seconds is not null
  ) each group by website, seconds
),
ranked as (
  select website, seconds, sum(opened) over (partition by website order by seconds) as up_to, sum(opened) over (partition by website) as total
  from times
),
median as (select website, min(seconds) as seconds from ranked where 2 * up_to >= total group by website)
select site.id, coalesce(sent, 0)::float8 as sent, coalesce(opened, 0)::float8 as opened, coalesce(again, 0)::float8 as again,
  coalesce(completed, 0)::float8 as completed, median.seconds as "medianSeconds"
from site left join sums on sums.website = site.id left join median on median.website = site.id
order by site.id`;

/** The overview of the account with the address $1 and the id $2. */
export const OVERVIEW = `
with application as materialized (select client_id, is_active from applications where user_id = $2),
${OWN_SITES},
application_late as (
  select count(*) as logins from audit_log
  where ${IS_LATE} and client_id = any(array(select client_id from application))
    and action = 'application_signed_in' and ${DAY_OF_ROW} >= ${FIRST_DAY}
)
select ((select coalesce(sum(opened + again), 0) from daily_sites join site on website = site.id where day >= ${FIRST_DAY})
    + (select count(*) from site_late where action in ('signed_in', 'signed_in_again'))
    + (select coalesce(sum(logins), 0) from daily_applications join application using (client_id) where day >= ${FIRST_DAY})
    + (select logins from application_late))::float8 as "totalLogins",
  (select count(*) from application where is_active)::integer as "activeApplications",
  (select coalesce(sum(calls), 0) from api_key_days join api_keys on api_keys.id = api_key where user_id = $2 and day >= ${FIRST_DAY})::float8
    as "apiRequests"`;
