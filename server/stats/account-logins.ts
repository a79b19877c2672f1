import type { Output } from '../../contract/routes.ts';
import type { Reader } from '../db/read-replica.ts';
import { managedBy } from '../websites/managers.ts';
import { DAY_OF_ROW, IS_APPLICATION_SIGN_IN, IS_NEW, OPENID_HOST, TODAY, websiteSince } from './store.ts';

/**
 * The sign-ins per day of the account with the address $1 and the id $2 in $3 days up to today, their total, and that of the $3 days
 * before. `complete`: whether the account had a website or an application during all of those.
 */
export const ACCOUNT_LOGINS = `
with application as materialized (select client_id, created_at from applications where user_id = $2),
registered as materialized (select id, domain, ${websiteSince('w')} as since from websites w where ${managedBy('w', '$1')}),
new_row as materialized (
  select at, ${DAY_OF_ROW} as day, action, domain, client_id, string_to_array(${OPENID_HOST}, '.') as labels from audit_log
  where ${IS_NEW} and action in ('signed_in', 'signed_in_again', 'application_signed_in')
),
counted as materialized (
  select day, opened + again + openid_opened as logins from daily_sites join registered on website = registered.id where day > ${TODAY} - 2 * $3::integer
  union all
  select day, logins from daily_applications join application using (client_id) where day > ${TODAY} - 2 * $3::integer
  union all
  select day, 1 from new_row join registered using (domain) where at >= since
  union all
  select day, 1 from new_row cross join lateral generate_series(1, cardinality(labels)) n
    join registered on registered.domain = array_to_string(labels[n:], '.') and at >= since
  union all
  select day, 1 from new_row join application using (client_id) where ${IS_APPLICATION_SIGN_IN}
),
each_day as materialized (
  select given.day, coalesce(sum(logins), 0)::float8 as count
  from (select ${TODAY} - n as day from generate_series(0, 2 * $3::integer - 1) n) given left join counted using (day) group by given.day
)
select
  (select json_agg(json_build_object('date', day, 'count', count) order by day) from each_day where day > ${TODAY} - $3::integer) as days,
  (select sum(count) from each_day where day > ${TODAY} - $3::integer) as total,
  (select sum(count) from each_day where day <= ${TODAY} - $3::integer) as previous,
  coalesce((select min(at) from (select since as at from registered union all select created_at from application) begun)
    < (${TODAY} - 2 * $3::integer + 1)::timestamp at time zone 'UTC', false) as complete`;

type Logins = Pick<Output<'accountLogins'>, 'days' | 'total'> & { previous: number; complete: boolean };

/** Reads the sign-ins of an account. @param days how many days, up to today */
export async function readAccountLogins(
  reader: Reader,
  account: { id: string; email: string },
  days: number,
): Promise<Output<'accountLogins'>> {
  const values = [account.email, account.id, days];
  const { rows } = await reader.query<Logins>({ name: 'stats-account-logins', text: ACCOUNT_LOGINS, values });
  const { previous, complete, ...logins } = rows[0];
  return { ...logins, previousTotal: complete ? previous : null };
}
