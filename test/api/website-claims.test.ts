import { randomBytes, randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, inject, test } from 'vitest';
import { Fault } from '../../contract/errors.ts';
import type { Mail } from '../../server/mail/mail.ts';
import type { ProofSource } from '../../server/permissions/proofs.ts';
import type { Database } from '../../server/platform/db/database.ts';
import type { Account } from '../../server/platform/http/endpoint.ts';
import { Claims } from '../../server/websites/claims.ts';
import { Websites } from '../../server/websites/websites.ts';
import { openPatientDatabase } from '../statements/database.ts';
import { type NameServer, openNameServer } from '../support/dns.ts';
import { createDatabase } from '../support/postgres.ts';
import { freshDomain } from '../support/sign-ins.ts';
import { waitUntil } from '../support/waiting.ts';

const caller = { clientAddress: '192.0.2.1', userAgent: '' };

/** Returns a new account, which has proven its address. */
async function owner(name: string): Promise<Account & { proof: ProofSource }> {
  const account = { id: randomUUID(), email: `${name}@${freshDomain()}`, name: null };
  const proof = { session: randomBytes(32), device: null };
  const device = randomBytes(32);
  await rows('insert into users (id, email) values ($1, $2)', [account.id, account.email]);
  await rows("insert into sessions (hash, user_id, device, expires_at) values ($1, $2, $3, now() + interval '1 day')", [
    proof.session,
    account.id,
    device,
  ]);
  await rows(
    `insert into remembered_keys (selector, device, label, email, verifier, expires_at)
     values ($1, $2, '', $3, $1, now() + interval '400 days')`,
    [randomBytes(16), device, account.email],
  );
  return { ...account, proof };
}

let database: Database;
let names: NameServer;
let claims: Claims;
let websites: Websites;
let handedOver: Mail[] = [];
let invite: () => Promise<void> = async () => {};
beforeAll(async () => {
  const url = await createDatabase(inject('clusterUrl'), inject('templateUrl'));
  database = openPatientDatabase(url);
  names = await openNameServer();
  const limits = { hit: async () => {} };
  const outbox = { handOver: (mail: Mail) => void handedOver.push(mail) };
  claims = new Claims({ config: { dnsServers: [names.address] }, database, outbox, limits });
  websites = new Websites({
    isLocal: false,
    publicUrl: 'https://auth.example',
    database,
    limits,
    uploads: { ownIcon: () => Promise.reject(new Error('No claim names an icon.')) },
    inviteOwner: async (_owner, register) => {
      const client = await database.core.connect();
      try {
        await client.query('begin');
        await register((text, values) => client.query(text, values));
        await invite();
        await client.query('commit');
      } catch (error) {
        await client.query('rollback');
        throw error;
      } finally {
        client.release();
      }
    },
  });
});
afterAll(async () => {
  await names.close();
  await database.close();
});

const rows = async (sql: string, values: unknown[] = []) => (await database.core.query(sql, values)).rows;
const ownersOf = async (domain: string) => (await rows('select email from websites where domain = $1', [domain])).map(({ email }) => email);
const actsOn = async (domain: string) =>
  (await rows('select action, email from audit_log where domain = $1 order by id', [domain])).map(
    ({ action, email }) => `${action} ${email}`,
  );
const codeOf = (work: Promise<unknown>) =>
  work.then(
    () => 'ok',
    (error) => (error instanceof Fault ? error.code : String(error)),
  );
const prove = (account: Awaited<ReturnType<typeof owner>>, domain: string) => claims.prove(account, { domain }, account.proof);
const challengeOf = async (account: Account, domain: string) => (await claims.claim(account, domain)).proof.value;
const setRecords = (domain: string, values: string[]) => names.setText(`_emailauth.${domain}`, values);
async function publish(accounts: Account[], domain: string): Promise<string[]> {
  const values = await Promise.all(accounts.map((account) => challengeOf(account, domain)));
  setRecords(domain, values);
  return values;
}

