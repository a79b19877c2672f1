import { expect, test } from 'vitest';
import type { HttpResponse } from '../support/client.ts';
import { useProduction } from '../support/harness.ts';
import { signInDeveloper } from '../support/sign-ins.ts';

const { stage, service } = await useProduction();

const MANY = 'a&'.repeat(7_900);
const FORM = { 'Content-Type': 'application/x-www-form-urlencoded' };

const cheap: [what: string, send: () => Promise<HttpResponse>][] = [
  ['a query of 7,900 parameters', () => service.client().get(`/api/languages?${MANY}`)],
  ['a form of 16 KB', () => service.client().send('/api/auth/token', { method: 'POST', headers: FORM, body: 'a&'.repeat(8_190) })],
  ['a link with 7,000 parameters', () => service.client().get(`/auth/link?t=x&${'a&'.repeat(7_000)}`)],
  ['a page with 7,000 parameters', () => service.client().get(`/auth?${'a=1&'.repeat(3_500)}`)],
  ['51 accepted types', () => service.client().get('/', { Accept: `${'text/html, '.repeat(50)}text/html` })],
  ['51 proxies', () => service.client().get('/api/languages', { 'X-Forwarded-For': `${'192.0.2.1, '.repeat(50)}192.0.2.1` })],
];

test.each(cheap)('rejects %s with a message', async (_what, send) => {
  const response = await send();
  expect([response.status, response.json.code]).toEqual([400, 'too_many_fields']);
  expect(response.json.error_description ?? response.json.error).toMatch(/^The request has more than 50 [a-z -]+\.$/);
});

test('uses the error code of RFC 6749 on an OAuth call', async () => {
  const client = service.client();
  for (const response of [
    await client.send('/api/auth/token', { method: 'POST', headers: FORM, body: MANY }),
    await client.send(`/api/auth/token?${MANY}`, { method: 'POST', headers: FORM, body: '' }),
  ])
    expect([response.status, response.json.error, response.json.code]).toEqual([400, 'invalid_request', 'too_many_fields']);
});

// Browsers keep 180 cookies for a domain, which the other apps of a domain may set.
test('accepts 180 cookies of others and reads its own', async () => {
  const developer = await signInDeveloper(stage, service);
  const others = Array.from({ length: 180 }, (_, at) => `analytics_${at}=${'v'.repeat(20)}`).join('; ');
  const sid = [...developer.client.cookies].map(([name, value]) => `${name}=${value}`).find((cookie) => /^(?:__Host-)?sid=/.test(cookie));
  for (const Cookie of [`${others}; ${sid}`, `${sid}; ${others}`]) {
    const response = await service.client().get('/api/user/me', { Cookie });
    expect([response.status, response.json.email]).toEqual([200, developer.email]);
  }
  expect((await service.client().get('/auth', { Cookie: others })).status).toBe(200);
});

test('accepts 50 parameters and fields', async () => {
  const client = service.client();
  const fifty = Array.from({ length: 50 }, (_, at) => `f${at}=1`);
  const headers = { Accept: Array(50).fill('text/html').join(', ') };
  expect((await client.get(`/api/languages?${fifty.join('&')}`, headers)).status).toBe(200);
  const response = await client.send('/api/auth/token', { method: 'POST', headers: FORM, body: fifty.join('&') });
  expect(response.json.code).toBe('bad_request');
});

test('rejects many of them while it serves other requests', async () => {
  const sent = Array.from({ length: 20 }, () => cheap.slice(0, 3).map(([, send]) => send())).flat();
  expect((await service.client().get('/healthz')).status).toBe(200);
  for (const { status } of await Promise.all(sent)) expect(status).toBe(400);
});
