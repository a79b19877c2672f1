import type { Output } from '../../contract/routes.ts';
import type { Reader } from '../db/read-replica.ts';
import { managedBy } from '../websites/managers.ts';
import { COUNTED, DAY_OF_ROW, IS_NEW, OPENID_HOST, positive, TODAY, WEBSITE_COUNTS, websiteSince } from './store.ts';

type History = Output<'websiteHistory'>;
type Counts = History['total'];
type DayRow = Counts & { date: string; median: History['median'] };

/**
 * The sign-ins of each of the last $3 days to the website with the id $2, if the address $1 manages it: its totals and the rows that
 * they do not include, in one snapshot. `median` is that of the whole period, in each row.
 */
export const WEBSITE_HISTORY = `
with registered as materialized (
  select id, domain, ${websiteSince('w')} as since from websites w where id = $2::uuid and ${managedBy('w', '$1')}
),
given as (select ${TODAY} - n as day from generate_series(0, $3::integer - 1) n),
new_row as materialized (
  select at, ${DAY_OF_ROW} as day, action, domain, seconds, ${OPENID_HOST} as host from audit_log where ${IS_NEW} and ${COUNTED}
),
website_new as materialized (
  select day, action, seconds, host from new_row join registered on at >= since
    and (new_row.domain = registered.domain or host = registered.domain or host like '%.' || registered.domain)
),
parts as (
  select day, sent, opened, again, completed, openid_sent, openid_opened from daily_sites join registered on website = registered.id
  where day > ${TODAY} - $3::integer
  union all
  select day, ${WEBSITE_COUNTS} from website_new group by day
),
counted as (
  select day, sum(sent) as sent, sum(opened) as opened, sum(again) as again, sum(completed) as completed,
    sum(openid_sent) as openid_sent, sum(openid_opened) as openid_opened
  from parts group by day
),
opening as materialized (
  select day, entry.seconds < 0 as by_code, ${positive('entry.seconds')} as seconds, entry.opened
  from daily_site_times t join registered on website = registered.id cross join unnest(t.seconds, t.opened) as entry (seconds, opened)
  where day > ${TODAY} - $3::integer
  union all
  select day, seconds < 0, ${positive('seconds')}, 1 from website_new
  where action = 'signed_in' and seconds is not null and day > ${TODAY} - $3::integer
),
coded as (select day, sum(opened) as opened from opening where by_code group by day),
ranked as (
  select method, seconds, sum(opened) over (partition by method order by seconds) as up_to, sum(opened) over (partition by method) as total
  from (
    select method, seconds, sum(opened) as opened
    from opening cross join lateral (values ('all'), (case when by_code then 'code' else 'link' end)) as kind (method)
    group by method, seconds
  ) timed
),
median as (select method, min(seconds) as seconds from ranked where 2 * up_to >= total group by method)
select given.day::text as date, coalesce(c.sent, 0)::float8 as sent, coalesce(c.opened, 0)::float8 as opened,
  coalesce(coded.opened, 0)::float8 as "openedByCode", coalesce(c.again, 0)::float8 as again, coalesce(c.completed, 0)::float8 as completed,
  coalesce(c.openid_sent, 0)::float8 as "openIdSent", coalesce(c.openid_opened, 0)::float8 as "openIdOpened",
  jsonb_build_object('all', (select seconds from median where method = 'all'), 'link', (select seconds from median where method = 'link'),
    'code', (select seconds from median where method = 'code')) as median
from registered cross join given left join counted c using (day) left join coded using (day)
order by given.day`;

/** Returns the sign-ins to a website, or null when the address does not manage it. @param days at most MAX_STATS_DAYS */
export async function readWebsiteHistory(reader: Reader, email: string, id: string, days: number): Promise<History | null> {
  const { rows } = await reader.query<DayRow>({ name: 'stats-history', text: WEBSITE_HISTORY, values: [email, id, days] });
  if (rows.length === 0) return null;
  const sum = (count: keyof Counts) => rows.reduce((total, row) => total + row[count], 0);
  return {
    total: {
      sent: sum('sent'),
      opened: sum('opened'),
      openedByCode: sum('openedByCode'),
      again: sum('again'),
      completed: sum('completed'),
      openIdSent: sum('openIdSent'),
      openIdOpened: sum('openIdOpened'),
    },
    median: rows[0].median,
    days: rows.map(({ median, ...day }) => day),
  };
}