test('one of 50 concurrent registrations, additions and updates gets a domain, and the others get domain_taken', async () => {
  const domain = freshDomain();
  const movers = await Promise.all(
    Array.from({ length: 16 }, async (_, n) => {
      const account = await owner(`mover${n}`);
      return { account, id: (await websites.create(account, { domain: freshDomain() })).id };
    }),
  );
  const creators = await Promise.all(Array.from({ length: 17 }, (_, n) => owner(`c${n}`)));
  const outcomes = await Promise.all([
    ...Array.from({ length: 17 }, (_, n) => codeOf(websites.register({ domain, email: `r${n}@${freshDomain()}` }, caller))),
    ...Array.from({ length: 17 }, (_, n) => codeOf(websites.create(creators[n], { domain }))),
    ...movers.map(({ account, id }) => codeOf(websites.update(account, { id, domain }))),
  ]);
  expect(outcomes.filter((outcome) => outcome === 'ok')).toHaveLength(1);
  expect(outcomes.filter((outcome) => outcome === 'domain_taken')).toHaveLength(49);
  expect(await ownersOf(domain)).toHaveLength(1);
  expect(await actsOn(domain)).toHaveLength(1);
});

test('one of several concurrent proofs gets an unregistered domain, and the other challenges end', async () => {
  for (let round = 0; round < 10; round++) {
    const domain = freshDomain();
    const claimants = await Promise.all(Array.from({ length: 8 }, (_, n) => owner(`p${n}`)));
    await publish(claimants, domain);
    handedOver = [];
    const outcomes = await Promise.all(claimants.map((account) => codeOf(prove(account, domain))));
    expect(outcomes.toSorted()).toEqual([...Array(7).fill('not_proven'), 'ok']);
    const { email } = claimants[outcomes.indexOf('ok')];
    expect(await ownersOf(domain)).toEqual([email]);
    expect(handedOver.map(({ kind, recipient }) => [kind, recipient])).toEqual([['domain_proven', email]]);
    const pending = await rows("select id from outbox where data ->> 'domain' = $1", [domain]);
    expect(pending.map(({ id }) => id)).toEqual(handedOver.map(({ id }) => id));
  }
});

