import { VISITOR_DAYS } from '../../contract/limits.ts';
import type { JobQuery } from '../platform/db/database.ts';
import { BY_EMAIL, WITHOUT_EMAIL } from '../platform/db/method-rows.ts';

/*
 * The visitors of websites are totals of the audit log up to a row number in visitor_roll_up. A job adds the later rows every minute, in
 * batches beside the totals of the statistics.
 */

/** The rows of the audit log that are sign-ins of visitors whose address was not erased. */
const IS_VISIT = `website_id is not null and action in ('signed_in', 'application_signed_in') and email like '%@%'`;

/** What is known of a visitor, over rows of the audit log. */
const COUNTS = `
  min(at) as first_at, max(at) as last_at, count(*) filter (where action = 'signed_in' and ${BY_EMAIL})::integer as by_email,
  count(*) filter (where ${WITHOUT_EMAIL})::integer as remembered,
  count(*) filter (where action = 'application_signed_in' and ${BY_EMAIL})::integer as openid`;

/** What is shown instead of an address that was erased. In the audit log, `erased-` and a random name stand for an address that the operator erased. */
export const ERASED = 'erased';

/**
 * Returns the SQL expression of the hash under which website_erasures stores an address: SHA-256 with the id of the website, so that
 * the hashes of two websites cannot be compared.
 * @param website the id, as SQL
 * @param email as SQL
 */
export const erasureHash = (website: string, email: string) => `sha256(convert_to(${website}::text || ' ' || ${email}, 'UTF8'))`;

/**
 * Returns the SQL condition that an address of a row was erased after what the row reports.
 * @param row.website its id, as SQL
 * @param row.at the time of the row, as SQL
 */
const isErased = ({ website, email, at }: { website: string; email: string; at: string }) => `exists (
    select from website_erasures erasure
    where erasure.website = ${website} and erasure.hash = ${erasureHash(website, email)} and erasure.at >= ${at})`;

/** Returns the SQL expression of the address that is shown for a row. */
export const shownAddress = (row: { website: string; email: string; at: string }) =>
  `case when strpos(${row.email}, '@') = 0 or ${isErased(row)} then '${ERASED}' else ${row.email} end`;

/**
 * Adds the next $2 numbers of the audit log, at most up to $1, to the visitors, and returns the last number that they include; no row
 * when they are complete or another instance is adding to them. The row of visitor_roll_up is locked first and updated in the same
 * commit, so that every row counts once.
 *
 * An erasure updates that row too (eraseFromWebsite). While it has not committed, the row is locked and skipped here. When it has committed
 * after the snapshot of this statement, the locked row has another number of erasures than the snapshot, and nothing is added: the next
 * run sees the erasure.
 */
const ADD_VISITS = `
with span as materialized (
  select last_audit_id as after, least(last_audit_id + $2::bigint, $1::bigint) as up_to
  from visitor_roll_up where only_row and last_audit_id < $1::bigint and erasures = (select erasures from visitor_roll_up)
  for update skip locked
),
visit as materialized (
  select at, action, method, email, website_id from audit_log
  where id > (select after from span) and id <= (select up_to from span) and ${IS_VISIT} and at > now() - interval '${VISITOR_DAYS} days'
),
registered as materialized (
  select id, domain_since as since from websites w where id = any(array(select distinct website_id from visit)) order by id for key share
),
added as (
  insert into website_visitors as old (website, email, first_at, last_at, by_email, remembered, openid)
  select registered.id, email, ${COUNTS} from visit join registered on registered.id = visit.website_id and at >= since
  where not ${isErased({ website: 'registered.id', email: 'visit.email', at: 'visit.at' })}
  group by registered.id, email order by registered.id, email
  on conflict (website, email) do update set first_at = least(old.first_at, excluded.first_at),
    last_at = greatest(old.last_at, excluded.last_at), by_email = old.by_email + excluded.by_email,
    remembered = old.remembered + excluded.remembered, openid = old.openid + excluded.openid
),
moved as (
  update visitor_roll_up set last_audit_id = up_to from span where only_row
)
select up_to::text as "upTo" from span`;

/**
 * Adds up to `maxRows` rows of the audit log to the visitors of websites.
 * @param newest all rows up to this one are committed
 * @returns the last row that they include, null when they are complete up to `newest` or have to wait
 */
export async function addVisits(query: JobQuery, newest: string, maxRows: number): Promise<string | null> {
  return (await query<{ upTo: string }>(ADD_VISITS, [newest, maxRows])).rows[0]?.upTo ?? null;
}
