import pg from 'pg';
import { rollUp, Stats } from '../../server/activity/stats.ts';
import { openDatabase } from '../../server/platform/db/database.ts';
import { migrate } from '../../server/platform/db/migrate.ts';
import { sqlFunctions } from '../../server/signin/sql-functions.ts';
import { query } from '../support/postgres.ts';
import { compare, formatNumber, heading, row } from './report.ts';
import type { Stage } from './stage.ts';

/** Sign-ins per insert. */
const CHUNK = 500_000;
const ROWS_EACH = 3;
const DAYS = 40;
const SITES = 1_000;
const OWN_SITES = 20;
/** Sign-ins of a minute under full load, which the next run of the job aggregates. */
const LATE_SIGN_INS = 20_000;
const CALLS = 200;
const ACCOUNT = { id: '018f0000-0000-7000-8000-000000000000', email: 'owner@mail.example', name: null };

/** Measures the statistics over the audit log of many sign-ins: all aggregated, and with the load of one minute not yet aggregated. */
export async function measureStats(stage: Stage, signIns: number): Promise<void> {
  const url = await stage.createDatabase('service', 'stats');
  const database = openDatabase(url);
  const jobs = new pg.Pool({ connectionString: url, max: 1 });
  try {
    await migrate(url, { functions: sqlFunctions });
    await query(
      url,
      `insert into websites (id, domain, email, claimed_at, domain_since)
       select gen_random_uuid(), 'site-' || n || '.example', case when n < ${OWN_SITES} then '${ACCOUNT.email}' else 'n-' || n || '@mail.example' end,
         now(), now() - interval '90 days' from generate_series(0, ${SITES - 1}) n`,
    );
    for (let from = 0; from < signIns; from += CHUNK) await query(url, fill(from, Math.min(from + CHUNK, signIns), signIns));
    const stats = new Stats({ core: database.core, uptime: async () => null });
    const rollUpAll = async () => {
      const began = performance.now();
      const { signal } = new AbortController();
      await rollUp((text, values) => jobs.query(text, values), { signal, maxMs: 3_600_000 });
      return (performance.now() - began) / 1000;
    };

    heading(
      `Statistics over ${formatNumber(signIns)} sign-ins, ${formatNumber(signIns * ROWS_EACH)} rows of the audit log`,
      'p50 ms',
      'p99 ms',
    );
    const seconds = await rollUpAll();
    row('the job, rows per second', formatNumber((signIns * ROWS_EACH) / seconds));
    for (const late of [0, LATE_SIGN_INS]) {
      if (late > 0) await query(url, fill(signIns - late, signIns, signIns));
      row(late === 0 ? 'all rows aggregated' : `${formatNumber(late * ROWS_EACH)} rows not aggregated`);
      for (const [name, ask] of [
        ['dailyLogins', () => stats.dailyLogins()],
        [`websiteStats, ${OWN_SITES} sites`, () => stats.ofWebsites(ACCOUNT)],
        ['overview', () => stats.overview(ACCOUNT)],
      ] as const) {
        const { p50, p99 } = await timesOf(ask);
        row(`  ${name}`, formatNumber(p50, 1), formatNumber(p99, 1));
        if (late === 0) compare(`${name}, p99 ms`, p99, 'at most', 100);
      }
    }
    row('the job, for these rows, ms', formatNumber((await rollUpAll()) * 1000));
  } finally {
    await jobs.end();
    await database.close();
  }
}

async function timesOf(ask: () => Promise<unknown>): Promise<{ p50: number; p99: number }> {
  await ask();
  const times: number[] = [];
  for (let n = 0; n < CALLS; n++) {
    const start = performance.now();
    await ask();
    times.push(performance.now() - start);
  }
  times.sort((a, b) => a - b);
  return { p50: times[Math.floor(CALLS * 0.5)], p99: times[Math.floor(CALLS * 0.99)] };
}

/** Returns an insert of the sign-ins `from` to `to` of all, from email to verified token, spread over the days up to now. */
function fill(from: number, to: number, all: number): string {
  return `insert into audit_log (at, action, email, domain, website_id, seconds, method)
    select now() - interval '${DAYS} days' * (1 - n::float8 / ${all}), (array['sign_in_requested', 'signed_in', 'token_verified'])[step],
      'v-' || n || '@mail.example', 'site-' || n % ${SITES} || '.example', (select id from websites where domain = 'site-' || n % ${SITES} || '.example'), case when step = 2 then 5 + (300 * power(n / ${SITES} * 7 % 1000 / 1000.0, 4))::integer end, case when step = 2 then 'l'::"char" end
    from generate_series(${from}, ${to - 1}) n, generate_series(1, ${ROWS_EACH}) step`;
}
