import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { openStage, production, type Service, type Stage } from './harness.ts';
import { type Developer, freshAddress, freshDomain, openLink, requestEmail, signInDeveloper, tokenOf } from './sign-ins.ts';

let stage: Stage;
let service: Service;
let owner: Developer;
let website: { id: string; domain: string };
beforeAll(async () => {
  stage = await openStage();
  service = await stage.start(production);
  owner = await signInDeveloper(stage, service);
});
afterAll(() => stage.close());
beforeEach(async () => {
  await stage.query('truncate sign_in_limits, rate_limits');
  website = (await owner.client.post('/api/websites', { domain: freshDomain() })).json;
});

const pageOf = (domain: string) => `${service.url}/dashboard/websites/${domain}/test`;
/** Signs a visitor in to a website, back to its test page. */
const testToken = async (email = freshAddress(), client = service.client()) => {
  await requestEmail(client, email, pageOf(website.domain));
  const mail = await stage.mailbox.waitFor(email);
  expect(mail.text).toContain(website.domain);
  const location = await openLink(client, mail);
  expect(location.split('?')[0]).toBe(pageOf(website.domain));
  return tokenOf(location);
};
const verifyTest = (token: string, client = owner.client) => client.post(`/api/websites/${website.id}/test-token`, { token });

test('the token of a test sign-in is valid once, for those who manage the website, and never for the website', async () => {
  const email = freshAddress();
  const token = await testToken(email);
  for (const query of ['', `&domain=${website.domain}`, `&domain=www.${website.domain}`, `&domain=test%20${website.domain}`]) {
    const { json } = await service.client().get(`/api/verify-token?token=${token}${query}`);
    expect([query, json]).toEqual([query, { email: null, valid: false, reason: 'other_domain' }]);
  }
  const other = await signInDeveloper(stage, service);
  const foreign = await verifyTest(token, other.client);
  expect([foreign.status, foreign.json.code]).toEqual([404, 'website_not_found']);
  expect((await verifyTest(token, service.client())).status).toBe(401);
  const neighbor = (await other.client.post('/api/websites', { domain: freshDomain() })).json;
  const elsewhere = await other.client.post(`/api/websites/${neighbor.id}/test-token`, { token });
  expect(elsewhere.json).toEqual({ email: null, valid: false, reason: 'other_domain' });

  expect((await verifyTest(token)).json).toMatchObject({ email, valid: true, domain: website.domain, method: 'link' });
  expect((await verifyTest(token)).json).toEqual({ email: null, valid: false, reason: 'used' });
  expect((await verifyTest('x'.repeat(43))).json).toEqual({ email: null, valid: false, reason: 'unknown' });
});

test('the token of a visitor of the website is not valid as that of a test', async () => {
  const [client, email] = [service.client(), freshAddress()];
  await requestEmail(client, email, `https://${website.domain}/`);
  const token = tokenOf(await openLink(client, await stage.mailbox.waitFor(email)));
  expect((await verifyTest(token)).json).toEqual({ email: null, valid: false, reason: 'other_domain' });
  expect((await client.get(`/api/verify-token?token=${token}&domain=${website.domain}`)).json).toMatchObject({ email, valid: true });
});

test('a remembered account tests without an email', async () => {
  const [client, email] = [service.client(), freshAddress()];
  await testToken(email, client);
  const key = decodeURIComponent(client.cookies.get('auth_key') ?? '');
  const { json } = await client.post('/api/auth/validate-key', { email, key, forward_url: pageOf(website.domain) });
  expect((await verifyTest(tokenOf(json.redirectUrl))).json).toMatchObject({
    email,
    valid: true,
    domain: website.domain,
    method: 'remembered',
  });
});

test('only the test page of a registered website can be a forward_url in the portal', async () => {
  const request = async (forward_url: string) =>
    (await service.client().post('/api/auth/domain-auth', { email: freshAddress(), forward_url })).json.code;
  expect(await request(pageOf(freshDomain()))).toBe('domain_not_registered');
  for (const url of [
    `${pageOf(website.domain)}/more`,
    `${pageOf(website.domain)}?token=x`,
    `${service.url}/dashboard/websites/${website.domain}`,
    pageOf(`www.${website.domain}`),
    pageOf('localhost'),
    `${service.url}/developer?x`,
  ])
    expect([url, await request(url)]).toEqual([url, 'bad_forward_url']);
});
