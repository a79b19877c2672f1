import { readFile } from 'node:fs/promises';
import { expect, test } from 'vitest';
import { type CallSpec, calls } from '../../contract/calls.ts';
import { ApiError, createClient } from '../../contract/client.ts';
import { createPkce, WEB_CLIENT_ID } from '../../contract/pkce.ts';
import { useService } from '../support/harness.ts';
import { codeOf, freshAddress, freshDomain, openLink, tokenOf } from '../support/sign-ins.ts';

const { stage, service } = await useService();

/** Returns a typed client that keeps cookies. */
function program() {
  const browser = service.client();
  const keepCookies: typeof fetch = async (url, { method, headers, body } = {}) => {
    const response = await browser.send(String(url), { method, headers: headers as Record<string, string>, body: body as string });
    return new Response(response.text, { status: response.status, headers: { 'Retry-After': response.headers['retry-after'] ?? '' } });
  };
  return { browser, api: createClient({ baseUrl: service.url, fetch: keepCookies }) };
}

test('signs in a developer, adds a website and signs in its visitor with the typed client only', async () => {
  const { api } = program();
  const email = freshAddress('dev');
  const pkce = await createPkce();
  const begun = await api.authorize({
    email,
    client_id: WEB_CLIENT_ID,
    redirect_uri: `${service.url}/developer`,
    code_challenge: pkce.codeChallenge,
    code_challenge_method: 'S256',
    state: pkce.state,
  });
  expect(begun.expiresIn).toBe(600);
  const code = codeOf(await stage.mailbox.waitFor(email));
  expect((await api.token({ code, code_verifier: pkce.codeVerifier, client_id: WEB_CLIENT_ID })).email).toBe(email);
  expect((await api.me({})).email).toBe(email);

  const site = await api.createWebsite({ domain: freshDomain() });
  expect(await api.listWebsites({})).toEqual([site, expect.objectContaining({ domain: 'localhost' })]);
  expect((await api.findWebsite({ domain: `www.${site.domain}` })).domain).toBe(site.domain);
  expect((await api.claimWebsite({ domain: site.domain })).proof).toEqual(site.proof);

  const visitor = program();
  const address = freshAddress();
  await visitor.api.domainAuth({ email: address, forward_url: `https://${site.domain}/`, language: 'lv' });
  expect(await visitor.api.attempt({ email: address })).toEqual({ status: 'waiting' });
  const token = tokenOf(await openLink(visitor.browser, await stage.mailbox.waitFor(address)));
  expect(await createClient({ baseUrl: service.url }).verifyToken({ token, domain: site.domain })).toEqual({
    email: address,
    valid: true,
    domain: site.domain,
    method: 'link',
    at: expect.any(String),
  });

  const moved = await api.updateWebsite({ id: site.id, domain: freshDomain() });
  expect(moved.id).toBe(site.id);
  expect(await api.deleteWebsite({ id: site.id })).toEqual({ success: true });
  expect(await api.logout({})).toEqual({ success: true });
  await expect(api.me({})).rejects.toMatchObject({ status: 401, code: 'sign_in_needed' });
});

test('throws an ApiError with message, code, hint and field for error responses and without a response', async () => {
  const { api } = program();
  const refused = await api.registerWebsite({ domain: 'co.uk', email: freshAddress() }).catch((error: unknown) => error);
  expect(refused).toBeInstanceOf(ApiError);
  expect(refused).toMatchObject({ status: 400, code: 'bad_domain', field: 'domain', hint: expect.stringMatching(/\w+ \w+/) });
  const oauth = await api.token({ code: 'x', code_verifier: 'x'.repeat(43), client_id: WEB_CLIENT_ID }).catch((error: unknown) => error);
  expect(oauth).toMatchObject({ status: 400, code: 'bad_grant', message: expect.stringMatching(/\w+ \w+/) });
  await expect(createClient({ baseUrl: 'http://127.0.0.1:1' }).languages({})).rejects.toMatchObject({ status: 0, code: 'unreachable' });
});

test('about returns the service, its email domain and the time', async () => {
  const before = Date.now();
  const about = await createClient({ baseUrl: service.url }).about({});
  expect(about).toEqual({
    name: 'emailauth',
    version: JSON.parse(await readFile('package.json', 'utf8')).version,
    mode: 'local',
    time: expect.any(String),
    mail: { domain: 'emailauth.example', dkim: null, delivered: true },
    request: { address: '127.0.0.1', forwarded: 0, isHostPublic: true },
  });
  expect(Date.parse(about.time)).toBeGreaterThanOrEqual(before);
  expect(Date.parse(about.time)).toBeLessThanOrEqual(Date.now());
  expect((await service.client().get('/api/about')).headers['cache-control']).toBe('no-store');
});

test('the five languages have the same translation keys', async () => {
  const api = createClient({ baseUrl: service.url });
  const languages = await api.languages({});
  expect(languages.map(({ code }) => code)).toEqual(['en', 'lt', 'lv', 'uk', 'ru']);
  const keys = await Promise.all(languages.map(async ({ code }) => Object.keys(await api.translations({ language: code })).sort()));
  for (const list of keys) expect(list).toEqual(keys[0]);
  expect(keys[0].every((key) => key.startsWith('auth.'))).toBe(true);
});

test('/openapi.json has every call of the contract except the development calls', async () => {
  const { paths } = (await service.client().get('/openapi.json')).json;
  const published = Object.values(calls as Record<string, CallSpec>).filter(({ development }) => !development);
  for (const { method, path } of published) expect(Object.keys(paths[path] ?? {}), path).toContain(method.toLowerCase());
  expect(Object.keys(paths).sort()).toEqual([...new Set(published.map(({ path }) => path as string))].sort());
});
