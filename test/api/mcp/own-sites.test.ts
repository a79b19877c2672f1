import { afterAll, beforeAll, expect, test } from 'vitest';
import { useService } from '../../support/harness.ts';
import { addApplication, signInAt, websiteClient } from '../../support/oidc-driver.ts';
import { type Developer, freshAddress, freshDomain, signInDeveloper, visitorToken } from '../../support/sign-ins.ts';
import { countNow } from '../../support/statistics.ts';
import { callTool, failing, generations, type McpClient, succeeding } from './clients.ts';

const { stage, service } = await useService();
let owner: Developer;
let other: Developer;
let mine: McpClient;
let nobodys: McpClient;
beforeAll(async () => {
  [owner, other] = await Promise.all([signInDeveloper(stage, service), signInDeveloper(stage, service)]);
  const open = generations['client 2.x'];
  [mine, nobodys] = await Promise.all([open(service.url, owner.client.cookies.get('sid')), open(service.url)]);
  // After listing tools the client validates every result by its outputSchema.
  await Promise.all([mine.listTools(), nobodys.listTools()]);
});
afterAll(async () => {
  await Promise.all([mine.close(), nobodys.close()]);
});

const addWebsite = async (developer: Developer): Promise<string> =>
  (await developer.client.post('/api/websites', { domain: freshDomain() })).json.domain;
const domainsOf = async (developer: Developer): Promise<string[]> =>
  (await developer.client.get('/api/websites')).json.map(({ domain }: { domain: string }) => domain);

test('lists, reads, moves and deletes a website', async () => {
  const domain = await addWebsite(owner);
  const moved = freshDomain();
  expect((await succeeding(mine, 'list_sites')).response.sites).toContainEqual(
    expect.objectContaining({ domain, verified: false, iconUrl: null }),
  );
  const { response: site, text } = await succeeding(mine, 'get_site', { domain: ` ${domain.toUpperCase()} ` });
  expect(site).toMatchObject({ domain, proof: { record: `_emailauth.${domain}` } });
  expect(text).toContain(site.proof.value);
  const { response: changed } = await succeeding(mine, 'update_site', { domain, newDomain: moved, confirmDomain: domain, iconUrl: null });
  expect(changed).toMatchObject({ domain: moved, movedFrom: domain, iconUrl: null });
  expect(await failing(mine, 'delete_site', { domain: moved, confirmDomain: domain })).toMatch(/nothing was deleted.*Ask the person/);
  expect(await domainsOf(owner)).toContain(moved);
  expect((await succeeding(mine, 'delete_site', { domain: moved, confirmDomain: moved })).response).toEqual({
    domain: moved,
    deleted: true,
  });
  expect(await domainsOf(owner)).not.toContain(moved);
  expect(await failing(mine, 'delete_site', { domain: moved, confirmDomain: moved })).toContain('is not one of your websites');
});

test('rejects an update without changes, a taken domain and an unknown icon', async () => {
  const [domain, taken] = [await addWebsite(owner), await addWebsite(other)];
  expect(await failing(mine, 'update_site', { domain })).toContain('Give newDomain or iconUrl');
  expect(await failing(mine, 'update_site', { domain, newDomain: freshDomain() })).toContain('nothing was changed');
  expect(await failing(mine, 'update_site', { domain, newDomain: taken, confirmDomain: domain })).toMatch(
    /is registered already.*nothing was changed/,
  );
  expect(await failing(mine, 'update_site', { domain, newDomain: 'co.uk', confirmDomain: domain })).toContain('public suffix');
  expect(await failing(mine, 'update_site', { domain, iconUrl: '/objects/uploads/../../etc/passwd' })).toContain('iconUrl');
  expect(await domainsOf(owner)).toContain(domain);
});

