import { expect, test } from 'vitest';
import type { HttpResponse } from '../support/client.ts';
import { useService } from '../support/harness.ts';
import { addWebsite, freshAddress, openLink, requestEmail, tokenOf, visitorToken } from '../support/sign-ins.ts';

const { stage, service } = await useService();
const [shop, other] = [await addWebsite(stage, service), await addWebsite(stage, service)];

const tokenFor = (host: string) => visitorToken(stage, service.client(), host);
const newToken = () => tokenFor(shop);
const verify = (token: string, query = '', headers: Record<string, string> = {}): Promise<HttpResponse> =>
  service.client().get(`/api/verify-token?token=${encodeURIComponent(token)}${query}`, headers);

test('a token is valid for the host of its forward_url, and not consumed by another website', async () => {
  const token = await newToken();
  for (const domain of [other, `www.${other}`, 'nowhere.example', 'example', '', `${shop}.${other}`]) {
    const response = await verify(token, `&domain=${domain}`);
    expect([domain, response.status, response.json]).toEqual([domain, 200, { email: null, valid: false, reason: 'other_domain' }]);
  }
  expect((await verify(token, `&domain=${shop.toUpperCase()}`)).json).toMatchObject({ valid: true, domain: shop });
});

test.each([
  ['', ''],
  ['', 'www.'],
  ['www.', ''],
  ['www.', 'www.'],
  ['users.', 'users.'],
  ['users.', 'www.users.'],
  ['www.users.', 'users.'],
])('a token for the host %s<domain> is valid at %s<domain>', async (host, asking) => {
  const token = await tokenFor(`${host}${shop}`);
  const domain = `${host}${shop}`.replace(/^www\./, '');
  expect((await verify(token, `&domain=${asking}${shop}`)).json).toMatchObject({ valid: true, domain });
});

// Subdomains often belong to other people than the domain.
test.each([
  ['users.', ''],
  ['users.', 'www.'],
  ['users.', 'app.'],
  ['', 'users.'],
  ['www.', 'users.'],
])('a token for the host %s<domain> is invalid at %s<domain>', async (host, asking) => {
  const token = await tokenFor(`${host}${shop}`);
  expect((await verify(token, `&domain=${asking}${shop}`)).json).toEqual({ email: null, valid: false, reason: 'other_domain' });
  expect((await verify(token)).json).toMatchObject({ valid: true, domain: `${host}${shop}`.replace(/^www\./, '') });
});

test('returns unknown for unknown and malformed tokens', async () => {
  for (const token of ['nothing', 'A'.repeat(43), '../../etc', 'a b', '💥', 'x'.repeat(512)]) {
    const response = await verify(token);
    expect([token, response.status, response.json]).toEqual([token, 200, { email: null, valid: false, reason: 'unknown' }]);
  }
});

test('returns 400 with a message for missing, empty, repeated and structured tokens', async () => {
  for (const query of [
    '',
    '?token=',
    '?token=%00',
    '?token=a&token=b',
    '?token[]=a',
    '?token[x]=a',
    '?domain=a.example',
    `?token=${'x'.repeat(513)}`,
  ]) {
    const response = await service.client().get(`/api/verify-token${query}`);
    expect([query, response.status]).toEqual([query, 400]);
    expect(response.json.error).toBeTruthy();
  }
  const token = await newToken();
  expect((await service.client().get(`/api/verify-token?token=${token}&token=${token}`)).status).toBe(400);
  expect((await verify(token)).json.valid).toBe(true);
});

test('accepts POST with a JSON body', async () => {
  const token = await newToken();
  expect((await service.client().post('/api/verify-token', { token, domain: other })).json.reason).toBe('other_domain');
  expect((await service.client().post('/api/verify-token', { token, domain: shop })).json).toMatchObject({ valid: true, domain: shop });
  expect((await service.client().post('/api/verify-token', { token, domain: shop })).json.reason).toBe('used');
  expect((await service.client().post('/api/verify-token', { token: [token] })).status).toBe(400);
});

test('HEAD does not consume the token', async () => {
  const token = await newToken();
  await service.client().send(`/api/verify-token?token=${token}`, { method: 'HEAD' });
  expect((await verify(token)).json.valid).toBe(true);
});

test('an Idempotency-Key repeats the response within 60 s, only for the same key and website', async () => {
  const token = await newToken();
  const key = { 'Idempotency-Key': 'request-1' };
  const first = await verify(token, `&domain=${shop}`, key);
  expect(first.json.valid).toBe(true);
  expect((await verify(token, `&domain=${shop}`, key)).json).toEqual(first.json);
  expect((await verify(token, `&domain=${other}`, key)).json.valid).toBe(false);
  expect((await verify(token, '', { 'Idempotency-Key': 'request-2' })).json.reason).toBe('used');
  expect((await verify(token)).json.reason).toBe('used');
  await stage.query("update tokens set used_at = now() - interval '61 seconds' where email = $1", [first.json.email]);
  expect((await verify(token, `&domain=${shop}`, key)).json.reason).toBe('used');
});

test('an Idempotency-Key does not make an invalid token valid', async () => {
  expect((await verify('nothing', '', { 'Idempotency-Key': 'k' })).json.reason).toBe('unknown');
});

test('responses are not stored, and pages of other origins may call without cookies', async () => {
  const response = await verify('nothing', '', { Origin: 'https://shop.example', 'Sec-Fetch-Site': 'cross-site' });
  expect(response.status).toBe(200);
  expect(response.headers['cache-control']).toBe('no-store');
  expect(response.headers['access-control-allow-origin']).toBe('*');
  expect(response.headers['access-control-allow-credentials']).toBeUndefined();
  const preflight = await service.client().send('/api/verify-token', {
    method: 'OPTIONS',
    headers: { Origin: 'https://shop.example', 'Access-Control-Request-Method': 'POST', 'Access-Control-Request-Headers': 'content-type' },
  });
  expect(preflight.status).toBeLessThan(300);
  expect(preflight.headers['access-control-allow-origin']).toBe('*');
});

test('a token of a website cannot open a session of the portal', async () => {
  const [client, email] = [service.client(), freshAddress()];
  await requestEmail(client, email, `https://${shop}/`);
  const token = tokenOf(await openLink(client, await stage.mailbox.waitFor(email)));
  for (const confirm of [undefined, true]) expect((await client.post('/api/auth/token-login', { token, confirm })).status).toBe(401);
  expect((await verify(token)).json.valid).toBe(true);
});
