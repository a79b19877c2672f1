import pg from 'pg';
import { MIGRATIONS, migrate, migrateWithin } from '../../server/db/migrate.ts';
import { query } from '../postgres.ts';
import { compare, formatNumber, heading, row } from './report.ts';
import type { Stage } from './stage.ts';

/** Rows per insert. */
const CHUNK = 1_000_000;
/** The insert of a sign-in into the largest table. */
const SIGN_IN = "insert into audit_log (action, email, domain) values ('signed_in', 'v@mail.example', 'shop.example')";
/** The statement time-out of the service. */
const CLIENT_WAIT_MS = 2_500;

/** Measures the upgrade from the first schema with that many rows of the audit log, and how long inserts wait meanwhile. */
export async function measureUpgrade(stage: Stage, rows: number): Promise<void> {
  const url = await stage.createDatabase('service', 'upgrade');
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  try {
    await client.query('begin');
    await migrateWithin(client, MIGRATIONS.slice(0, 1));
    await client.query('commit');
    for (let from = 0; from < rows; from += CHUNK) await query(url, fill(from, Math.min(from + CHUNK, rows)));
    await client.query('checkpoint');

    heading(`Upgrade from ${MIGRATIONS[0]} with ${formatNumber(rows)} rows of the audit log`, 'value');
    const waits: number[] = [];
    let over = false;
    const inserts = (async () => {
      while (!over) {
        const start = performance.now();
        await client.query(SIGN_IN);
        waits.push(performance.now() - start);
      }
    })();
    const began = performance.now();
    await migrate(url, { report: (line) => console.log(`  ${formatNumber((performance.now() - began) / 1000, 1)} s  ${line.trim()}`) });
    const seconds = (performance.now() - began) / 1000;
    over = true;
    await inserts;
    waits.sort((a, b) => a - b);
    row('the whole upgrade, s', formatNumber(seconds, 1));
    row('inserts meanwhile', formatNumber(waits.length));
    row('  p50 ms', formatNumber(waits[Math.floor(waits.length * 0.5)], 1));
    row('  p99 ms', formatNumber(waits[Math.floor(waits.length * 0.99)], 1));
    compare('longest wait of an insert, ms', waits.at(-1) ?? 0, 'at most', CLIENT_WAIT_MS);
  } finally {
    await client.end();
  }
}

/** Returns an insert of audit rows, four of five of them about sign-ins of visitors. */
function fill(from: number, to: number): string {
  return `insert into audit_log (at, action, email, domain)
    select now() - interval '1 year' + n * interval '1 second',
      (array['sign_in_requested', 'signed_in', 'token_verified', 'signed_in_again', 'developer_signed_in'])[1 + n % 5],
      'v-' || n % 500000 || '@mail.example', case when n % 5 < 4 then 'shop.example' end from generate_series(${from}, ${to - 1}) n`;
}