describe('the challenge of a claim', () => {
  test('is the same for concurrent calls, differs by address and domain, and is kept while the claim is pending or proven', async () => {
    const [ann, bob, domain] = [await owner('ann'), await owner('bob'), freshDomain()];
    const [value, ...others] = await Promise.all(Array.from({ length: 20 }, () => challengeOf(ann, domain)));
    expect(new Set(others)).toEqual(new Set([value]));
    expect(new Set([value, await challengeOf(bob, domain), await challengeOf(ann, freshDomain())]).size).toBe(3);
    expect((await websites.create(ann, { domain })).proof.value).toBe(value);
    expect((await websites.list(ann)).map(({ proof }) => proof.value)).toEqual([value]);
    setRecords(domain, [value]);
    expect((await prove(ann, domain)).proof.value).toBe(value);
    expect(await challengeOf(ann, domain)).toBe(value);
  });

  test('ends when another account verifies the domain; its old record does not take the domain back', async () => {
    const [ann, bob, domain] = [await owner('ann'), await owner('bob'), freshDomain()];
    const [old] = await publish([ann], domain);
    await prove(ann, domain);
    const bobs = await challengeOf(bob, domain);
    setRecords(domain, [old, bobs]);
    await prove(bob, domain);
    expect(await codeOf(prove(ann, domain))).toBe('not_proven');
    expect(await ownersOf(domain)).toEqual([bob.email]);

    const fresh = await challengeOf(ann, domain);
    expect(fresh).not.toBe(old);
    setRecords(domain, [old, bobs, fresh]);
    expect(await codeOf(prove(ann, domain))).toBe('ok');
    expect(await codeOf(prove(bob, domain))).toBe('not_proven');
  });

  test('ends for all other claimants when one verifies the domain, but not when the holder proves it again', async () => {
    const [ann, bob, domain] = [await owner('ann'), await owner('bob'), freshDomain()];
    const [, waiting] = await publish([ann, bob], domain);
    await prove(ann, domain);
    expect(await codeOf(prove(bob, domain))).toBe('not_proven');
    const fresh = await challengeOf(bob, domain);
    expect(fresh).not.toBe(waiting);
    await prove(ann, domain);
    expect(await challengeOf(bob, domain)).toBe(fresh);
  });

  const ends: [string, (account: Account, site: { id: string; domain: string }) => Promise<unknown>][] = [
    ['deleted', (account, { id }) => websites.delete(account, id)],
    ['moved away', (account, { id }) => websites.update(account, { id, domain: freshDomain() })],
    [
      'released',
      async (_account, { id }) => {
        await rows("update websites set claimed_at = null, created_at = now() - interval '8 days' where id = $1", [id]);
        await websites.releaseUnclaimed((text, values) => database.core.query(text, values));
      },
    ],
  ];
  test.each(ends)('ends when the website is %s, so that adding it again needs a new record', async (_how, end) => {
    const [ann, domain] = [await owner('ann'), freshDomain()];
    const [old] = await publish([ann], domain);
    const { id } = await prove(ann, domain);
    await end(ann, { id, domain });
    const { proof } = await websites.create(ann, { domain });
    expect(proof.value).not.toBe(old);
    expect(await codeOf(prove(ann, domain))).toBe('not_proven');
    setRecords(domain, [proof.value]);
    expect((await prove(ann, domain)).verified).toBe(true);
  });

  test('of the new domain of an updated website is the one requested before', async () => {
    const [ann, from, to] = [await owner('ann'), freshDomain(), freshDomain()];
    const value = await challengeOf(ann, to);
    const { id } = await websites.create(ann, { domain: from });
    expect((await websites.update(ann, { id, domain: to })).proof.value).toBe(value);
    // An update with the same domain is not a change.
    expect((await websites.update(ann, { id, domain: to, iconUrl: null })).proof.value).toBe(value);
  });

  test('does not verify the domain when it ends between the DNS query and the change of the website', async () => {
    const [ann, domain] = [await owner('ann'), freshDomain()];
    await publish([ann], domain);
    const other = await database.core.connect();
    try {
      await other.query('begin');
      await other.query('select pg_advisory_xact_lock(hashtextextended($1, 0))', [`claim ${domain}`]);
      const proving = codeOf(prove(ann, domain));
      await waitUntil('the proof waits for the lock', 30_000, async () => {
        const waiting = await rows(
          "select 1 from pg_locks where locktype = 'advisory' and not granted and database = (select oid from pg_database where datname = current_database())",
        );
        return waiting.length > 0;
      });
      await other.query('delete from domain_claims where domain = $1', [domain]);
      await other.query('commit');
      expect(await proving).toBe('not_proven');
    } finally {
      other.release();
    }
    expect(await ownersOf(domain)).toEqual([]);
  });

  test('does not change for a website that was proven before challenges were stored', async () => {
    const [ann, domain] = [await owner('ann'), freshDomain()];
    await rows('insert into websites (id, domain, email, claimed_at, proven_at) values (gen_random_uuid(), $1, $2, now(), now())', [
      domain,
      ann.email,
    ]);
    const [{ verified, proof }] = await websites.list(ann);
    expect(verified).toBe(true);
    expect((await websites.list(ann))[0].proof).toEqual(proof);
    expect(await codeOf(prove(await owner('bob'), domain))).toBe('not_proven');
    expect(await ownersOf(domain)).toEqual([ann.email]);
  });
});

