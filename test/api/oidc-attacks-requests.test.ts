import { beforeAll, describe, expect, test } from 'vitest';
import type { Client } from '../support/client.ts';
import { useService } from '../support/harness.ts';
import {
  addApplication,
  authorizationRequest,
  type Changes,
  exchangeCode,
  expectOauthError,
  longParameters,
  type OidcClient,
  postForm,
  type Step,
  signInAt,
  visit,
  websiteClient,
} from '../support/oidc-driver.ts';
import { addWebsite, type Developer, freshAddress, signInDeveloper } from '../support/sign-ins.ts';

const { stage, service } = await useService();
let developer: Developer;
let shop: OidcClient;
let app: OidcClient & { id: string };
let native: OidcClient;
let browser: Client;
beforeAll(async () => {
  developer = await signInDeveloper(stage, service);
  shop = websiteClient(await addWebsite(stage, service));
  app = await addApplication(developer, { redirectUris: ['https://app.example/callback?tenant=1'] });
  native = await addApplication(developer, { redirectUris: ['http://127.0.0.1/callback', 'http://[::1]/callback'] });
  browser = service.client();
});

/** Sends an authorization request that must end at an error page: nothing is sent to any redirect URI. */
async function refusedPage(client: OidcClient, changes: Changes): Promise<Step> {
  const reached = await visit(browser, (await authorizationRequest(client, changes)).url);
  expect([changes, reached.callback?.href ?? null, reached.response.headers.location]).toEqual([changes, null, undefined]);
  expect(reached.response.status).toBe(400);
  expect(reached.authorization).toMatchObject({ step: 'error', error: expect.stringMatching(/^invalid_/) });
  return reached;
}

/** Sends an authorization request that must be refused with an error at the client's own redirect URI. */
async function refusedAtClient(client: OidcClient, changes: Changes, error: unknown = 'invalid_request') {
  const { callback, at } = await visit(browser, (await authorizationRequest(client, changes)).url);
  expect([at.slice(0, 40), callback?.origin]).toEqual([expect.anything(), new URL(client.redirectUri).origin]);
  // Errors of flows that would return tokens in the fragment are in the fragment too.
  const response = new URLSearchParams(callback?.hash ? callback.hash.slice(1) : callback?.search);
  expect([response.get('error'), response.has('code') || response.has('access_token') || response.has('id_token')]).toEqual([error, false]);
}

describe('a redirect URI of an application is compared exactly', () => {
  test.each([
    'https://app.example/callback',
    'https://app.example/callback?tenant=1&x=1',
    'https://app.example/callback?tenant=2',
    'https://app.example/callback/?tenant=1',
    'https://app.example/callback/../evil?tenant=1',
    'https://app.example/callback/..%2fevil?tenant=1',
    'https://app.example/callback%2f..%2f..?tenant=1',
    'https://app.example/%63allback?tenant=1',
    'https://app.example/Callback?tenant=1',
    'https://APP.example/callback?tenant=1',
    'HTTPS://app.example/callback?tenant=1',
    'https://app.example:443/callback?tenant=1',
    'https://app.example:8443/callback?tenant=1',
    'http://app.example/callback?tenant=1',
    'https://app.example./callback?tenant=1',
    'https://app.example.evil.example/callback?tenant=1',
    'https://evil.example/https://app.example/callback?tenant=1',
    'https://app.example@evil.example/callback?tenant=1',
    'https://evil.example@app.example/callback?tenant=1',
    'https://app.example\\@evil.example/callback?tenant=1',
    'https://app.example/callback?tenant=1#',
    'https://app.example/callback?tenant=1#@evil.example/',
    'https://app.example/callback?tenant=1%0d%0aLocation:%20https://evil.example',
    ' https://app.example/callback?tenant=1',
    'https://app.example/callback?tenant=1 ',
    '//app.example/callback?tenant=1',
    'javascript:alert(1)//https://app.example/callback?tenant=1',
    'data:text/html,https://app.example/callback?tenant=1',
    'https://xn--app-bla.example/callback?tenant=1',
  ])('%s is refused on a page', async (redirectUri) => {
    const { boot } = await refusedPage(app, { redirect_uri: redirectUri });
    expect(boot.authorization).toMatchObject({ reason: 'redirect_uri' });
  });

  test('the registered one itself works, and keeps its query', async () => {
    const reached = await visit(browser, (await authorizationRequest(app, { prompt: 'none' })).url);
    expect(reached.callback?.searchParams.get('tenant')).toBe('1');
  });

  test('a missing one is the only registered one, and is refused where several are registered', async () => {
    const reached = await visit(browser, (await authorizationRequest(app, { redirect_uri: undefined, prompt: 'none' })).url);
    expect(reached.callback?.href).toContain(app.redirectUri);
    await refusedPage(native, { redirect_uri: undefined });
  });

  test('an unknown client is refused on a page', async () => {
    for (const clientId of [
      'app_unknown',
      '',
      undefined,
      'null',
      '__proto__',
      'https://unregistered.example',
      `${app.clientId}\0`,
      "' or 1=1 --",
    ])
      await refusedPage(app, { client_id: clientId });
  });
});

