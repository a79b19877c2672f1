import { randomBytes, randomUUID } from 'node:crypto';
import pg from 'pg';
import { v7 as uuidv7 } from 'uuid';
import { afterAll, beforeAll, expect, inject, test } from 'vitest';
import { openDatabase } from '../server/db/database.ts';
import { migrate } from '../server/db/migrate.ts';
import {
  type RemoveBatch,
  removeEndedAdminSessions,
  removeEndedAttempts,
  removeEndedKeys,
  removeEndedLimits,
  removeEndedSessions,
  removeExpiredTokens,
  removeOldClaims,
  removeOldRecipients,
  removeOldTimes,
} from '../server/jobs/store.ts';
import { query } from './postgres.ts';

const HOUR = 3_600_000;
const DAY = 24 * HOUR;
let pool: pg.Pool;

beforeAll(async () => {
  const name = `test_${randomBytes(6).toString('hex')}`;
  await query(inject('clusterUrl'), `create database ${name}`);
  const url = Object.assign(new URL(inject('clusterUrl')), { pathname: name }).href;
  const database = openDatabase(url);
  await migrate(url);
  await database.close();
  pool = new pg.Pool({ connectionString: url, max: 2 });
});
afterAll(() => pool.end());

const ask = async (text: string, values: unknown[] = []) => (await pool.query(text, values)).rows;
const count = async (table: string) => Number((await ask(`select count(*) from ${table}`))[0].count);
const run = (remove: RemoveBatch) => remove((text, values) => pool.query(text, values));
const at = (milliseconds: number) => new Date(Date.now() + milliseconds);

function addAttempts(number: number, began: number) {
  const ids = Array.from({ length: number }, () => uuidv7({ msecs: Date.now() + began }));
  return ask(
    `insert into sign_in_attempts (id, kind, email, language, browser, expires_at)
     select id, 'portal', 'a@b.example', 'en', '\\x00', $2 from unnest($1::uuid[]) as id`,
    [ids, at(began + 600_000)],
  );
}

test('attempts leave a day after their end, in batches', async () => {
  await addAttempts(5_001, -3 * DAY);
  await addAttempts(2, -DAY + HOUR);
  await addAttempts(3, 0);
  const remove = removeEndedAttempts();
  expect(await run(remove)).toBe(true);
  expect(await count('sign_in_attempts')).toBe(6);
  expect(await run(remove)).toBe(false);
  expect(await count('sign_in_attempts')).toBe(5);
});

test('an attempt that ended later than its id tells stays', async () => {
  await ask('delete from sign_in_attempts');
  await ask(
    `insert into sign_in_attempts (id, kind, email, language, browser, expires_at) values ($1, 'portal', 'a@b.example', 'en', '\\x00', now())`,
    [uuidv7({ msecs: Date.now() - 3 * DAY })],
  );
  await run(removeEndedAttempts());
  expect(await count('sign_in_attempts')).toBe(1);
});

test('finding old attempts reads no others', async () => {
  await addAttempts(2_000, 0);
  await ask('analyze sign_in_attempts');
  const plan = await ask(`explain select id from sign_in_attempts
    where id < (lpad(to_hex((extract(epoch from now() - interval '1 day') * 1000)::bigint), 12, '0') || repeat('0', 20))::uuid order by id limit 5000`);
  expect(JSON.stringify(plan)).toContain('sign_in_attempts_pkey');
});

test('tokens leave a day after their end', async () => {
  for (const end of [-2 * DAY, -HOUR, HOUR])
    await ask(`insert into tokens (hash, email, expires_at) values ($1, 'a@b.example', $2)`, [randomBytes(32), at(end)]);
  expect(await run(removeExpiredTokens)).toBe(false);
  expect(await count('tokens')).toBe(2);
});

test('limits leave when their time is over', async () => {
  for (const end of [-1_000, HOUR])
    await ask('insert into sign_in_limits (key, hits, resets_at) values ($1, 1, $2)', [randomUUID(), at(end)]);
  await run(removeEndedLimits);
  expect(await count('sign_in_limits')).toBe(1);
});

test('sessions leave at their end and after 7 idle days, keys after 90', async () => {
  const user = randomUUID();
  await ask(`insert into users (id, email) values ($1, 'a@b.example')`, [user]);
  for (const [seen, end] of [
    [0, -HOUR],
    [-8 * DAY, DAY],
    [-6 * DAY, DAY],
  ]) {
    await ask('insert into sessions (hash, user_id, seen_at, expires_at) values ($1, $2, $3, $4)', [
      randomBytes(32),
      user,
      at(seen),
      at(end),
    ]);
  }
  for (const [used, end] of [
    [0, -HOUR],
    [-91 * DAY, DAY],
    [-89 * DAY, DAY],
  ]) {
    await ask(
      `insert into remembered_keys (selector, device, email, verifier, used_at, expires_at) values ($1, $2, 'a@b.example', '\\x00', $3, $4)`,
      [randomBytes(16), randomBytes(16), at(used), at(end)],
    );
  }
  await run(removeEndedSessions);
  await run(removeEndedKeys);
  expect(await count('sessions')).toBe(1);
  expect(await count('remembered_keys')).toBe(1);
});

test('admin sessions leave at their end and after half an idle hour', async () => {
  const MINUTE = 60_000;
  for (const [seen, end] of [
    [0, -MINUTE],
    [-31 * MINUTE, HOUR],
    [-29 * MINUTE, HOUR],
  ]) {
    await ask('insert into admin_sessions (hash, seen_at, expires_at) values ($1, $2, $3)', [randomBytes(32), at(seen), at(end)]);
  }
  await run(removeEndedAdminSessions);
  expect(await count('admin_sessions')).toBe(1);
});

test('recipients of a site leave after two days', async () => {
  const site = randomUUID();
  await ask(`insert into websites (id, domain, email) values ($1, 'shop.example', 'a@b.example')`, [site]);
  for (const days of [0, 1, 2, 3])
    await ask(`insert into website_recipients (website_id, day, mailbox) values ($1, current_date - $2::int, 'v@b.example')`, [site, days]);
  await run(removeOldRecipients);
  expect(await count('website_recipients')).toBe(3);
});

test('challenges of domains leave after 30 days, unless the domain is a website of their address', async () => {
  await ask(`insert into websites (id, domain, email) values ($1, 'claimed.example', 'owner@b.example')`, [randomUUID()]);
  for (const [domain, email, days] of [
    ['claimed.example', 'owner@b.example', 31],
    ['claimed.example', 'other@b.example', 31],
    ['free.example', 'a@b.example', 31],
    ['free.example', 'b@b.example', 29],
  ])
    await ask(`insert into domain_claims values ($1, $2, 'x', now() - make_interval(days => $3))`, [domain, email, days]);
  await run(removeOldClaims);
  expect(await ask('select email from domain_claims order by 1')).toMatchObject([{ email: 'b@b.example' }, { email: 'owner@b.example' }]);
});

test('the times of openings leave once no figure covers the day', async () => {
  const site = randomUUID();
  await ask(`insert into websites (id, domain, email) values ($1, 'times.example', 'a@b.example')`, [site]);
  for (const days of [0, 29, 39, 42])
    await ask(`insert into daily_site_times (website, day, seconds, opened) values ($1, current_date - $2::int, '{14}', '{1}')`, [
      site,
      days,
    ]);
  await run(removeOldTimes);
  expect(await count('daily_site_times')).toBe(3);
});