test('a proof takes over an unverified website with its attempts and tokens', async () => {
  const [ann, bob, domain] = [await owner('ann'), await owner('bob'), freshDomain()];
  const { id } = await websites.create(ann, { domain });
  await rows("insert into website_recipients values ($1, current_date, 'visitor@mail.example')", [id]);
  await publish([bob], domain);
  const site = await prove(bob, domain);
  expect(site).toMatchObject({ domain, verified: true });
  expect(site.id).not.toBe(id);
  expect(await rows('select 1 from website_recipients where website_id in ($1, $2)', [id, site.id])).toEqual([]);
  expect(await codeOf(websites.delete(ann, id))).toBe('website_not_found');
  expect(await actsOn(domain)).toEqual([`website_added ${ann.email}`, `website_lost ${ann.email}`, `website_proven ${bob.email}`]);
  expect(await rows('select claimed_at is not null as claimed from websites where id = $1', [site.id])).toEqual([{ claimed: true }]);
});

test('the newest DNS proof takes the domain from an older one', async () => {
  const [ann, bob, domain] = [await owner('ann'), await owner('bob'), freshDomain()];
  await publish([ann], domain);
  await prove(ann, domain);
  expect(await codeOf(prove(bob, domain))).toBe('not_proven');
  await publish([bob], domain);
  await prove(bob, domain);
  expect(await ownersOf(domain)).toEqual([bob.email]);
  expect(await codeOf(prove(ann, domain))).toBe('not_proven');
});

test('a repeated proof changes nothing and sends no email, and a change of the domain is unproven', async () => {
  const [ann, domain] = [await owner('ann'), freshDomain()];
  await publish([ann], domain);
  const { id } = await prove(ann, domain);
  handedOver = [];
  expect((await prove(ann, domain)).id).toBe(id);
  expect((await websites.update(ann, { id, domain })).verified).toBe(true);
  expect(handedOver).toEqual([]);
  expect((await websites.update(ann, { id, domain: freshDomain() })).verified).toBe(false);
});

test('an account runs one proof at a time', async () => {
  const ann = await owner('ann');
  const outcomes = await Promise.all([1, 2, 3].map(() => codeOf(prove(ann, freshDomain()))));
  expect(outcomes.sort()).toEqual(['not_proven', 'rate_limited', 'rate_limited']);
  expect(await codeOf(prove(ann, freshDomain()))).toBe('not_proven');
});

test('a registration whose email was rejected leaves the domain free', async () => {
  const domain = freshDomain();
  invite = async () => {
    throw new Fault('rate_limited');
  };
  expect(await codeOf(websites.register({ domain, email: `a@${freshDomain()}` }, caller))).toBe('rate_limited');
  invite = async () => {};
  expect(await codeOf(websites.register({ domain, email: `b@${freshDomain()}` }, caller))).toBe('ok');
});

test('only registrations without a sign-in are released after seven days', async () => {
  await rows('delete from websites');
  const add = (domain: string, email: string | null, age: string, claimed: boolean) =>
    rows(
      `insert into websites (id, domain, email, created_at, claimed_at)
       values (gen_random_uuid(), $1, $2, now() - $3::interval, case when $4 then now() end)`,
      [domain, email, age, claimed],
    );
  await add('young.example', 'a@b.example', '6 days 23 hours', false);
  await add('claimed.example', 'a@b.example', '80 days', true);
  await add('localhost', null, '80 days', false);
  for (let n = 0; n < 1_203; n++) await add(`old${n}.example`, 'a@b.example', '7 days 1 minute', false);
  const release = () => websites.releaseUnclaimed((text, values) => database.core.query(text, values));
  const released = await Promise.all([release(), release()]);
  expect(released[0] + released[1]).toBe(1_203);
  expect((await rows('select domain from websites order by 1')).map(({ domain }) => domain)).toEqual([
    'claimed.example',
    'localhost',
    'young.example',
  ]);
  expect(await actsOn('old7.example')).toEqual(['website_released a@b.example']);
});
