import { beforeAll, describe, expect, test } from 'vitest';
import type { SignInBoot } from '../../contract/pages.ts';
import type { HttpResponse } from '../support/client.ts';
import { useService } from '../support/harness.ts';
import { addWebsite, freshAddress, requestEmail } from '../support/sign-ins.ts';

const { stage, service } = await useService();
let shop: string;
beforeAll(async () => {
  shop = await addWebsite(stage, service);
});

/** What browsers send: Chromium, w3m and lynx. */
const browsers = [
  'text/html,application/xhtml+xml,application/xml;q=0.9,image/avif,image/webp,*/*;q=0.8',
  'text/html, text/*;q=0.5, image/*, application/*',
  'text/html, text/plain, text/sgml, text/css, application/xhtml+xml, */*;q=0.01',
];
/** What clients send: a fetch for JSON, curl, and one that sends no Accept. */
const clients = ['application/json', '*/*', undefined];

const form = { 'Content-Type': 'application/x-www-form-urlencoded' };
type Sent = { method?: string; headers?: Record<string, string>; body?: string };

/** Requests that fail, with the status and the error code. */
const failures: [name: string, path: string, sent: Sent, status: number, code: string, allow?: string][] = [
  ['an unknown page', '/auth/nothing', {}, 404, 'not_found'],
  ['an unknown page of /domain-auth', '/domain-auth/nothing', {}, 404, 'not_found'],
  ['an unknown page below a form', '/auth/code/more', {}, 404, 'not_found'],
  ['an unknown form', '/auth/nothing', { method: 'POST', headers: form, body: 'email=a' }, 404, 'not_found'],
  ['a form without its authorization request', '/auth/consent', { method: 'POST', headers: form, body: '' }, 404, 'not_found'],
  ['a form at a page without one', '/auth/callback', { method: 'POST', headers: form, body: '' }, 405, 'method_not_allowed', 'GET, HEAD'],
  ['another method', '/auth', { method: 'PUT', headers: form, body: '' }, 405, 'method_not_allowed', 'GET, HEAD, POST'],
  ['another method of a form', '/auth/code', { method: 'DELETE' }, 405, 'method_not_allowed', 'GET, HEAD, POST'],
  ['another method of a link', '/auth/link', { method: 'PATCH' }, 405, 'method_not_allowed', 'GET, HEAD, POST'],
  ['a large form', '/auth', { method: 'POST', headers: form, body: `email=${'a'.repeat(17_000)}` }, 413, 'too_large'],
  ['a form with many fields', '/auth', { method: 'POST', headers: form, body: 'email=a&'.repeat(60) }, 400, 'too_many_fields'],
  [
    'a form of another kind',
    '/auth/code',
    { method: 'POST', headers: { 'Content-Type': 'multipart/form-data; boundary=x' }, body: '--x--' },
    415,
    'unsupported_media_type',
  ],
  [
    'plain text',
    '/domain-auth',
    { method: 'POST', headers: { 'Content-Type': 'text/plain' }, body: 'email=a' },
    415,
    'unsupported_media_type',
  ],
  ['a query that cannot be read', '/auth/link?t=%00', {}, 400, 'bad_request'],
  ['a path that cannot be decoded', '/auth/%ff', {}, 404, 'not_found'],
  ['many parameters', `/auth?${'a=b&'.repeat(60)}`, {}, 400, 'too_many_fields'],
];

const bootOf = ({ text }: HttpResponse): SignInBoot => JSON.parse(/id="boot">(.*?)<\/script>/s.exec(text)?.[1] ?? '{}');

const send = (path: string, { headers, ...sent }: Sent, accept: string | undefined, more: Record<string, string> = {}) =>
  service.client().send(path, { ...sent, headers: { Origin: service.url, ...headers, ...(accept && { Accept: accept }), ...more } });

