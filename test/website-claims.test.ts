import { randomBytes } from 'node:crypto';
import { afterAll, beforeAll, expect, inject, test } from 'vitest';
import { Fault } from '../contract/errors.ts';
import { type Database, openDatabase } from '../server/db/database.ts';
import { migrate } from '../server/db/migrate.ts';
import type { Account } from '../server/http/serve.ts';
import type { Mail } from '../server/mail/mail.ts';
import { createWebsites, type Websites } from '../server/websites/websites.ts';
import { type NameServer, openNameServer } from './dns.ts';
import { query } from './postgres.ts';
import { freshDomain } from './sign-ins.ts';

const owner = (name: string): Account => ({ id: name, email: `${name}@${freshDomain()}`, name: null });
const secretKey = randomBytes(32);

let database: Database;
let names: NameServer;
let websites: Websites;
let handedOver: Mail[] = [];
let invite: () => Promise<void> = async () => {};
beforeAll(async () => {
  const name = `claims_${randomBytes(6).toString('hex')}`;
  await query(inject('clusterUrl'), `create database ${name}`);
  database = openDatabase(Object.assign(new URL(inject('clusterUrl')), { pathname: name }).href);
  await migrate(database);
  names = await openNameServer();
  websites = createWebsites({
    config: { mode: 'production', publicUrl: 'https://auth.example', secretKey, dnsServers: [names.address] },
    database,
    outbox: { handOver: (mail) => void handedOver.push(mail) },
    limits: { hit: async () => {} },
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
function publish(accounts: Account[], domain: string) {
  const proofs = accounts.map((account) => websites.claim(account, domain).proof);
  names.setText(
    proofs[0].record,
    proofs.map(({ value }) => value),
  );
}

test('50 registrations, additions and moves race for one domain: one has it, the others hear that it is taken', async () => {
  const domain = freshDomain();
  const movers = await Promise.all(
    Array.from({ length: 16 }, async (_, n) => {
      const account = owner(`mover${n}`);
      return { account, id: (await websites.create(account, { domain: freshDomain() })).id };
    }),
  );
  const outcomes = await Promise.all([
    ...Array.from({ length: 17 }, (_, n) => codeOf(websites.register({ domain, email: owner(`r${n}`).email }, '192.0.2.1'))),
    ...Array.from({ length: 17 }, (_, n) => codeOf(websites.create(owner(`c${n}`), { domain }))),
    ...movers.map(({ account, id }) => codeOf(websites.update(account, { id, domain }))),
  ]);
  expect(outcomes.filter((outcome) => outcome === 'ok')).toHaveLength(1);
  expect(outcomes.filter((outcome) => outcome === 'domain_taken')).toHaveLength(49);
  expect(await ownersOf(domain)).toHaveLength(1);
  expect(await actsOn(domain)).toHaveLength(1);
});

test('claimants of one unregistered domain race: all are heard, one has it, and every loser is told', async () => {
  for (let round = 0; round < 10; round++) {
    const domain = freshDomain();
    const claimants = Array.from({ length: 8 }, (_, n) => owner(`p${n}`));
    publish(claimants, domain);
    handedOver = [];
    await Promise.all(claimants.map((account) => websites.prove(account, { domain })));
    const [holder, ...others] = await ownersOf(domain);
    expect(others).toEqual([]);
    const told = (kind: string) => handedOver.filter((mail) => mail.kind === kind).map(({ recipient }) => recipient);
    expect(told('domain_proven').sort()).toEqual(claimants.map(({ email }) => email).sort());
    expect(told('domain_lost').sort()).toEqual(
      claimants
        .map(({ email }) => email)
        .filter((email) => email !== holder)
        .sort(),
    );
    const owed = await rows("select id, kind, recipient, data ->> 'domain' as domain from outbox where data ->> 'domain' = $1", [domain]);
    expect(owed).toHaveLength(15);
    expect(new Set(owed.map(({ id }) => id))).toEqual(new Set(handedOver.map(({ id }) => id)));
  }
});

test('a proof takes an unproven site over wholly, with what hung on it', async () => {
  const [ann, bob, domain] = [owner('ann'), owner('bob'), freshDomain()];
  const { id } = await websites.create(ann, { domain });
  await rows("insert into website_recipients values ($1, current_date, 'visitor@mail.example')", [id]);
  publish([bob], domain);
  const site = await websites.prove(bob, { domain });
  expect(site).toMatchObject({ domain, verified: true });
  expect(site.id).not.toBe(id);
  expect(await rows('select 1 from website_recipients where website_id in ($1, $2)', [id, site.id])).toEqual([]);
  expect(await codeOf(websites.delete(ann, id))).toBe('website_not_found');
  expect(await actsOn(domain)).toEqual([`website_added ${ann.email}`, `website_lost ${ann.email}`, `website_proven ${bob.email}`]);
  expect(await rows('select claimed_at is not null as claimed from websites where id = $1', [site.id])).toEqual([{ claimed: true }]);
});

test('the newest DNS proof outweighs an older one; whoever only once had it cannot keep the domain', async () => {
  const [ann, bob, domain] = [owner('ann'), owner('bob'), freshDomain()];
  publish([ann], domain);
  await websites.prove(ann, { domain });
  expect(await codeOf(websites.prove(bob, { domain }))).toBe('not_proven');
  publish([bob], domain);
  await websites.prove(bob, { domain });
  expect(await ownersOf(domain)).toEqual([bob.email]);
  expect(await codeOf(websites.prove(ann, { domain }))).toBe('not_proven');
});

test('proving again changes nothing and tells nobody; a move to another domain is unproven', async () => {
  const [ann, domain] = [owner('ann'), freshDomain()];
  publish([ann], domain);
  const { id } = await websites.prove(ann, { domain });
  handedOver = [];
  expect((await websites.prove(ann, { domain })).id).toBe(id);
  expect((await websites.update(ann, { id, domain })).verified).toBe(true);
  expect(handedOver).toEqual([]);
  expect((await websites.update(ann, { id, domain: freshDomain() })).verified).toBe(false);
});

test('one account has one proof looked for at a time', async () => {
  const ann = owner('ann');
  const outcomes = await Promise.all([1, 2, 3].map(() => codeOf(websites.prove(ann, { domain: freshDomain() }))));
  expect(outcomes.sort()).toEqual(['not_proven', 'rate_limited', 'rate_limited']);
  expect(await codeOf(websites.prove(ann, { domain: freshDomain() }))).toBe('not_proven');
});

test('a registration whose mail was refused leaves the domain free', async () => {
  const domain = freshDomain();
  invite = async () => {
    throw new Fault('rate_limited');
  };
  expect(await codeOf(websites.register({ domain, email: owner('a').email }, '192.0.2.1'))).toBe('rate_limited');
  invite = async () => {};
  expect(await codeOf(websites.register({ domain, email: owner('b').email }, '192.0.2.1'))).toBe('ok');
});

test('after seven days a registration without a sign-in is released, once, and nothing else is', async () => {
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
