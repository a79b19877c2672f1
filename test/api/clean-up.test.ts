import { randomBytes, randomUUID } from 'node:crypto';
import type pg from 'pg';
import { v7 as uuidv7 } from 'uuid';
import { afterAll, beforeAll, describe, expect, inject, test } from 'vitest';
import {
  type Removal,
  type RemoveBatch,
  removeEndedAdminSessions,
  removeEndedAttempts,
  removeEndedLimits,
  removeEndedSessions,
  removeExpiredRecords,
  removeExpiredTokens,
  removeIdleKeys,
  removeOldClaims,
  removeOldInvitations,
  removeOldProbes,
  removeOldRecipients,
  removeOldTimes,
  removeUsedChallenges,
} from '../../server/operations/jobs/clean-up.ts';
import { openJobsPool } from '../../server/operations/jobs/store.ts';
import { createDatabase, query } from '../support/postgres.ts';

const HOUR = 3_600_000;
const DAY = 24 * HOUR;
let url: string;
let pool: pg.Pool;

beforeAll(async () => {
  url = await createDatabase(inject('clusterUrl'), inject('templateUrl'));
  pool = openJobsPool(url);
  // So that the default partitions accept rows of all times.
  await query(url, 'drop table sign_in_attempts_first, tokens_first');
});
afterAll(() => pool.end());

const ask = async (text: string, values: unknown[] = []) => (await pool.query(text, values)).rows;
const count = async (table: string) => Number((await ask(`select count(*) from ${table}`))[0].count);
const run = (remove: RemoveBatch) => remove((text, values) => pool.query(text, values));
const at = (milliseconds: number) => new Date(Date.now() + milliseconds);

function addAttempts(number: number, began: number) {
  const ids = Array.from({ length: number }, () => uuidv7({ msecs: Date.now() + began }));
  return ask(
    `insert into sign_in_attempts_default (id, kind, email, language, browser, expires_at)
     select id, 'portal', 'a@b.example', 'en', '\\x00', $2 from unnest($1::uuid[]) as id`,
    [ids, at(began + 600_000)],
  );
}

// The others are dropped with their partition (partitions.test.ts).
test('attempts of the default partition are removed a day after their end, in batches', async () => {
  await addAttempts(5_001, -3 * DAY);
  await addAttempts(2, -DAY + HOUR);
  await addAttempts(3, 0);
  const remove = removeEndedAttempts();
  expect(await run(remove)).toBe(true);
  expect(await count('sign_in_attempts')).toBe(6);
  expect(await run(remove)).toBe(false);
  expect(await count('sign_in_attempts')).toBe(5);
});

test('an attempt that ended later than the time in its id is kept', async () => {
  await ask('delete from sign_in_attempts_default');
  await ask(
    `insert into sign_in_attempts_default (id, kind, email, language, browser, expires_at) values ($1, 'portal', 'a@b.example', 'en', '\\x00', now())`,
    [uuidv7({ msecs: Date.now() - 3 * DAY })],
  );
  await run(removeEndedAttempts());
  expect(await count('sign_in_attempts')).toBe(1);
});

test('tokens of the default partition are removed a day after their end', async () => {
  for (const end of [-2 * DAY, -HOUR, HOUR])
    await ask(`insert into tokens_default (hash, email, expires_at) values ($1, 'a@b.example', $2)`, [randomBytes(32), at(end)]);
  expect(await run(removeExpiredTokens())).toBe(false);
  expect(await count('tokens')).toBe(2);
});

test('records of OpenID Connect are removed at their end', async () => {
  for (const end of [-1_000, HOUR])
    await ask(`insert into oidc_records (kind, id, payload, expires_at) values ('AccessToken', $1, '{}', $2)`, [randomBytes(32), at(end)]);
  await ask(`insert into oidc_records (kind, id, payload) values ('Client', $1, '{}')`, [randomBytes(32)]);
  await run(removeExpiredRecords());
  expect(await count('oidc_records')).toBe(2);
});