describe.each(failures)('%s', (_, path, sent, status, code, allow) => {
  test.each(browsers)('gets a page with a way on (%s)', async (accept) => {
    const response = await send(path, sent, accept, { 'Accept-Language': 'de, lv;q=0.8, en;q=0.5' });
    expect([response.status, response.headers.allow, response.headers['cache-control']]).toEqual([status, allow, 'no-store']);
    expect(response.headers['content-type']).toBe('text/html; charset=utf-8');
    expect(bootOf(response)).toMatchObject({ language: 'lv', error: { code } });
    expect(response.text).toMatch(/<html lang="lv">/);
    const [, title] = /<h1[^>]*>([^<]+)<\/h1>/.exec(response.text) ?? [];
    expect(title).toBe(code === 'not_found' ? 'Šādas lapas nav' : 'Pieprasījums netika pieņemts');
    const [, href] = /<a href="([^"]+)"[^>]*>Atpakaļ uz pierakstīšanos/.exec(response.text) ?? [];
    expect((await service.client().get(href.replaceAll('&amp;', '&'))).status).toBe(200);
  });

  test.each(clients)('gets JSON for a client (%s)', async (accept) => {
    const response = await send(path, sent, accept);
    expect([response.status, response.json.code, response.headers.allow]).toEqual([status, code, allow]);
  });
});

describe('the way on', () => {
  const [accept] = browsers;
  const foreign = { Origin: 'https://evil.example', ...form };

  test('of a refused form leads to its page', async () => {
    const at = async (path: string) => {
      const { path: page, search } = bootOf(await send(path, { method: 'POST', headers: foreign, body: 'email=a' }, accept));
      return page + search;
    };
    const query = new URLSearchParams({ forward_url: `https://${shop}/`, language: 'ru' });
    for (const path of ['/auth', '/domain-auth', '/auth/code', '/auth/forget'])
      expect(await at(`${path}?${query}&step=code`)).toBe(`/auth?${query}`);
    expect(await at('/auth/link?t=abc&language=lt&x=y')).toBe('/auth/link?t=abc&language=lt');
    expect(await at('/auth/browser?code=abc&state=s&iss=i')).toBe('/auth/callback?code=abc&state=s&iss=i&language=en');
    expect(await at(`/oauth/interaction/${'a'.repeat(21)}/code?language=uk`)).toBe(`/oauth/interaction/${'a'.repeat(21)}?language=uk`);
  });

  test('is in the language that was chosen before', async () => {
    const client = service.client();
    client.cookies.set('language', 'uk');
    const response = await client.send('/auth/nothing', { headers: { Accept: accept, 'Accept-Language': 'lt' } });
    expect(bootOf(response).language).toBe('uk');
  });
});

test('an error of a form is JSON for a client that wants it', async () => {
  const headers = { ...form, Origin: service.url };
  const response = await send('/auth', { method: 'POST', headers, body: 'email=nobody' }, 'application/json');
  expect([response.status, response.json.code]).toEqual([400, 'bad_email']);
  expect(bootOf(await send('/auth', { method: 'POST', headers, body: 'email=nobody' }, '*/*')).failure?.code).toBe('bad_email');
});

test('an address with letters beyond ASCII before the @ has an error of its own', async () => {
  const email = 'jörg@mail.example';
  const { status, json } = await service.client().post('/api/auth/domain-auth', { email, forward_url: `https://${shop}/` });
  expect([status, json.code, json.field, json.error]).toEqual([
    400,
    'international_email',
    'email',
    'Please use only letters from a to z before the @',
  ]);
  const page = await service.client().form('/auth', { email });
  expect(page.text).toContain('Use only letters from a to z before the @');
});

test('an error of the service is a page with its reference and the same address again', async () => {
  const client = service.client();
  await requestEmail(client, freshAddress(), `https://${shop}/`);
  const path = `/auth?${new URLSearchParams({ forward_url: `https://${shop}/`, step: 'code' })}`;
  await stage.query('alter table sign_in_attempts rename to elsewhere');
  try {
    const page = await client.get(path, { Accept: browsers[0] });
    expect([page.status, bootOf(page).path + bootOf(page).search]).toEqual([500, path]);
    const { reference } = bootOf(page).error ?? {};
    expect(reference).toMatch(/\w/);
    expect(page.text).toContain(`${reference}</p>`);
    expect(page.text).toContain('This page could not be loaded');
    expect((await client.get(path, { Accept: 'application/json' })).json).toMatchObject({
      code: 'internal',
      reference: expect.any(String),
    });
  } finally {
    await stage.query('alter table elsewhere rename to sign_in_attempts');
  }
  expect((await client.get(path, { Accept: browsers[0] })).status).toBe(200);
});
