import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, expect, test } from 'vitest';
import type { Output } from '../../contract/calls.ts';
import type { Client } from '../support/client.ts';
import { useProduction, useService } from '../support/harness.ts';
import { integratedSite } from '../support/integrated-site.ts';
import {
  freshAddress,
  freshDomain,
  openLink,
  proveWebsite,
  requestEmail,
  signInDeveloper,
  tokenOf,
  visitorToken,
} from '../support/sign-ins.ts';
import { waitUntil } from '../support/waiting.ts';

type Setup = Output<'websiteSetup'>;
type Check = Output<'checkCallback'>;

const { stage, names, service } = await useService();
const { service: production } = await useProduction();

let handler = integratedSite(service.url, () => site);
const app = createServer((request, response) => handler(request, response)).listen(0, '127.0.0.1');
await new Promise((resolve) => app.once('listening', resolve));
const site = `http://localhost:${(app.address() as AddressInfo).port}`;
afterAll(() => {
  app.close();
  app.closeAllConnections();
});

const addSite = async (client: Client): Promise<{ id: string; domain: string }> => {
  const response = await client.post('/api/websites', { domain: freshDomain() });
  expect(response.status).toBe(200);
  return response.json;
};
const setupOf = async (client: Client, domain: string): Promise<Setup> => {
  const response = await client.get(`/api/websites/mine/${domain}/setup`);
  expect([response.status, response.text.slice(0, 200)]).toEqual([200, expect.anything()]);
  return response.json;
};
const states = ({ steps }: Setup) => Object.fromEntries(steps.map(({ step, state }) => [step, state]));
const check = (client: Client, id: string, url?: string) => client.post(`/api/websites/${id}/callback-check`, { url });
const okOf = ({ results }: Check, id: string) => results.find((result) => result.id === id);
const verify = async (client: Client, domain: string, token: string) =>
  (await client.get(`/api/verify-token?token=${token}&domain=${domain}`)).json;

test('every step is done by its event, and the set-up is incomplete again when something breaks', async () => {
  const { client } = await signInDeveloper(stage, service);
  const { id, domain } = await addSite(client);
  const first = await setupOf(client, domain);
  expect(states(first)).toEqual({ link: 'open', callback: 'open', sign_in: 'open', proof: 'open', mail: 'open' });
  expect([first.complete, first.callback]).toEqual([false, `https://${domain}/auth/callback`]);

  const checked = await check(client, id, `${site}/auth/callback?dropped=1`);
  expect([checked.status, checked.json.callback]).toEqual([200, `${site}/auth/callback`]);
  expect(['callback', 'callback_refusal', 'login'].map((each) => okOf(checked.json, each)?.ok)).toEqual([true, true, true]);
  const second = await setupOf(client, domain);
  expect(states(second)).toMatchObject({ link: 'done', callback: 'done', sign_in: 'open' });
  expect(second.callback).toBe(`${site}/auth/callback`);

  const visitor = service.client();
  const email = freshAddress();
  await requestEmail(visitor, email, `https://${domain}/`);
  const asked = (await setupOf(client, domain)).steps.find(({ step }) => step === 'sign_in');
  expect(asked).toMatchObject({ state: 'open', text: expect.stringContaining('was requested') });
  const token = tokenOf(await openLink(visitor, await stage.mailbox.waitFor(email)));
  const opened = (await setupOf(client, domain)).steps.find(({ step }) => step === 'sign_in');
  expect(opened).toMatchObject({ state: 'open', text: expect.stringContaining('has not verified it yet') });
  expect((await verify(visitor, domain, token)).valid).toBe(true);
  expect(states(await setupOf(client, domain))).toEqual({ link: 'done', callback: 'done', sign_in: 'done', proof: 'open', mail: 'done' });
  await proveWebsite(names, client, domain);
  expect((await setupOf(client, domain)).complete).toBe(true);

  expect((await verify(visitor, domain, token)).reason).toBe('used');
  await waitUntil('the rejected token', 30_000, async () => states(await setupOf(client, domain)).sign_in === 'failed');
  expect((await setupOf(client, domain)).complete).toBe(false);
  expect((await verify(visitor, domain, await visitorToken(stage, visitor, domain))).valid).toBe(true);
  expect((await setupOf(client, domain)).complete).toBe(true);

  // A token that nobody issued says nothing about the website.
  expect((await verify(visitor, domain, 'a'.repeat(43))).valid).toBe(false);
  handler = (_, response) => response.writeHead(500).end();
  expect(okOf((await check(client, id, `${site}/auth/callback`)).json, 'callback')?.ok).toBe(false);
  const broken = await setupOf(client, domain);
  expect(states(broken)).toMatchObject({ callback: 'failed', sign_in: 'done' });
  expect(broken.steps[1].fix).toContain('log');
  handler = integratedSite(service.url, () => site);
  await check(client, id, `${site}/auth/callback`);
  expect((await setupOf(client, domain)).complete).toBe(true);

  const moved = freshDomain();
  expect((await client.put(`/api/websites/${id}`, { domain: moved })).status).toBe(200);
  const after = await setupOf(client, moved);
  expect(states(after)).toEqual({ link: 'open', callback: 'open', sign_in: 'open', proof: 'failed', mail: 'open' });
  expect(after.callback).toBe(`https://${moved}/auth/callback`);
});