test('counters of rate limits are removed when their window is over', async () => {
  for (const end of [-1_000, HOUR]) await ask('insert into rate_limits (key, hits, resets_at) values ($1, 1, $2)', [randomUUID(), at(end)]);
  await run(removeEndedLimits());
  expect(await count('rate_limits')).toBe(1);
});

test('used challenges of passkeys are removed after a day', async () => {
  for (const used of [-25 * HOUR, -23 * HOUR])
    await ask('insert into passkey_challenges (hash, used_at) values (sha256($1::bytea), $2)', [randomUUID(), at(used)]);
  await run(removeUsedChallenges());
  expect(await count('passkey_challenges')).toBe(1);
});

test('sessions are removed at their end, keys after 90 days without use', async () => {
  const user = randomUUID();
  await ask(`insert into users (id, email) values ($1, 'a@b.example')`, [user]);
  for (const end of [-HOUR, DAY])
    await ask('insert into sessions (hash, user_id, expires_at) values ($1, $2, $3)', [randomBytes(32), user, at(end)]);
  for (const [rotated, used] of [
    [-91 * DAY, -91 * DAY],
    [-90 * DAY - HOUR, -89 * DAY - HOUR],
    [-89 * DAY, -89 * DAY],
  ]) {
    await ask(
      `insert into remembered_keys (selector, device, email, verifier, rotated_at, used_at, expires_at)
       values ($1, $2, 'a@b.example', '\\x00', $3, $4, $5)`,
      [randomBytes(16), randomBytes(16), at(rotated), at(used), at(DAY)],
    );
  }
  await run(removeEndedSessions());
  await run(removeIdleKeys());
  expect(await count('sessions')).toBe(1);
  expect(await count('remembered_keys')).toBe(2);
});

test('admin sessions are removed at their end', async () => {
  for (const end of [-HOUR, HOUR]) await ask('insert into admin_sessions (hash, expires_at) values ($1, $2)', [randomBytes(32), at(end)]);
  await run(removeEndedAdminSessions());
  expect(await count('admin_sessions')).toBe(1);
});

test('recipients of a website are removed after two days', async () => {
  const site = randomUUID();
  await ask(`insert into websites (id, domain, email) values ($1, 'shop.example', 'a@b.example')`, [site]);
  for (const days of [0, 1, 2, 3])
    await ask(`insert into website_recipients (website_id, day, mailbox) values ($1, current_date - $2::int, 'v@b.example')`, [site, days]);
  await run(removeOldRecipients());
  expect(await count('website_recipients')).toBe(3);
});

test('challenges of domains are removed after 30 days, unless the domain is a website of their address', async () => {
  await ask(`insert into websites (id, domain, email) values ($1, 'claimed.example', 'owner@b.example')`, [randomUUID()]);
  for (const [domain, email, days] of [
    ['claimed.example', 'owner@b.example', 31],
    ['claimed.example', 'other@b.example', 31],
    ['free.example', 'a@b.example', 31],
    ['free.example', 'b@b.example', 29],
  ])
    await ask(`insert into domain_claims values ($1, $2, 'x', now() - make_interval(days => $3))`, [domain, email, days]);
  await run(removeOldClaims());
  expect(await ask('select email from domain_claims order by 1')).toMatchObject([{ email: 'b@b.example' }, { email: 'owner@b.example' }]);
});

test('invitations that were not accepted are removed after 30 days', async () => {
  const site = randomUUID();
  await ask(`insert into websites (id, domain, email) values ($1, 'team.example', 'a@b.example')`, [site]);
  for (const [email, days, joined] of [
    ['old@b.example', 31, null],
    ['new@b.example', 29, null],
    ['joined@b.example', 31, at(0)],
  ])
    await ask(
      `insert into website_members (website_id, email, role, invited_by, invited_at, joined_at)
       values ($1, $2, 'member', 'a@b.example', now() - make_interval(days => $3), $4)`,
      [site, email, days, joined],
    );
  await run(removeOldInvitations());
  expect(await ask('select email from website_members order by 1')).toEqual([{ email: 'joined@b.example' }, { email: 'new@b.example' }]);
});

