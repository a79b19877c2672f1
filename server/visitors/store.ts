import type pg from 'pg';
import { MAX_EXPORTED_VISITORS, VISITORS_PAGE } from '../../contract/limits.ts';
import type { Parsed } from '../../contract/routes.ts';
import type { Reader } from '../db/read-replica.ts';
import { isErased } from './erased.ts';
import { COUNTS, clientHost, IS_VISIT, SINCE } from './visits.ts';

/** Rows that a call reads beyond the sums. More rows wait only after an upgrade, or when the job does not run. */
const MAX_NEW_ROWS = 100_000;

/** The visitors of the website $1, with the rows that the sums do not include, in one snapshot. */
const VISITORS = `
site as materialized (select id, domain, ${SINCE} as since from websites w where id = $1),
newest as materialized (select coalesce(max(id), 0) as id from audit_log),
span as materialized (
  select last_audit_id as after, least(newest.id, last_audit_id + ${MAX_NEW_ROWS}) as up_to, newest.id <= last_audit_id + ${MAX_NEW_ROWS} as complete
  from visitor_roll_up cross join newest
),
new_row as materialized (
  select at, action, email, domain, client_id from audit_log
  where id > (select after from span) and id <= (select up_to from span) and ${IS_VISIT}
),
new_visit as materialized (
  select email, ${COUNTS}
  from new_row a cross join site
  where at >= since and case when a.domain is not null then a.domain = site.domain else ('.' || ${clientHost('client_id')}) like '%.' || site.domain end
    and not ${isErased({ website: 'site.id', email: 'a.email', at: 'a.at' })}
  group by email
),
visitor as (
  select email, min(first_at) as first_at, max(last_at) as last_at, sum(by_email) as by_email, sum(remembered) as remembered, sum(openid) as openid
  from (
    select email, first_at, last_at, by_email, remembered, openid from website_visitors where website = $1
    union all
    select email, first_at, last_at, by_email, remembered, openid from new_visit
  ) parts group by email
)`;

const ROW = `email, first_at as "firstAt", last_at as "lastAt", by_email::integer as "byEmail", remembered::integer, openid::integer`;

type Query = Parsed<'listVisitors'>;

const SORTS: Record<Query['sort'], string> = {
  last: 'last_at',
  first: 'first_at',
  count: '(by_email + remembered + openid)',
  email: 'email',
};

// $2: a part of the address, $3: the number of visitors before the page.
const listStatement = ({ sort, order }: Pick<Query, 'sort' | 'order'>) => `
with ${VISITORS},
matching as materialized (select * from visitor where $2 = '' or strpos(email, $2) > 0),
page as (select ${ROW} from matching order by ${SORTS[sort]} ${order}, email limit ${VISITORS_PAGE} offset $3)
select (select count(*) from matching)::integer as total, (select complete from span) as complete,
  coalesce((select json_agg(page) from page), '[]') as visitors`;

// $2: the last address of the previous response, $3: the only address; null: all.
const EXPORT = `
with ${VISITORS}
select ${ROW} from visitor where email > $2 and ($3::text is null or email = $3) order by email limit ${MAX_EXPORTED_VISITORS + 1}`;

/** An address that signed in to a website. */
export type VisitorRow = { email: string; firstAt: Date; lastAt: Date; byEmail: number; remembered: number; openid: number };

type Page = {
  total: number;
  complete: boolean;
  visitors: (Omit<VisitorRow, 'firstAt' | 'lastAt'> & { firstAt: string; lastAt: string })[];
};

/** Returns one page of the visitors of a website. */
export async function readVisitors(
  core: pg.Pool,
  { id, search, sort, order, page }: Query,
): Promise<{ total: number; complete: boolean; visitors: VisitorRow[] }> {
  const query = {
    name: `visitors-${sort}-${order}`,
    text: listStatement({ sort, order }),
    values: [id, search, (page - 1) * VISITORS_PAGE],
  };
  const [{ visitors, ...rest }] = (await core.query<Page>(query)).rows;
  return { ...rest, visitors: visitors.map((row) => ({ ...row, firstAt: new Date(row.firstAt), lastAt: new Date(row.lastAt) })) };
}

/**
 * Returns the visitors of a website after an address, in the order of their addresses; one more than a response has when there are more.
 * @param email the only visitor to return; null: all
 */
export async function readVisitorsAfter(reader: Reader, id: string, after: string, email: string | null): Promise<VisitorRow[]> {
  return (await reader.query<VisitorRow>({ name: 'visitors-export', text: EXPORT, values: [id, after, email] })).rows;
}
