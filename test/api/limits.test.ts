import { randomBytes } from 'node:crypto';
import { expect, test } from 'vitest';
import type { Client } from '../support/client.ts';
import { freshNetworkAddress, production, type Service, useProduction } from '../support/harness.ts';
import { addWebsite, freshAddress, freshDomain, openLink, requestEmail, signInDeveloper, visitorToken } from '../support/sign-ins.ts';

// Two instances with production limits, which count together.
const { stage, service } = await useProduction();
const second = await stage.start({ ...production, PUBLIC_URL: service.url, TRUST_PROXY: '1' });
const shop = await addWebsite(stage, service);

/** Requests an email from a network, by default one that no other request has. */
const ask = (from: Service, email: string, network = freshNetworkAddress(), headers: Record<string, string> = {}) =>
  from.client(network).post('/api/auth/domain-auth', { email, forward_url: `https://${shop}/` }, headers);

test('a mailbox gets three emails in 15 minutes, counted over plus tags, letter case and instances', async () => {
  const [email, network] = [freshAddress(), freshNetworkAddress()];
  const [local, host] = email.split('@');
  expect((await ask(service, email, network)).status).toBe(200);
  expect((await ask(second, `${local}+news@${host}`, network)).status).toBe(200);
  expect((await ask(service, email.toUpperCase(), network)).status).toBe(200);
  const refused = await ask(second, `${local}+more@${host}`, network);
  expect(refused.status).toBe(429);
  expect(refused.json.error.length).toBeGreaterThan(20);
  const wait = Number(refused.headers['retry-after']);
  expect(wait).toBeGreaterThan(600);
  expect(wait).toBeLessThanOrEqual(900);
  expect((await ask(service, freshAddress(), network)).status).toBe(200);
});

test('a mailbox gets ten emails an hour from any number of client addresses', async () => {
  const email = freshAddress();
  const responses = [];
  for (let i = 1; i <= 11; i++) responses.push((await ask(service, email)).status);
  expect(responses).toEqual([...Array(10).fill(200), 429]);
});

test('a client address may request thirty emails an hour, despite a forged X-Forwarded-For', async () => {
  const [network, responses] = [freshNetworkAddress(), []] as [string, number[]];
  for (let i = 1; i <= 31; i++) {
    const forged = { 'X-Forwarded-For': `198.51.100.${i}, ${network}`, Forwarded: `for=198.51.100.${i}` };
    responses.push((await ask(i % 2 ? service : second, freshAddress(), network, forged)).status);
  }
  expect(responses).toEqual([...Array(30).fill(200), 429]);
});

test('an account may request challenges for 60 new domains an hour, and repeat requests for known ones', async () => {
  const { client } = await signInDeveloper(stage, service);
  const domains = Array.from({ length: 61 }, freshDomain);
  const claim = (domain: string) => client.get(`/api/websites/claim/${domain}`);
  // The last ones at once. All of them at once may wait too long for a connection.
  const responses = [];
  for (const domain of domains.slice(0, 50)) responses.push(await claim(domain));
  responses.push(...(await Promise.all(domains.slice(50).map(claim))));
  expect(responses.filter(({ status }) => status === 200)).toHaveLength(60);
  expect(responses.find(({ status }) => status !== 200)?.json.code).toBe('rate_limited');
  const known = responses.find(({ status }) => status === 200)?.json;
  expect((await claim(known.domain)).json).toEqual(known);
});

test('an IPv6 client address is counted by /64', async () => {
  const block = `2001:db8:${randomBytes(2).toString('hex')}`;
  const from = (address: string) => ask(service, freshAddress(), `${block}:${address}`);
  for (let i = 1; i <= 30; i++) expect((await from(`2::${i}`)).status).toBe(200);
  expect((await from('2:ffff::1')).status).toBe(429);
  expect((await from('3::1')).status).toBe(200);
});

test('a browser that is known for the mailbox has its own rate limit', async () => {
  const network = freshNetworkAddress();
  const [client, email] = [service.client(network), freshAddress()];
  await requestEmail(client, email, `https://${shop}/`);
  await openLink(client, await stage.mailbox.waitFor(email));
  for (let i = 0; i < 4; i++) await ask(service, email, network);
  expect((await ask(service, email, network)).status).toBe(429);
  expect((await client.post('/api/auth/domain-auth', { email, forward_url: `https://${shop}/` })).status).toBe(200);
});

test('verify-token refuses more than sixty failed calls a minute, but never calls with a valid token', async () => {
  const tokens = [];
  for (let i = 0; i < 3; i++) tokens.push(await visitorToken(stage, service.client(), shop));
  const network = freshNetworkAddress();
  const wrong = (from: Service) => from.client(network).get('/api/verify-token?token=nothing');
  const statuses = [];
  for (let i = 0; i < 60; i++) statuses.push((await wrong(i % 2 ? service : second)).status);
  expect(statuses).toEqual(Array(60).fill(200));
  // The count is shared by the instances but not exact to the last call.
  let refused = await wrong(service);
  for (let i = 0; i < 60 && refused.status === 200; i++) refused = await wrong(service);
  expect(refused.status).toBe(429);
  expect(Number(refused.headers['retry-after'])).toBeGreaterThan(0);
  for (const token of tokens) {
    const response = await service.client(network).get(`/api/verify-token?token=${token}&domain=${shop}`);
    expect([response.status, response.json.valid]).toEqual([200, true]);
  }
  expect((await wrong(service)).status).toBe(429);
});

