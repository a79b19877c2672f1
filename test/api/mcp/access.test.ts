import { beforeAll, describe, expect, test } from 'vitest';
import { freshNetworkAddress, useProduction, useService } from '../../support/harness.ts';
import { addWebsite, authorize, type Developer, freshAddress, freshDomain, signInDeveloper } from '../../support/sign-ins.ts';
import { waitUntil } from '../../support/waiting.ts';

const { stage, service } = await useService();
const { service: limited } = await useProduction();
let ann: Developer;
let key: string;
beforeAll(async () => {
  ann = await signInDeveloper(stage, service);
  key = await makeKey();
});

async function makeKey(environment = 'live'): Promise<string> {
  return (await ann.client.post('/api/api-keys', { name: 'Assistant', environment })).json.key;
}

const ACCEPT = 'application/json, text/event-stream';
type Headers = Record<string, string>;
const send = (message: unknown, headers: Headers = {}, client = service.client()) =>
  client.post('/mcp', message, { Accept: ACCEPT, ...headers });
const as = (token: string): Headers => ({ Authorization: `Bearer ${token}` });
const list = { jsonrpc: '2.0', id: 1, method: 'tools/list' };
const call = (name: string, input: object = {}) => ({ jsonrpc: '2.0', id: 2, method: 'tools/call', params: { name, arguments: input } });

/** Calls a tool. @returns its result and text */
async function use(name: string, input: object, headers: Headers = {}, client = service.client()) {
  const { status, json } = await send(call(name, input), headers, client);
  expect(status).toBe(200);
  return { failed: json.result.isError === true, response: json.result.structuredContent, text: json.result.content[0].text as string };
}

const refusal = { jsonrpc: '2.0', id: null, error: { code: expect.any(Number), message: expect.stringMatching(/\w+ \w+.*\.$/) } };

describe('a request', () => {
  test.each<[string, () => Headers]>([
    ['a foreign Host', () => ({ Host: 'evil.example' })],
    ['a foreign Host that begins as a loopback name', () => ({ Host: 'localhost.evil.example' })],
    ['a foreign Host that ends as ours', () => ({ Host: 'evillocalhost' })],
    ['a Host with a user', () => ({ Host: 'localhost@evil.example' })],
    ['our Host behind a foreign one', () => ({ Host: `evil.example, localhost:${service.port}` })],
    ['a forwarded Host of ours alone', () => ({ Host: 'evil.example', 'X-Forwarded-Host': 'localhost', Forwarded: 'host=localhost' })],
    ['a foreign Origin', () => ({ Origin: 'https://evil.example' })],
    ['another port of this machine as Origin', () => ({ Origin: 'http://localhost:6274' })],
    ['no origin of its own', () => ({ Origin: 'null' })],
    ['our Origin over https', () => ({ Origin: service.url.replace('http:', 'https:') })],
    ['a page elsewhere that sends no Origin', () => ({ 'Sec-Fetch-Site': 'cross-site' })],
  ])('with %s is rejected, even with a valid key', async (_, headers) => {
    const response = await send(list, { ...as(key), ...headers() });
    expect([response.status, response.json]).toEqual([403, refusal]);
    expect(response.headers['access-control-allow-origin']).toBeUndefined();
    const preflight = await service
      .client()
      .send('/mcp', { method: 'OPTIONS', headers: { ...headers(), 'Access-Control-Request-Method': 'POST' } });
    expect([preflight.status, preflight.headers['access-control-allow-origin']]).toEqual([403, undefined]);
  });

  test.each<[string, () => Headers]>([
    ['without Origin', () => ({})],
    ['with our Origin', () => ({ Origin: service.url })],
    ['as 127.0.0.1', () => ({ Host: `127.0.0.1:${service.port}` })],
    ['as [::1]', () => ({ Host: '[::1]' })],
  ])('%s is served with the headers of data', async (_, headers) => {
    const { status, headers: answered, json } = await send(list, headers());
    expect([status, json.result.tools.length > 0]).toEqual([200, true]);
    expect(answered).toMatchObject({
      'content-type': 'application/json',
      'cache-control': 'no-store',
      'x-content-type-options': 'nosniff',
      'content-security-policy': expect.stringContaining("frame-ancestors 'none'"),
    });
    expect(answered['set-cookie']).toBeUndefined();
  });

  test.each(['GET', 'HEAD', 'DELETE', 'PUT', 'OPTIONS'])('with %s gets 405 and is referred to POST', async (method) => {
    const response = await service.client().send('/mcp', { method, headers: { Accept: 'text/event-stream' } });
    expect([response.status, response.headers.allow]).toEqual([405, 'POST']);
    if (method !== 'HEAD') expect(response.json).toEqual(refusal);
  });

  test.each<[string, number, string | Buffer, Headers]>([
    ['of 64 KB and more', 413, JSON.stringify(call('get_status', { x: 'x'.repeat(65_536) })), {}],
    ['of 64 KB in pieces', 413, Buffer.alloc(70_000, ' '), { 'Transfer-Encoding': 'chunked' }],
    ['that is not JSON', 400, '{', {}],
    ['that is 30,000 deep', 400, '['.repeat(30_000) + ']'.repeat(30_000), {}],
    ['that is nothing', 400, '', {}],
    ['that is null', 400, 'null', {}],
    ['that is not a message', 400, '{"jsonrpc":"1.0"}', {}],
    ['of 1,000 messages', 400, JSON.stringify(Array(1_000).fill(list)), {}],
    ['of an unknown version', 400, JSON.stringify(list), { 'MCP-Protocol-Version': '1999-01-01' }],
    ['as a form', 415, 'a=b', { 'Content-Type': 'application/x-www-form-urlencoded' }],
    ['as text', 415, JSON.stringify(list), { 'Content-Type': 'text/plain' }],
    ['of a client that takes no JSON', 406, JSON.stringify(list), { Accept: 'text/html' }],
  ])('with a body %s: %i', async (_, status, body, headers) => {
    const response = await service.client().send('/mcp', {
      method: 'POST',
      headers: { 'Content-Type': 'application/json', Accept: ACCEPT, ...headers },
      body,
    });
    expect([response.status, response.json.error?.message]).toEqual([status, expect.stringMatching(/\w/)]);
    expect(response.text).not.toMatch(/ at .*\.[cm]?[jt]s|node_modules|select /i);
  });

  test.each<[string, object]>([
    ['an unknown tool', call('drop_database')],
    ['no arguments of an object', { ...call('get_status'), params: { name: 'get_status', arguments: [] } }],
    ['__proto__', { ...call('get_status'), params: JSON.parse('{"name":"get_status","arguments":{"__proto__":{"x":1}}}') }],
    ['NUL', call('register_domain', { domain: 'a\0b.example', email: 'a@b.example' })],
    ['a list', call('register_domain', { domain: ['a.example'], email: 'a@b.example' })],
    ['an unknown method', { ...list, method: 'nothing/such' }],
    ['a long batch', Array.from({ length: 11 }, (_, id) => ({ ...list, id }))],
  ])('with %s never gets a 5xx response', async (_, message) => {
    const response = await send(message, as(key));
    expect(response.status).toBeLessThan(500);
    expect(response.text).not.toMatch(/ at .*\.[cm]?[jt]s|node_modules|-32603/i);
  });

  test('accepts at most ten messages in a batch (protocol of 2025-03-26)', async () => {
    const batch = (length: number) => send(Array.from({ length }, (_, id) => ({ ...list, id })));
    expect((await batch(10)).json).toHaveLength(10);
    expect(await batch(11)).toMatchObject({ status: 400, json: refusal });
  });

  test('is not described by OpenAPI', async () => {
    expect((await service.client().get('/openapi.json')).text).not.toContain('/mcp');
  });
});

