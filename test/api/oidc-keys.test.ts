import { randomBytes } from 'node:crypto';
import pg from 'pg';
import { afterAll, beforeAll, beforeEach, expect, inject, test } from 'vitest';
import { KeyEncryption, ProviderKeys, rotateSigningKeys } from '../../server/oidc/keys.ts';
import { LOCKS } from '../../server/platform/db/locks.ts';
import { SecretKeys } from '../../server/platform/secrets.ts';
import { createDatabase } from '../support/postgres.ts';
import { waitUntil } from '../support/waiting.ts';

const FIRST_KEY = randomBytes(32);
let pool: pg.Pool;
let lines: string[] = [];

beforeAll(async () => {
  pool = new pg.Pool({ connectionString: await createDatabase(inject('clusterUrl'), inject('templateUrl')) });
});
beforeEach(async () => {
  await pool.query('truncate oidc_keys');
  lines = [];
});
afterAll(() => pool.end());

/** Opens the keys as another instance does. */
function openKeys(current = FIRST_KEY, previous: Buffer | null = null): ProviderKeys {
  const report = (_: unknown, text?: string) => void lines.push(text ?? '');
  return new ProviderKeys({ core: pool, secretKeys: new SecretKeys(current, previous), log: { warn: report, info: () => {} } });
}

const kidsOf = async (keys: ProviderKeys) => (await keys.signingKeys()).map(({ alg, kid }) => `${alg} ${kid}`);
const rotate = (options: { revoke?: boolean } = {}) => rotateSigningKeys(pool, new KeyEncryption(new SecretKeys(FIRST_KEY)), options);
/** Lets a time pass for all keys. */
const age = (interval: string) =>
  pool.query(
    `update oidc_keys set created_at = created_at - $1::interval, signs_from = signs_from - $1::interval,
       signs_until = signs_until - $1::interval, published_until = published_until - $1::interval where algorithm is not null`,
    [interval],
  );

test('four instances that use the keys for the first time at once share one set', async () => {
  const instances = Array.from({ length: 4 }, () => openKeys());
  const sets = await Promise.all(instances.map(async (keys) => `${await kidsOf(keys)} ${(await keys.salt()).toString('hex')}`));
  expect(new Set(sets).size).toBe(1);
  expect(await kidsOf(instances[0])).toEqual([expect.stringMatching(/^ES256 /), expect.stringMatching(/^RS256 /)]);
  expect((await pool.query('select from oidc_keys')).rowCount).toBe(3);
});

test('an instance that waited while another one added the first keys adds none', async () => {
  await openKeys().signingKeys();
  const stored = await pool.query('delete from oidc_keys returning kid, algorithm, encrypted');
  const other = await pool.connect();
  await other.query('select pg_advisory_lock($1)', [LOCKS.providerKeys]);
  const waiting = openKeys().signingKeys();
  const waits = `select from pg_locks where locktype = 'advisory' and objid = $1 and not granted
    and database = (select oid from pg_database where datname = current_database())`;
  await waitUntil('the instance waits for the lock', 60_000, async () => (await pool.query(waits, [LOCKS.providerKeys])).rowCount === 1);
  for (const row of stored.rows) {
    await other.query('insert into oidc_keys (kid, algorithm, encrypted) values ($1, $2, $3)', [row.kid, row.algorithm, row.encrypted]);
  }
  await other.query('select pg_advisory_unlock($1)', [LOCKS.providerKeys]);
  other.release();
  const signing = stored.rows.filter(({ algorithm }) => algorithm !== null);
  expect((await waiting).map(({ kid }) => kid).sort()).toEqual(signing.map(({ kid }) => kid).sort());
  expect((await pool.query('select from oidc_keys')).rowCount).toBe(3);
});

test('the database holds neither a private key nor the salt in readable form', async () => {
  const keys = openKeys();
  const [{ d }] = await keys.signingKeys();
  const salt = await keys.salt();
  const stored = (await pool.query('select encrypted from oidc_keys')).rows.map((row) => row.encrypted as Buffer);
  for (const encrypted of stored) {
    expect(encrypted.includes(salt)).toBe(false);
    expect(encrypted.toString('latin1')).not.toContain(d);
    expect(encrypted.includes(Buffer.from(d as string, 'base64url'))).toBe(false);
  }
});

test('a row that was moved to another key ID is not accepted', async () => {
  const before = await kidsOf(openKeys());
  await pool.query("update oidc_keys set kid = 'moved' where algorithm = 'ES256'");
  const after = await kidsOf(openKeys());
  expect(after).not.toContain('ES256 moved');
  expect(after).not.toContain(before[0]);
});

test('a rotation publishes new keys a day before they sign, and the former ones for 30 days afterwards', async () => {
  const [ec, rsa] = await kidsOf(openKeys());
  await rotate();
  const published = await kidsOf(openKeys());
  expect(published.slice(0, 2)).toEqual([ec, rsa]);
  expect(published).toHaveLength(4);
  const [nextEc, nextRsa] = published.slice(2);

  await age('25 hours');
  expect(await kidsOf(openKeys())).toEqual([nextEc, ec, nextRsa, rsa]);

  await age('30 days');
  await openKeys().maintain();
  expect(await kidsOf(openKeys())).toEqual([nextEc, nextRsa]);
  expect((await pool.query("select from oidc_keys where algorithm = 'ES256'")).rowCount).toBe(1);
});

test('a rotation that revokes ends the former keys immediately and keeps the salt', async () => {
  const salt = await openKeys().salt();
  const former = await kidsOf(openKeys());
  await rotate();
  await rotate({ revoke: true });
  const keys = openKeys();
  const current = await kidsOf(keys);
  expect(current).toHaveLength(2);
  expect(current.filter((kid) => former.includes(kid))).toEqual([]);
  expect(await keys.salt()).toEqual(salt);
});

test('keys are replaced after 89 days, once for all instances, and not before they are used', async () => {
  await openKeys().maintain();
  expect((await pool.query('select from oidc_keys')).rowCount).toBe(0);
  await openKeys().signingKeys();
  await age('88 days');
  await openKeys().maintain();
  expect(await kidsOf(openKeys())).toHaveLength(2);
  await age('25 hours');
  await Promise.all(Array.from({ length: 3 }, () => openKeys().maintain()));
  expect(await kidsOf(openKeys())).toHaveLength(4);
});

test('keys and salt survive a rotation of SECRET_KEY, and are then encrypted with the new key alone', async () => {
  const [kids, salt] = [await kidsOf(openKeys()), await openKeys().salt()];
  const next = randomBytes(32);
  const rotating = openKeys(next, FIRST_KEY);
  expect(await kidsOf(rotating)).toEqual(kids);
  await rotating.maintain();
  const rotated = openKeys(next);
  expect(await kidsOf(rotated)).toEqual(kids);
  expect(await rotated.salt()).toEqual(salt);
  expect(lines).toEqual([]);
});

test('with an unknown SECRET_KEY new keys are made with a log line, and the salt returns with the former key', async () => {
  const salt = await openKeys().salt();
  const other = randomBytes(32);
  const keys = openKeys(other);
  expect(await keys.salt()).not.toEqual(salt);
  expect(lines.join('\n')).toMatch(/different SECRET_KEY.*set SECRET_KEY_PREVIOUS to the SECRET_KEY of the backup/);
  expect(await openKeys(other).salt()).toEqual(await keys.salt());
  expect(await openKeys(other, FIRST_KEY).salt()).toEqual(salt);
});
