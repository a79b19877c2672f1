import type pg from 'pg';
import type { Output, Parsed } from '../../contract/calls.ts';
import { Fault } from '../../contract/errors.ts';
import { countsOf, EMAIL_METHODS } from '../../contract/methods.ts';
import type { JobQuery } from '../platform/db/database.ts';
import { METHOD_NAME, methodCode } from '../platform/db/method-rows.ts';
import { waitForWriters } from '../platform/db/row-numbers.ts';
import { type Account, type Endpoint, handle } from '../platform/http/endpoint.ts';
import { managedBy } from '../websites/managers.ts';
import { addVisits } from '../websites/visits.ts';
import {
  addToTotals,
  countActiveApplications,
  findNewestRow,
  ownCounts,
  readDailyLogins,
  readOverview,
  readWebsiteStats,
  TODAY,
} from './stats-store.ts';

type Parts = {
  core: pg.Pool;
  /** Returns the availability of the service in percent, null while there is not enough data. */
  uptime: () => Promise<number | null>;
};

/** Statistics of the last 30 UTC days where nothing else is given. They are totals, at most a minute late. */
export class Stats {
  readonly #parts: Parts;

  constructor(parts: Parts) {
    this.#parts = parts;
  }

  /** Returns the sign-ins of the account's websites, each from the time when the website became the account's. */
  ofWebsites({ email }: Account): Promise<Output<'websiteStats'>> {
    return readWebsiteStats(this.#parts.core, email);
  }

  /** Returns the sign-ins to one website of the account, per day. @throws Fault website_not_found */
  async history(account: Account, { id, days }: Parsed<'websiteHistory'>): Promise<Output<'websiteHistory'>> {
    const history = await readWebsiteHistory(this.#parts.core, account.email, id, days);
    if (!history) throw new Fault('website_not_found');
    return history;
  }

  async overview(account: Account): Promise<Output<'overview'>> {
    const { core, uptime } = this.#parts;
    const [{ totalLogins, apiRequests }, activeApplications, uptimePercent] = await Promise.all([
      readOverview(core, account),
      countActiveApplications(core, account.id),
      uptime(),
    ]);
    return { totalLogins, activeApplications, apiRequests, uptimePercent };
  }

  /** Returns the sign-ins to the account's websites and applications per day. @param days how many days, up to today */
  loginsOf(account: Account, days: number): Promise<Output<'accountLogins'>> {
    return readAccountLogins(this.#parts.core, account, days);
  }

  /** Returns all sign-ins of the service, newest day first, including days without any. */
  dailyLogins(): Promise<Output<'dailyLogins'>> {
    return readDailyLogins(this.#parts.core);
  }
}

/** Binds the calls of statistics. */
export function statsEndpoints(stats: Stats): Endpoint[] {
  return [
    handle('websiteStats', (_, { account }) => stats.ofWebsites(account)),
    handle('websiteHistory', (input, { account }) => stats.history(account, input)),
    handle('overview', (_, { account }) => stats.overview(account)),
    handle('accountLogins', ({ days }, { account }) => stats.loginsOf(account, days)),
    handle('dailyLogins', () => stats.dailyLogins()),
  ];
}

/**
 * The sign-ins per day of the account with the address $1 and the id $2 in $3 days up to today, their total, and that of the $3 days
 * before. `complete`: whether the account had a website or an application during all of those.
 */
const ACCOUNT_LOGINS = `
with owned as materialized (select id as application, created_at from applications where user_id = $2),
registered as materialized (select id, domain_since as since from websites w where ${managedBy('w', '$1')}),
counted as materialized (
  select day, opened + again + openid_opened as logins from daily_sites join registered on website = registered.id where day > ${TODAY} - 2 * $3::integer
  union all
  select day, logins from daily_applications join owned using (application) where day > ${TODAY} - 2 * $3::integer
),
each_day as materialized (
  select given.day, coalesce(sum(logins), 0)::float8 as count
  from (select ${TODAY} - n as day from generate_series(0, 2 * $3::integer - 1) n) given left join counted using (day) group by given.day
)
select
  (select json_agg(json_build_object('date', day, 'count', count) order by day) from each_day where day > ${TODAY} - $3::integer) as days,
  (select sum(count) from each_day where day > ${TODAY} - $3::integer) as total,
  (select sum(count) from each_day where day <= ${TODAY} - $3::integer) as previous,
  coalesce((select min(at) from (select since as at from registered union all select created_at from owned) begun)
    < (${TODAY} - 2 * $3::integer + 1)::timestamp at time zone 'UTC', false) as complete`;

type Logins = Omit<Output<'accountLogins'>, 'previousTotal'> & { previous: number; complete: boolean };

/** Reads the sign-ins of an account. @param days how many days, up to today */
async function readAccountLogins(core: pg.Pool, account: { id: string; email: string }, days: number): Promise<Output<'accountLogins'>> {
  const values = [account.email, account.id, days];
  const { rows } = await core.query<Logins>({ name: 'stats-account-logins', text: ACCOUNT_LOGINS, values });
  const { previous, complete, ...logins } = rows[0];
  return { ...logins, previousTotal: complete ? previous : null };
}

type History = Output<'websiteHistory'>;
type Counts = History['total'];
type DayRow = Counts & { date: string; median: History['median'] };

/** The counts that methods by email have of their own. */
const EMAIL_COUNTS = countsOf(EMAIL_METHODS);

/**
 * The sign-ins of each of the last $3 days to the website with the id $2, if the address $1 manages it. `median` is that of the whole
 * period, in each row.
 */
const WEBSITE_HISTORY = `
with registered as materialized (select id from websites w where id = $2::uuid and ${managedBy('w', '$1')}),
given as (select ${TODAY} - n as day from generate_series(0, $3::integer - 1) n),
counted as (
  select daily_sites.* from daily_sites join registered on website = registered.id where day > ${TODAY} - $3::integer
),
opening as materialized (
  select day, entry.method, entry.seconds, entry.opened
  from daily_site_times t join registered on website = registered.id cross join unnest(t.seconds, t.opened, t.methods) as entry (seconds, opened, method)
  where day > ${TODAY} - $3::integer
),
own as (
  select day, ${EMAIL_COUNTS.map(({ name, method }) => `sum(opened) filter (where method = ${methodCode(method)}) as "${name}"`).join(', ')}
  from opening group by day
),
ranked as (
  select kind, seconds, sum(opened) over (partition by kind order by seconds) as up_to, sum(opened) over (partition by kind) as total
  from (
    select kind, seconds, sum(opened) as opened
    from opening cross join lateral (values ('all'), (${METHOD_NAME})) as of_opening (kind)
    group by kind, seconds
  ) timed
),
median as (select kind, min(seconds) as seconds from ranked where 2 * up_to >= total group by kind)
select given.day::text as date, coalesce(c.sent, 0)::float8 as sent, coalesce(c.opened, 0)::float8 as opened,
  ${EMAIL_COUNTS.map(({ name }) => `coalesce(own."${name}", 0)::float8 as "${name}"`).join(', ')}, coalesce(c.again, 0)::float8 as again,
  ${ownCounts('c')}, coalesce(c.completed, 0)::float8 as completed, coalesce(c.completed_again, 0)::float8 as "completedAgain",
  coalesce(c.openid_again, 0)::float8 as "openIdAgain", coalesce(c.openid_sent, 0)::float8 as "openIdSent", coalesce(c.openid_opened, 0)::float8 as "openIdOpened",
  jsonb_build_object(${['all', ...EMAIL_METHODS].map((kind) => `'${kind}', (select seconds from median where kind = '${kind}')`).join(', ')}) as median
from registered cross join given left join counted c using (day) left join own using (day)
order by given.day`;

/** Returns the sign-ins to a website, or null when the address does not manage it. @param days at most MAX_STATS_DAYS */
async function readWebsiteHistory(core: pg.Pool, email: string, id: string, days: number): Promise<History | null> {
  const { rows } = await core.query<DayRow>({ name: 'stats-history', text: WEBSITE_HISTORY, values: [email, id, days] });
  if (rows.length === 0) return null;
  const [{ date, median, ...counts }] = rows;
  const sumOf = (count: string) => rows.reduce((total, row) => total + row[count as keyof Counts], 0);
  return {
    total: Object.fromEntries(Object.keys(counts).map((count) => [count, sumOf(count)])) as Counts,
    median,
    days: rows.map(({ median, ...day }) => day),
  };
}

const MAX_BATCH_ROWS = 5_000;

/**
 * Adds all rows of the audit log up to the newest one to the totals, then to the visitors of websites. Any number of instances may do so at once; each row counts once.
 * @param options.signal stops it between two batches
 * @param options.maxMs how long it may take
 * @returns false when a transaction was writing for so long that the totals have to wait
 */
export async function rollUp(query: JobQuery, options: { signal: AbortSignal; maxMs: number }): Promise<boolean> {
  const { signal, maxMs } = options;
  const end = Date.now() + maxMs;
  const { newest, writers } = await findNewestRow(query);
  if (newest === null) return true;
  if (!(await waitForWriters(query, writers, signal))) return false;
  for (const add of [addToTotals, addVisits]) {
    let upTo: string | null = '';
    while (upTo !== null && upTo !== newest && !signal.aborted && Date.now() < end) upTo = await add(query, newest, MAX_BATCH_ROWS);
  }
  return true;
}