test('a check and a proof are events after the cursor of the set-up', async () => {
  const { client } = await signInDeveloper(stage, service);
  const { id, domain } = await addSite(client);
  const { cursor } = await setupOf(client, domain);
  await check(client, id, `${site}/auth/callback`);
  await proveWebsite(names, client, domain);
  const { events } = (await client.get(`/api/websites/events?domain=${domain}&after=${cursor}`)).json as Output<'websiteEvents'>;
  expect(events.map(({ kind }) => kind).filter((kind) => kind !== 'token_refused')).toEqual(['callback_checked', 'domain_proven']);
});

test('in local mode, a sign-in at localhost is the first sign-in', async () => {
  const { client } = await signInDeveloper(stage, service);
  const { domain } = await addSite(client);
  const visitor = service.client();
  const email = freshAddress();
  await requestEmail(visitor, email, `${site}/auth/callback`);
  const token = tokenOf(await openLink(visitor, await stage.mailbox.waitFor(email)));
  expect((await verify(visitor, 'localhost', token)).valid).toBe(true);
  expect(states(await setupOf(client, domain))).toMatchObject({ link: 'open', callback: 'open', sign_in: 'done' });
});

test('a callback is checked on the hosts of its website only, and only at public addresses', async () => {
  const { client } = await signInDeveloper(stage, production);
  const { id, domain } = await addSite(client);
  for (const url of [
    'https://other.example/auth/callback',
    `https://${domain}.other.example/auth/callback`,
    `http://${domain}/auth/callback`,
    `https://${domain}:8443/auth/callback`,
    `https://user@${domain}/auth/callback`,
    `${site}/auth/callback`,
    'http://127.0.0.1/auth/callback',
    'http://169.254.169.254/latest/meta-data',
    'not an address',
  ]) {
    const { status, json } = await check(client, id, url);
    expect([url, status, json.code, json.field]).toEqual([url, 400, 'bad_request', 'url']);
  }
  const local = await signInDeveloper(stage, service);
  const own = await addSite(local.client);
  const elsewhere = await check(local.client, own.id, `https://${domain}/auth/callback`);
  expect([elsewhere.status, elsewhere.json.field]).toEqual([400, 'url']);

  for (const [at, website] of [
    [client, { id, domain }],
    [local.client, own],
  ] as const)
    for (const address of ['127.0.0.1', '10.1.2.3', '169.254.169.254']) {
      names.setAddresses(`www.${website.domain}`, [address]);
      const { status, json } = await check(at, website.id, `https://www.${website.domain}/auth/callback`);
      expect([address, status, okOf(json, 'callback')?.ok]).toEqual([address, 200, false]);
      expect(okOf(json, 'callback')?.detail).toContain('no address on the public internet');
    }

  const limited = await signInDeveloper(stage, production);
  const other = await addSite(limited.client);
  const statuses = [];
  for (let i = 0; i < 6; i++) statuses.push((await check(limited.client, other.id)).status);
  expect(statuses).toEqual([200, 200, 200, 200, 200, 429]);
});

test('the set-up of a website is for those who manage it', async () => {
  const owner = await signInDeveloper(stage, service);
  const { id, domain } = await addSite(owner.client);
  const other = await signInDeveloper(stage, service);
  expect((await other.client.get(`/api/websites/mine/${domain}/setup`)).status).toBe(404);
  expect((await check(other.client, id)).status).toBe(404);
  expect((await service.client().get(`/api/websites/mine/${domain}/setup`)).status).toBe(401);
  await stage.query("insert into website_members (website_id, email, role, invited_by, joined_at) values ($1, $2, 'member', $3, now())", [
    id,
    other.email,
    owner.email,
  ]);
  expect((await setupOf(other.client, domain)).complete).toBe(false);
});
