import { expect, test } from 'vitest';
import type { Output } from '../../contract/calls.ts';
import { useProduction, useService } from '../support/harness.ts';
import { freshAddress, openLink, requestEmail, signInDeveloper, tokenOf } from '../support/sign-ins.ts';
import { countNow } from '../support/statistics.ts';

const { stage, service } = await useService();
// On the same database, which has the website `localhost`.
const { service: production } = await useProduction();
const [ann, bob] = [await signInDeveloper(stage, service), await signInDeveloper(stage, service)];
const cho = await signInDeveloper(stage, production);

const read = async ({ client }: typeof ann): Promise<Output<'readWebsite'>> => (await client.get('/api/websites/mine/localhost')).json;
const listed = async ({ client }: typeof ann): Promise<string[]> =>
  ((await client.get('/api/websites')).json as Output<'listWebsites'>).map(({ domain }) => domain);

test('in local mode, every developer has the website localhost, in every list and with its set-up, log and statistics', async () => {
  const visitor = service.client();
  const email = freshAddress();
  await requestEmail(visitor, email, 'http://localhost:4000/callback');
  const token = tokenOf(await openLink(visitor, await stage.mailbox.waitFor(email)));
  expect((await visitor.get(`/api/verify-token?token=${token}&domain=localhost`)).json.valid).toBe(true);
  await countNow(stage);
  for (const developer of [ann, bob]) {
    const { client } = developer;
    expect(await listed(developer)).toEqual(['localhost']);
    const { id, role, verified, onProbation, createdAt } = await read(developer);
    expect([role, verified, onProbation, Date.parse(createdAt) > 0]).toEqual(['member', true, false, true]);
    const found: Output<'searchWebsites'> = (await client.get('/api/websites/search?q=local')).json;
    expect(found.websites).toMatchObject([{ id, domain: 'localhost', lastSignIn: expect.any(String) }]);
    expect(found.websites[0].signIns.at(-1)).toBeGreaterThan(0);
    const setup: Output<'websiteSetup'> = (await client.get('/api/websites/mine/localhost/setup')).json;
    expect(setup.steps.filter(({ state }) => state === 'done').map(({ step }) => step)).toEqual(
      expect.arrayContaining(['proof', 'sign_in']),
    );
    const log: Output<'websiteLog'> = (await client.get(`/api/websites/${id}/log`)).json;
    expect(log.events.map((event) => event.email)).toContain(email);
    const history: Output<'websiteHistory'> = (await client.get(`/api/websites/${id}/stats`)).json;
    expect(history.total.completed).toBeGreaterThan(0);
    const stats: Output<'websiteStats'> = (await client.get('/api/websites/stats')).json;
    expect(stats.find((each) => each.id === id)?.opened).toBeGreaterThan(0);
    expect((await client.get(`/api/websites/${id}/members`)).json).toEqual([]);
  }
});

test('no developer can move, delete or register it', async () => {
  const { client } = ann;
  const { id } = await read(ann);
  const refused = [
    await client.put(`/api/websites/${id}`, { domain: 'shop.example' }),
    await client.delete(`/api/websites/${id}`),
    await client.post(`/api/websites/${id}/members`, { email: freshAddress(), role: 'member' }),
  ];
  expect(refused.map(({ status, json }) => [status, json.code])).toEqual(refused.map(() => [403, 'owner_needed']));
  expect((await client.put(`/api/websites/${id}`, { domain: 'localhost', iconUrl: null })).status).toBe(200);
  for (const domain of ['localhost', 'http://localhost:4000']) {
    const { status, json } = await client.post('/api/websites', { domain });
    expect([status, json.code, json.error]).toEqual([400, 'bad_domain', expect.stringContaining('localhost cannot be registered')]);
  }
});

test('a service in production has no such website, also where the database has one', async () => {
  const { client } = cho;
  const { id } = await read(ann);
  expect(await listed(cho)).toEqual([]);
  expect((await client.get('/api/websites/search')).json).toMatchObject({ total: 0 });
  expect((await client.get('/api/websites/stats')).json).toEqual([]);
  for (const path of [
    `mine/localhost`,
    `mine/localhost/setup`,
    `${id}/log`,
    `${id}/stats`,
    `${id}/members`,
    `${id}/branding`,
    `domain/localhost`,
  ])
    expect([path, (await client.get(`/api/websites/${path}`)).status]).toEqual([path, 404]);
  const { status } = await production
    .client()
    .post('/api/auth/domain-auth', { email: freshAddress(), forward_url: 'http://localhost:4000/' });
  expect(status).toBe(400);
});