describe('a redirect URI of a website', () => {
  test('is on its very host over https', async () => {
    const host = new URL(shop.clientId).host;
    const others = [
      `http://${host}/callback`,
      `https://www.${host}/callback`,
      `https://sub.${host}/callback`,
      `https://${host}:8443/callback`,
      `https://${host}.evil.example/callback`,
      `https://evil.example/?https://${host}/`,
      `https://${host}@evil.example/`,
      `https://user@${host}/`,
      `https://evil.example\\@${host}/`,
      `https://${host}/callback#fragment`,
      `https://${host.split('.')[1]}/`,
      `//${host}/callback`,
      `https:/${host}/callback`,
      `https:${host}/callback`,
      `https://${host}%2eevil.example/`,
      `https://${host}\t.evil.example/`,
      `javascript://${host}/%0aalert(1)`,
    ];
    for (const redirectUri of others) await refusedPage(shop, { redirect_uri: redirectUri });
  });
});

describe('a loopback redirect URI', () => {
  test('may have any port, but no other host, path or scheme (RFC 8252 §7.3)', async () => {
    for (const redirectUri of ['http://127.0.0.1:49152/callback', 'http://[::1]:49152/callback', 'http://127.0.0.1/callback']) {
      const reached = await visit(browser, (await authorizationRequest(native, { redirect_uri: redirectUri, prompt: 'none' })).url);
      expect(reached.callback?.href.split('?')[0]).toBe(redirectUri);
    }
    for (const redirectUri of [
      'http://localhost:49152/callback',
      'http://localhost.evil.example:49152/callback',
      'http://127.0.0.1.evil.example/callback',
      'http://127.0.0.2/callback',
      'http://0.0.0.0/callback',
      'http://127.1/callback',
      'http://2130706433/callback',
      'http://0x7f.0.0.1/callback',
      'http://[::ffff:127.0.0.1]/callback',
      'http://127.0.0.1:49152/callback/other',
      'http://127.0.0.1:49152@evil.example/callback',
      'http://127.0.0.1:1@evil.example:2/callback',
      'https://127.0.0.1:49152/callback',
      'http://127.0.0.1:99999/callback',
      'http://127.0.0.1:/callback#x',
    ])
      await refusedPage(native, { redirect_uri: redirectUri });
  });
});

describe('a logout', () => {
  test('redirects to registered addresses only', async () => {
    const out = await addApplication(developer, { logoutUris: ['https://app.example/bye'] });
    const { tokens } = await signInAt(stage, service, out, { browser: service.client(), email: freshAddress() });
    for (const uri of [
      'https://evil.example/',
      'https://app.example/bye/',
      'https://app.example/',
      'https://app.example.evil.example/bye',
      '//evil.example',
    ])
      for (const by of [`id_token_hint=${tokens.id_token}`, `client_id=${out.clientId}`]) {
        const reached = await visit(browser, `/oauth/logout?${by}&post_logout_redirect_uri=${encodeURIComponent(uri)}`);
        expect([uri, reached.callback, reached.response.status]).toEqual([uri, null, 400]);
      }
    const anonymous = await visit(browser, `/oauth/logout?post_logout_redirect_uri=${encodeURIComponent('https://evil.example/')}`);
    expect(anonymous.callback).toBeNull();
    expect(anonymous.response.text).not.toContain('evil.example');
  });
});