test('an address longer than the key column is limited like any other', async () => {
  const local = `${randomBytes(10).toString('hex')}${'l'.repeat(44)}`;
  const email = `${local}@${'d'.repeat(60)}.${'e'.repeat(60)}.${'f'.repeat(58)}.example`;
  expect(email).toHaveLength(253);
  const { client } = await signInDeveloper(stage, service, email);
  const responses = [];
  for (let i = 1; i <= 11; i++) responses.push((await client.post('/api/websites', { domain: freshDomain() })).status);
  expect(responses).toEqual([...Array(10).fill(200), 429]);
});

test('a client address may register ten websites an hour', async () => {
  const network = freshNetworkAddress();
  const register = () => service.client(network).post('/api/websites/register', { domain: freshDomain(), email: freshAddress() });
  const responses = [];
  for (let i = 1; i <= 11; i++) responses.push((await register()).status);
  expect(responses).toEqual([...Array(10).fill(200), 429]);
});

test('an unclaimed website has 20 recipients a day, and no limit once its linked address has signed in', async () => {
  const [domain, owner] = [freshDomain(), freshAddress('owner')];
  await service.client().post('/api/websites/register', { domain, email: owner });
  const visit = () => service.client().post('/api/auth/domain-auth', { email: freshAddress(), forward_url: `https://${domain}/` });
  for (let n = 0; n < 20; n++) expect((await visit()).status).toBe(200);
  const refused = await visit();
  expect([refused.status, refused.json.code]).toEqual([403, 'site_recipients_used_up']);
  const mail = await stage.mailbox.waitFor(owner);
  const browser = service.client();
  const t = new URL(mail.link).searchParams.get('t');
  const { redirectUrl } = (await browser.post('/api/auth/confirm-link', { t, email: owner })).json;
  const token = new URL(redirectUrl).searchParams.get('token');
  expect((await browser.post('/api/auth/token-login', { token, confirm: true })).status).toBe(200);
  expect((await visit()).status).toBe(200);
});

test('a change of the domain counts as a registration, and other changes do not', async () => {
  const { client } = await signInDeveloper(stage, service);
  const { id, domain } = (await client.post('/api/websites', { domain: freshDomain() })).json;
  const moves = [];
  for (let i = 0; i < 10; i++) moves.push((await client.put(`/api/websites/${id}`, { domain: freshDomain() })).status);
  expect(moves).toEqual([...Array(9).fill(200), 429]);
  const [{ domain: current }] = (await client.get('/api/websites')).json;
  expect(current).not.toBe(domain);
  expect((await client.put(`/api/websites/${id}`, { domain: current })).status).toBe(200);
});

test('an account has at most 100 unverified websites, counted exactly at two instances without proven ones', async () => {
  const { client, email } = await signInDeveloper(stage, service);
  const add = (count: number, proven: boolean) =>
    stage.query(
      `insert into websites (id, domain, email, claimed_at, proven_at)
       select gen_random_uuid(), gen_random_uuid() || '.example', $1, now(), case when $3 then now() end from generate_series(1, $2::int)`,
      [email, count, proven],
    );
  await add(98, false);
  await add(5, true);
  const other = Object.assign(second.client(), { cookies: client.cookies });
  const create = (from: Client) => from.post('/api/websites', { domain: freshDomain() }, { Origin: service.url });
  const responses = await Promise.all(Array.from({ length: 8 }, (_, i) => create(i % 2 ? client : other)));
  expect(responses.map(({ status }) => status).sort()).toEqual([200, 200, ...Array(6).fill(409)]);
  expect(responses.find(({ status }) => status === 409)?.json).toMatchObject({
    code: 'too_many',
    error: expect.stringMatching(/^There are 100 websites with an unverified domain .* Verify a domain, or delete one of them\.$/),
  });

  expect((await service.client().post('/api/websites/register', { domain: freshDomain(), email })).json.code).toBe('too_many');
  await stage.query("delete from rate_limits where key like '% ' || $1", [email]);
  const sites: { id: string; verified: boolean }[] = (await client.get('/api/websites')).json;
  const move = (verified: boolean) =>
    client.put(`/api/websites/${sites.find((site) => site.verified === verified)?.id}`, { domain: freshDomain() });
  expect((await move(true)).json.code).toBe('too_many');
  expect((await move(false)).status).toBe(200);
});

test('registrations without a session do not count as websites that the account added, also once a sign-in has claimed them', async () => {
  const { client, email } = await signInDeveloper(stage, service);
  await stage.query(
    "insert into websites (id, domain, email, registered_by_others, claimed_at) select gen_random_uuid(), gen_random_uuid() || '.example', $1, true, now() from generate_series(1, 100)",
    [email],
  );
  expect((await client.post('/api/websites', { domain: freshDomain() })).status).toBe(200);
});
