import { setTimeout as sleep } from 'node:timers/promises';
import pg from 'pg';
import { dropPartition, TOKENS } from '../../server/platform/db/partitions.ts';
import { query } from '../support/postgres.ts';
import { addTokens, measureSignIns, measureVerify, median, medianOf, type Round, type Tokens } from './measure.ts';
import { compare, formatNumber, heading, row } from './report.ts';
import { type Contestant, registerWebsite, SITE, type Stage } from './stage.ts';

/** `rows` of each table; `open`: how many of the attempts and tokens are unused; `dropped`: rows of a partition that is dropped at the end. */
type Plan = {
  rows: number;
  open: number;
  dropped: number;
  rounds: number;
  connections: number;
  seconds: { signIns: number; verify: number };
};

/** Compares the median times of the service on a database with many rows and on an empty one, in alternating rounds. */
export async function measureGrowth(stage: Stage, plan: Plan): Promise<void> {
  const { rows, open, dropped, rounds, connections, seconds } = plan;
  const empty = await stage.start('service', await stage.createDatabase('service', 'empty'));
  const grown = await stage.start('service', await stage.createDatabase('service', 'grown'));
  for (const contestant of [empty, grown]) await registerWebsite(contestant);
  for (const insert of fill(rows, open)) await query(grown.databaseUrl, insert);
  await query(grown.databaseUrl, 'vacuum analyze');
  await query(grown.databaseUrl, 'checkpoint');

  const both: { contestant: Contestant; tokens: Tokens; signIns: Round[]; verify: Round[] }[] = [];
  for (const contestant of [empty, grown]) {
    const tokens = await addTokens(contestant, 'growth', Math.ceil(40_000 * (rounds + 1) * seconds.verify));
    both.push({ contestant, tokens, signIns: [], verify: [] });
  }
  for (let round = -1; round < rounds; round++)
    for (const { contestant, tokens, signIns, verify } of both) {
      const signIn = await measureSignIns(stage, contestant, connections, seconds.signIns);
      const verified = await measureVerify(stage, contestant, tokens, connections, seconds.verify);
      // The first round warms up.
      if (round < 0) continue;
      signIns.push(signIn);
      verify.push(verified);
    }
  const [small, big] = both.map(({ signIns, verify }) => ({ signIn: medianOf(signIns), verify: medianOf(verify) }));
  heading(`C. Growth to ${formatNumber(rows)} rows and ${formatNumber(open)} open links`, 'empty', 'grown');
  const sizes = await Promise.all([empty, grown].map(({ databaseUrl }) => query(databaseUrl, SIZE)));
  row('database, MB', ...sizes.map(([{ megabytes }]) => formatNumber(Number(megabytes))));
  for (const [name, key] of [
    ['sign-in', 'signIn'],
    ['verify-token', 'verify'],
  ] as const) {
    const each = (figure: keyof Round, digits: number) => [small, big].map((medians) => formatNumber(medians[key][figure], digits));
    row(`${name}, p50 ms`, ...each('p50', 2));
    row('  CPU s/1,000, server', ...each('serverCpu', 3));
    row('  CPU s/1,000, PostgreSQL', ...each('postgresCpu', 3));
    row('  WAL, bytes', ...each('walBytes', 0));
  }
  compare('sign-in, grown ÷ empty', big.signIn.p50 / small.signIn.p50, 'at most', 1.1);
  compare('verify-token, grown ÷ empty', big.verify.p50 / small.verify.p50, 'at most', 1.1);
  if (dropped > 0) await measureDrops(stage, grown, { dropped, connections, seconds: 2 * seconds.verify });
  await Promise.all([empty, grown].map(({ program }) => program.stop()));
}

/** The p99 of a single drop varies more between runs than its target allows. */
const DROPS = 5;

type Drop = { dropped: number; connections: number; seconds: number };