describe('an authorization request', () => {
  test.each<[string, Changes, unknown]>([
    ['the implicit flow', { response_type: 'token' }, expect.stringMatching(/^(unsupported_response_type|invalid_request)$/)],
    ['an ID token from the front channel', { response_type: 'id_token' }, 'unsupported_response_type'],
    ['the hybrid flow', { response_type: 'code id_token' }, 'unsupported_response_type'],
    ['an unknown response_type', { response_type: 'none of these' }, 'unsupported_response_type'],
    ['an unknown response_mode', { response_mode: 'web_message' }, 'unsupported_response_mode'],
    ['a request object', { request: 'eyJhbGciOiJub25lIn0.eyJyZWRpcmVjdF91cmkiOiJodHRwczovL2V2aWwuZXhhbXBsZSJ9.' }, 'request_not_supported'],
    ['an unknown prompt', { prompt: 'none login' }, 'invalid_request'],
    ['a max_age that is no number', { max_age: 'abc' }, 'invalid_request'],
    ['an ID token of nobody as hint', { id_token_hint: 'a.b.c' }, 'invalid_request'],
    ['a resource that is not of this service', { resource: 'https://evil.example/' }, 'invalid_target'],
  ])('with %s is refused', (_, changes, error) => refusedAtClient(app, changes, error));

  test('cannot be fetched from a URL: nobody is asked for a request_uri', async () => {
    for (const uri of [
      'https://evil.example/request.jwt',
      `${service.url}/healthz`,
      'urn:ietf:params:oauth:request_uri:unknown',
      'file:///etc/passwd',
    ]) {
      const reached = await visit(browser, (await authorizationRequest(app, { request_uri: uri })).url);
      const error = reached.callback?.searchParams.get('error') ?? (reached.authorization as { error?: string } | null)?.error;
      expect([uri, error]).toEqual([uri, expect.stringMatching(/^(invalid_request_uri|request_uri_not_supported|invalid_request)$/)]);
    }
  });

  test('with a parameter twice is refused and sends nothing to a second redirect URI', async () => {
    for (const [name, value] of [
      ['redirect_uri', 'https://evil.example/'],
      ['client_id', shop.clientId],
      ['state', 'other'],
      ['code_challenge', 'x'.repeat(43)],
      ['code_challenge_method', 'plain'],
      ['scope', 'openid websites:write'],
      ['response_type', 'token'],
    ]) {
      const { url } = await authorizationRequest(app);
      for (const both of [`${url}&${name}=${encodeURIComponent(value)}`, url.replace('?', `?${name}=${encodeURIComponent(value)}&`)]) {
        const reached = await visit(browser, both);
        expect([name, reached.callback?.searchParams.get('code') ?? null, reached.interaction]).toEqual([name, null, '']);
        if (reached.callback) expect(reached.callback.origin).toBe('https://app.example');
        else expect(reached.response.status).toBe(400);
      }
    }
  });

  test('of any size never gets a 5xx response', async () => {
    for (const changes of longParameters) {
      const { response } = await visit(browser, (await authorizationRequest(app, changes)).url);
      expect([Object.keys(changes), response.status < 500]).toEqual([Object.keys(changes), true]);
    }
  });
});

describe('the token endpoint', () => {
  test('refuses duplicate, oversized and malformed input, and other methods', async () => {
    const request = await authorizationRequest(app);
    const code = new URL(`${app.redirectUri}&code=${'x'.repeat(43)}`);
    expectOauthError(await exchangeCode(browser, request, code), 'invalid_grant');
    const send = (body: string, type = 'application/x-www-form-urlencoded') =>
      browser.send('/oauth/token', { method: 'POST', headers: { 'Content-Type': type }, body });
    for (const [body, type] of [
      [`grant_type=authorization_code&grant_type=refresh_token&client_id=${app.clientId}`],
      [`grant_type=authorization_code&client_id=${app.clientId}&client_id=${encodeURIComponent(shop.clientId)}&code=x&redirect_uri=y`],
      ['grant_type=authorization_code'],
      ['grant_type=password&username=a&password=b'],
      [`grant_type=implicit&client_id=${app.clientId}`],
      [`grant_type=client_credentials&client_id=${app.clientId}`],
      [`client_id=${app.clientId}`],
      [''],
      ['{"grant_type":"authorization_code"}', 'application/json'],
      ['grant_type[]=authorization_code'],
      [`grant_type=authorization_code&client_id=${app.clientId}&code=%00&redirect_uri=%00`],
      [`grant_type=authorization_code&client_id=%00&code=x&redirect_uri=x`],
    ]) {
      const { status, json } = await send(body, type);
      expect([body, status, json.error]).toEqual([
        body,
        expect.toSatisfy((code: number) => code >= 400 && code < 500),
        expect.stringMatching(/^(invalid|unsupported|unauthorized)_\w+$/),
      ]);
    }
    const huge = await send(`grant_type=authorization_code&code=${'x'.repeat(2_000_000)}`);
    expect([413, 400]).toContain(huge.status);
    expect((await browser.get(`/oauth/token?grant_type=authorization_code&client_id=${app.clientId}`)).status).toBeGreaterThanOrEqual(400);
    expectOauthError(
      await postForm(browser, '/oauth/token', { ...app, secret: 'x' }, { grant_type: 'refresh_token', refresh_token: 'x' }),
      'invalid_client',
      401,
    );
  });
});