describe('the caller', () => {
  test('without Authorization is anonymous despite cookies, and gets a challenge from tools that need an account', async () => {
    expect((await ann.client.get('/api/user/me')).status).toBe(200);
    const domain = freshDomain();
    expect(await use('register_domain', { domain, email: freshAddress('owner') }, {}, ann.client)).toMatchObject({ failed: false });
    expect((await use('get_status', {}, {}, ann.client)).response.authenticated).toBe(false);
    for (const [name, input] of [
      ['list_sites', {}],
      ['delete_site', { domain, confirmDomain: domain }],
      ['check_integration', { domain }],
    ] as const) {
      const { status, headers, json } = await send(call(name, input), {}, ann.client);
      const [{ text }] = json.result.content;
      expect([name, status, json.result.isError, text]).toEqual([name, 401, true, expect.stringContaining('Authorization: Bearer')]);
      expect(headers['www-authenticate']).toContain(`resource_metadata="${service.url}/.well-known/oauth-protected-resource/mcp"`);
    }
  });

  test('is identified by an API key or a token of the command line', async () => {
    for (const token of [key, ann.client.cookies.get('sid') ?? '']) {
      expect((await use('get_status', {}, as(token))).response).toMatchObject({ authenticated: true, email: ann.email });
    }
  });

  test('with a test key can read but not change', async () => {
    const test = as(await makeKey('test'));
    const domain = await addWebsite(stage, service);
    expect((await use('list_sites', {}, test)).failed).toBe(false);
    await ann.client.post('/api/websites', { domain: freshDomain() });
    const mine: string = (await ann.client.get('/api/websites')).json[0].domain;
    for (const [name, input] of [
      ['update_site', { domain: mine, newDomain: freshDomain(), confirmDomain: mine }],
      ['delete_site', { domain: mine, confirmDomain: mine }],
      ['delete_site', { domain, confirmDomain: domain }],
    ] as const)
      expect(await use(name, input, test)).toMatchObject({ failed: true });
    expect((await ann.client.get('/api/websites')).json.map((site: { domain: string }) => site.domain)).toContain(mine);
  });

  test('with a token of an application is rejected', async () => {
    const token = await applicationToken();
    expect((await service.client().get('/api/user/me', as(token))).status).toBe(200);
    const response = await send(list, as(token));
    expect([response.status, response.headers['www-authenticate']]).toEqual([
      401,
      expect.stringMatching(/^Bearer .*error="invalid_token"/),
    ]);
  });

  test.each<[string, string]>([
    ['an unknown key', `Bearer ea_live_${'A'.repeat(43)}`],
    ['a key without its scheme', `ea_live_${'A'.repeat(43)}`],
    ['an unknown token', `Bearer ${'A'.repeat(43)}`],
    ['nothing', ''],
    ['another scheme', 'Basic YTpi'],
    ['more than a token', `Bearer ${'A'.repeat(43)}, Bearer x`],
  ])('with %s gets 401, also for tools without an account (RFC 6750 §3)', async (_, authorization) => {
    for (const message of [list, call('get_status')]) {
      const response = await send(message, { Authorization: authorization }, ann.client);
      expect([response.status, response.json]).toEqual([401, refusal]);
      expect(response.headers['www-authenticate']).toMatch(
        /^Bearer realm="emailauth", error="invalid_token", error_description="[^"]+", scope="[^"]+", resource_metadata="[^"]+"$/,
      );
    }
  });

  test('whose key is revoked is rejected, and every call with the key was counted', async () => {
    const made = (await ann.client.post('/api/api-keys', { name: 'Short', environment: 'live' })).json;
    for (let n = 0; n < 3; n++) expect((await use('list_sites', {}, as(made.key))).failed).toBe(false);
    await ann.client.delete(`/api/api-keys/${made.id}`);
    await waitUntil('the key is rejected', 60_000, async () => (await send(list, as(made.key))).status !== 200);
    // Each is one API call. Lists of tools and requests without a valid key are not counted.
    await waitUntil('the calls are counted', 30_000, async () => {
      const { json } = await ann.client.get(`/api/api-keys/${made.id}/usage`);
      return json.total === 3 || JSON.stringify(json);
    });
  });

  test('sees only their own websites and cannot delete those of another account', async () => {
    const domain = await addWebsite(stage, service);
    for (const [name, input] of [
      ['get_site', { domain }],
      ['update_site', { domain, newDomain: freshDomain(), confirmDomain: domain }],
      ['delete_site', { domain, confirmDomain: domain }],
      ['check_integration', { domain }],
      ['get_stats', { domain }],
    ] as const) {
      const { failed, text } = await use(name, input, as(key));
      expect([name, failed, text]).toEqual([name, true, expect.stringMatching(/not (one of|among) your websites/)]);
    }
    expect((await use('list_sites', {}, as(key))).text).not.toContain(domain);
    expect(await stage.query('select 1 from websites where domain = $1', [domain])).toHaveLength(1);
  });

  test('is limited by IP address as over the API, despite a forged X-Forwarded-For', async () => {
    const network = freshNetworkAddress();
    const register = (n: number) =>
      use(
        'register_domain',
        { domain: freshDomain(), email: freshAddress('owner') },
        // A proxy appends the address from which it got the request.
        { 'X-Forwarded-For': `198.51.100.${n}, ${network}` },
        limited.client(),
      );
    const answers = [];
    for (let n = 1; n <= 11; n++) answers.push(await register(n));
    expect(answers.map(({ failed }) => failed)).toEqual([...Array(10).fill(false), true]);
    expect(answers[10].text).toMatch(/Too many registrations.* \d+ (s|seconds|minutes)/);
    const overApi = await limited.client(network).post('/api/websites/register', { domain: freshDomain(), email: freshAddress('owner') });
    expect(overApi.status).toBe(429);
  });
});

const REDIRECT = 'https://app.example/callback';

async function applicationToken(): Promise<string> {
  const { clientId } = (await ann.client.post('/api/clients', { name: 'Notes', redirectUris: [REDIRECT] })).json;
  const begun = await authorize(service.client(), freshAddress('user'), { client_id: clientId, redirect_uri: REDIRECT });
  const { code } = await stage.mailbox.waitFor(begun.email);
  const exchanged = await service
    .client()
    .post('/api/auth/email-code', { email: begun.email, code, state: begun.pkce.state, attempt: begun.attempt });
  const response = await service.client().post('/api/auth/token', {
    code: exchanged.json.code,
    code_verifier: begun.pkce.codeVerifier,
    client_id: clientId,
    redirect_uri: REDIRECT,
  });
  if (response.status !== 200) throw new Error(`The exchange answered ${response.status}: ${exchanged.text} ${response.text}`);
  return response.json.access_token;
}