test('does not find the website of another account and leaves it unchanged', async () => {
  const domain = await addWebsite(other);
  const before = (await other.client.get('/api/websites')).json;
  const calls: [string, Record<string, unknown>][] = [
    ['get_site', { domain }],
    ['update_site', { domain, newDomain: freshDomain(), confirmDomain: domain }],
    ['delete_site', { domain, confirmDomain: domain }],
    ['get_stats', { domain }],
    ['check_integration', { domain }],
  ];
  for (const [name, input] of calls)
    expect([name, await failing(mine, name, input)]).toEqual([name, expect.stringMatching(/is not (?:one of|among) your/)]);
  expect((await other.client.get('/api/websites')).json).toEqual(before);
  expect(JSON.stringify(await succeeding(mine, 'list_sites'))).not.toContain(domain);
  await expect(mine.readResource({ uri: `emailauth://sites/${domain}` })).rejects.toThrow('Resource not found');
});

test('explains how to sign in when not signed in, for any website', async () => {
  const domain = await addWebsite(owner);
  const calls: [string, Record<string, unknown>][] = [
    ['list_sites', {}],
    ['get_site', { domain }],
    ['update_site', { domain, iconUrl: null }],
    ['delete_site', { domain, confirmDomain: domain }],
    ['get_stats', {}],
    ['check_integration', { domain }],
  ];
  for (const [name, input] of calls)
    await expect(callTool(nobodys, name, input)).rejects.toThrow(/You are not signed in\..*send Authorization: Bearer/);
  expect(await domainsOf(owner)).toContain(domain);
});

test('returns statistics of the website', async () => {
  const domain = await addWebsite(owner);
  await service.client().get(`/api/verify-token?token=${await visitorToken(stage, service.client(), domain)}`);
  await countNow(stage);
  const { response, text } = await succeeding(mine, 'get_stats', { domain });
  expect(response).toMatchObject({ days: 30, sites: [{ domain, sent: 1, opened: 1, completed: 1 }] });
  expect(text).toContain(`${domain}: 1 emails, 1 opened`);
  expect((await succeeding(mine, 'get_stats')).response.sites.length).toBe((await domainsOf(owner)).length);
});

test('explains the sign-ins of a website, newest first, with what is missing or to be fixed', async () => {
  const domain = await addWebsite(owner);
  expect((await succeeding(mine, 'explain_sign_in', { domain })).response).toMatchObject({
    events: [],
    summary: expect.stringContaining('Nothing happened'),
  });
  const client = service.client();
  const [ann, bob] = [freshAddress('ann'), freshAddress('bob')];
  await visitorToken(stage, client, domain, bob);
  const token = await visitorToken(stage, client, domain, ann);
  const unverified = (await succeeding(mine, 'explain_sign_in', { domain, email: ann, since: '10m' })).response;
  expect(unverified.summary).toMatch(/The website has not verified the token.*check_integration/);
  for (const { email } of unverified.events) expect(email).toBe(ann);
  for (let i = 0; i < 2; i++) await client.get(`/api/verify-token?token=${token}&domain=${domain}`);
  const { response, text } = await succeeding(mine, 'explain_sign_in', { domain: domain.toUpperCase() });
  expect(response.events.slice(0, 2)).toMatchObject([{ kind: 'token_refused', reason: 'used' }, { kind: 'verified' }]);
  expect(response.summary).toContain('Verify each token once');
  expect(text).toContain(`token_refused used ("${ann}")`);
  const { clientId } = await addApplication(owner);
  expect((await succeeding(mine, 'explain_sign_in', { domain: clientId })).response.events).toEqual([]);
  await signInAt(stage, service, websiteClient(domain));
  // The exchange is recorded after its response.
  const summaryOf = async () => (await succeeding(mine, 'explain_sign_in', { domain })).response.summary;
  await expect.poll(summaryOf).toContain('exchanged its code');
  expect(await failing(mine, 'explain_sign_in', { domain: await addWebsite(other) })).toContain('is not one of your websites');
  expect(await failing(mine, 'explain_sign_in', { domain, since: '8d' })).toContain('since');
  await stage.query(
    "insert into audit_log (action, email, website_id) select 'sign_in_requested', 'ann@mail.example', id from websites, generate_series(1, 4200) where domain = $1",
    [domain],
  );
  expect(await failing(mine, 'explain_sign_in', { domain })).toContain('There are too many events in the last 1h.');
  await expect(callTool(nobodys, 'explain_sign_in', { domain })).rejects.toThrow('not signed in');
});