/** Measures verify-token while a partition of `tokens` with many rows is dropped as the service does it, and without that. */
async function measureDrops(stage: Stage, contestant: Contestant, { dropped, connections, seconds }: Drop): Promise<void> {
  const tokens = await addTokens(contestant, 'drops', Math.ceil(40_000 * 2 * DROPS * seconds));
  const client = new pg.Client(contestant.databaseUrl);
  await client.connect();
  try {
    const [calm, meanwhile, times]: [Round[], Round[], number[]] = [[], [], []];
    for (let n = 0; n < DROPS; n++) {
      const partition = await addPartition(client, n, dropped);
      const round = () => measureVerify(stage, contestant, tokens, connections, seconds);
      // The round after a checkpoint is slower, so each kind comes first in turn.
      if (n % 2 === 0) calm.push(await round());
      const busy = round();
      await sleep((seconds * 1000) / 2);
      const start = performance.now();
      await dropPartition(client, TOKENS, partition, null);
      times.push(performance.now() - start);
      meanwhile.push(await busy);
      if (n % 2 === 1) calm.push(await round());
    }
    heading(`verify-token while a partition of ${formatNumber(dropped)} rows is dropped`, 'without', 'meanwhile');
    const [without, during] = [medianOf(calm), medianOf(meanwhile)];
    row('p50 ms', formatNumber(without.p50, 2), formatNumber(during.p50, 2));
    row('p99 ms', formatNumber(without.p99, 2), formatNumber(during.p99, 2));
    row('the drop, ms', '', formatNumber(median(times), 1));
    row('p99, meanwhile ÷ without, of each drop', ...calm.map(({ p99 }, n) => formatNumber(meanwhile[n].p99 / p99, 2)));
    compare('p99, meanwhile ÷ without', during.p99 / without.p99, 'at most', 1.2);
  } finally {
    await client.end();
  }
}

/** Creates a partition for a day that has none yet, with that many tokens. @returns its name */
async function addPartition(client: pg.Client, n: number, rows: number): Promise<string> {
  const name = `tokens_dropped_${n}`;
  const from = `(date_trunc('day', now() at time zone 'UTC') + interval '${60 + n} days') at time zone 'UTC'`;
  await client.query(`create table ${name} (like tokens including defaults including constraints) with (${TOKENS.storage})`);
  await client.query(`alter table tokens attach partition ${name} for values from (${from}) to (${from} + interval '1 day')`);
  await client.query(`${TOKEN_INTO} select ${tokenColumns(`dropped ${n}`)}, ${from}, now() from generate_series(1, ${rows}) n`);
  await client.query('vacuum analyze tokens');
  await client.query('checkpoint');
  return name;
}

const SIZE = 'select pg_database_size(current_database()) / 1e6 as megabytes';

const EMAIL = "'old-' || n || '@mail.example'";
const BROWSER = "sha256(('browser ' || n)::bytea)";
// UUIDs of version 7 like those of the service: the time in milliseconds first.
const ID = `(lpad(to_hex((extract(epoch from now()) * 1000)::bigint - n), 12, '0') || '7' || substr(md5(n::text), 1, 3) || '8' || substr(md5(n::text), 5, 15))::uuid`;
const DESTINATION = `'${JSON.stringify({ to: 'website', url: `https://${SITE}/welcome`, host: SITE, website: SITE, audience: SITE, conditions: { maxAge: null, passkey: false } })}'::jsonb`;
const LATER = "now() + interval '1 hour'";

const TOKEN_INTO = 'insert into tokens (hash, domain, audience, email, browser, expires_at, used_at)';
const tokenColumns = (name: string) => `sha256(('${name} ' || n)::bytea), '${SITE}', '${SITE}', ${EMAIL}, ${BROWSER}`;

/**
 * Returns inserts of that many attempts, tokens, pending emails and audit rows, and for each open link a remembered account and a rate
 * limit. PostgreSQL generates the rows one by one.
 * @param open how many of the attempts and tokens are not used
 */
export function fill(rows: number, open: number): string[] {
  const n = `from generate_series(1, ${rows}) n`;
  const each = `from generate_series(1, ${open}) n`;
  const used = `case when n > ${open} then now() end`;
  return [
    `insert into sign_in_attempts (id, kind, email, language, browser, domain, audience, destination, expires_at, consumed_at)
     select ${ID}, 'site', ${EMAIL}, 'en', ${BROWSER}, '${SITE}', '${SITE}', ${DESTINATION}, ${LATER}, ${used} ${n}`,
    `${TOKEN_INTO} select ${tokenColumns('old')}, ${LATER}, ${used} ${n}`,
    // Postponed, so that the service sends none of them.
    `insert into outbox (id, kind, recipient, language, due_at, expires_at)
     select ${ID}, 'sign_in', ${EMAIL}, 'en', now() + interval '1 day', now() + interval '2 days' ${n}`,
    `insert into audit_log (action, email, domain, website_id) select 'sign_in_requested', ${EMAIL}, '${SITE}', (select id from websites where domain = '${SITE}') ${n}`,
    `insert into remembered_keys (selector, device, email, verifier, expires_at)
     select substr(sha256(('selector ' || n)::bytea), 1, 16), sha256(('device ' || n)::bytea), ${EMAIL}, sha256(n::text::bytea), now() + interval '400 days' ${each}`,
    `insert into rate_limits (key, hits, resets_at) select 'mailbox ' || ${EMAIL}, 1, ${LATER} ${each}`,
  ];
}