test('daily times of openings are removed when no statistic covers the day', async () => {
  const site = randomUUID();
  await ask(`insert into websites (id, domain, email) values ($1, 'times.example', 'a@b.example')`, [site]);
  for (const days of [0, 89, 99, 102])
    await ask(
      `insert into daily_site_times (website, day, seconds, opened, methods) values ($1, current_date - $2::int, '{14}', '{1}', '{l}')`,
      [site, days],
    );
  await run(removeOldTimes());
  expect(await count('daily_site_times')).toBe(3);
});

describe('with planner statistics of a time when no row had ended', () => {
  const ROWS = 20_000;
  const ENDED = 100;
  const BATCH = 5_000;
  const TABLES = [
    'sign_in_attempts_default',
    'tokens_default',
    'rate_limits',
    'sessions',
    'remembered_keys',
    'passkey_challenges',
    'admin_sessions',
    'website_recipients',
    'probes',
    'daily_site_times',
  ];
  beforeAll(async () => {
    await ask(`truncate ${TABLES.join(', ')}`);
    for (const table of TABLES) await ask(`alter table ${table} set (autovacuum_enabled = false)`);
  });

  const insert = (table: string, values: Record<string, string>, rows: number, ended: number) =>
    query(
      url,
      `insert into ${table} (${Object.keys(values).join(', ')}) select ${Object.values(values).join(', ')}
       from (select n, n <= ${ended} as ended from generate_series(1, ${rows}) n) given`,
    );
  /** Fills a table with `rows` rows of which the first `ended` have ended. `values` are SQL expressions of `n` and `ended`. */
  const fill = async (table: string, values: Record<string, string>, rows = ROWS, ended = ENDED) => {
    await insert(table, values, ROWS, 0);
    await ask(`analyze ${table}`);
    await ask(`truncate ${table}`);
    await insert(table, values, rows, ended);
  };
  const hash = "sha256(convert_to(n::text, 'UTF8'))";
  const time = (old: string) => `now() + case when ended then interval '-${old}' else interval '1 hour' end + n * interval '1 microsecond'`;
  const day = (old: number) => `current_date - case when ended then ${old} else 0 end`;

  type Plan = { 'Node Type': string; 'Actual Rows': number; 'Actual Loops': number; Plans?: Plan[]; [name: string]: unknown };
  const nodesOf = (plan: Plan): Plan[] => [plan, ...(plan.Plans ?? []).flatMap(nodesOf)];

  /** Runs one batch. @returns the nodes of its plan, the rows that it read from tables, and the blocks that it used */
  async function explained(begin: Removal) {
    let plan: Plan | undefined;
    await begin()(async (text, values) => {
      const { rows } = await pool.query(`explain (analyze, buffers, timing off, format json) ${text}`, values);
      plan = rows[0]['QUERY PLAN'][0].Plan;
      return { rows: [{ removed: 0, last: null }] as never[] };
    });
    const nodes = nodesOf(plan as Plan);
    const scans = nodes.filter(({ 'Node Type': type }) => /^(Index|Index Only|Seq|Bitmap Heap|Tid) Scan$/.test(type));
    return {
      types: nodes.map(({ 'Node Type': type }) => type),
      rowsRead: scans.reduce(
        (sum, scan) => sum + (scan['Actual Rows'] + Number(scan['Rows Removed by Filter'] ?? 0)) * scan['Actual Loops'],
        0,
      ),
      blocks: Number(plan?.['Shared Hit Blocks']) + Number(plan?.['Shared Read Blocks']),
    };
  }

  const site = '00000000-0000-4000-8000-000000000001';
  const user = '00000000-0000-4000-8000-000000000002';
  test.each<[string, Removal, Record<string, string>]>([
    [
      'sign_in_attempts_default',
      removeEndedAttempts,
      {
        id: "(lpad(to_hex((extract(epoch from now() - case when ended then interval '3 days' else interval '0' end) * 1000)::bigint), 12, '0') || '7' || lpad(to_hex(n), 19, '0'))::uuid",
        kind: "'portal'",
        email: "'a@b.example'",
        language: "'en'",
        browser: "''",
        expires_at: time('3 days'),
      },
    ],
    ['tokens_default', removeExpiredTokens, { hash, email: "'a@b.example'", expires_at: time('3 days') }],
    ['oidc_records', removeExpiredRecords, { kind: "'AccessToken'", id: hash, payload: "'{}'::jsonb", expires_at: time('1 hour') }],
    ['rate_limits', removeEndedLimits, { key: 'n', hits: '1', resets_at: time('1 hour') }],
    ['sessions', removeEndedSessions, { hash, user_id: `'${user}'::uuid`, expires_at: time('1 hour') }],
    [
      'remembered_keys',
      removeIdleKeys,
      {
        selector: hash,
        device: hash,
        email: "'a@b.example'",
        verifier: "''",
        rotated_at: time('91 days'),
        used_at: time('91 days'),
        expires_at: 'now()',
      },
    ],
    ['passkey_challenges', removeUsedChallenges, { hash, used_at: time('2 days') }],
    ['admin_sessions', removeEndedAdminSessions, { hash, expires_at: time('1 hour') }],
    ['website_recipients', removeOldRecipients, { website_id: `'${site}'::uuid`, day: day(3), mailbox: "n || '@b.example'" }],
    ['probes', removeOldProbes, { minute: time('91 days') }],
    ['daily_site_times', removeOldTimes, { website: 'gen_random_uuid()', day: day(101), seconds: "'{}'", opened: "'{}'", methods: "'{}'" }],
  ])('a batch of %s reads only rows that have ended', async (table, begin, values) => {
    await ask(`insert into users (id, email) values ($1, 'plan@b.example') on conflict do nothing`, [user]);
    await ask(`insert into websites (id, domain, email) values ($1, 'plan.example', 'plan@b.example') on conflict do nothing`, [site]);
    if (table === 'daily_site_times') await ask('alter table daily_site_times drop constraint daily_site_times_website_fkey');
    await fill(table, values);
    const { types, rowsRead } = await explained(begin);
    expect(await count(table)).toBe(ROWS - ENDED);
    expect(types).not.toContain('Nested Loop');
    expect(types).not.toContain('Seq Scan');
    // Each row is read twice: when it is selected and when it is deleted.
    expect(rowsRead).toBe(2 * ENDED);
  });

  test.each<[string, number, Removal, Record<string, string>]>([
    ['tokens_default', 160_000, removeExpiredTokens, { hash, email: "'a@b.example'", expires_at: time('3 days') }],
    [
      'remembered_keys',
      160_000,
      removeIdleKeys,
      {
        selector: hash,
        device: hash,
        email: "'a@b.example'",
        verifier: "''",
        rotated_at: time('91 days'),
        used_at: time('91 days'),
        expires_at: 'now()',
      },
    ],
  ])('the last of 30 batches of %s, of %d ended rows, reads 5,000 rows', { timeout: 180_000 }, async (table, rows, begin, values) => {
    await ask(`truncate ${table}`);
    await fill(table, values, rows, rows);
    const remove = begin();
    for (let batch = 0; batch < 29; batch++) expect(await run(remove)).toBe(true);
    const { rowsRead, blocks } = await explained(() => remove);
    expect(rowsRead).toBe(2 * BATCH);
    expect(blocks).toBeLessThan(20 * BATCH);
    expect(await count(table)).toBe(rows - 30 * BATCH);
  });
});
