import { decodeJwt } from 'jose';
import { beforeAll, describe, expect, test } from 'vitest';
import type { Client, HttpResponse } from '../support/client.ts';
import { useService } from '../support/harness.ts';
import { allow, answerOf, begin, continueByLink, exchangeCode, follow, postForm, REDIRECT, signIn } from '../support/oidc-client.ts';
import { authorizationRequest, bootOf } from '../support/oidc-driver.ts';
import { freshAddress, signInDeveloper } from '../support/sign-ins.ts';

const { stage, service } = await useService();
let clientId: string;
beforeAll(async () => {
  const { client } = await signInDeveloper(stage, service);
  const scopes = ['openid', 'email', 'profile', 'offline_access', 'websites:read', 'stats:read'];
  clientId = (await client.post('/api/clients', { name: 'Notes', redirectUris: [REDIRECT], scopes })).json.clientId;
});

/** Returns the parameters of a new authorization request. */
async function parametersOf(changes: Record<string, string> = {}): Promise<Record<string, string>> {
  const { url } = await authorizationRequest({ clientId, redirectUri: REDIRECT }, changes);
  return Object.fromEntries(new URL(url, service.url).searchParams);
}

/** Posts an authorization request as the page of another site does: without the cookies of the browser. */
async function postElsewhere(client: Client, path: string, parameters: Record<string, string>): Promise<HttpResponse> {
  const headers = { Origin: 'https://app.example', 'Sec-Fetch-Site': 'cross-site', Accept: 'text/html' };
  const redirect = await postForm(service.client(), path, parameters, headers);
  expect([redirect.status, redirect.setCookies]).toEqual([303, []]);
  // A redirect by GET is sent with the cookies of the browser.
  return follow(client, await client.get(redirect.headers.location ?? ''));
}

describe('a form of another site', () => {
  test('begins an authorization request, and finds the session of the browser', async () => {
    const client = service.client();
    const page = await postElsewhere(client, '/oauth/authorize', await parametersOf({ state: 'ā &=+%25"<>' }));
    expect(bootOf(page)).toMatchObject({ target: { name: 'Notes' }, authorization: { step: 'sign_in' } });
    await signIn(stage, client, { clientId });
    const parameters = await parametersOf({ prompt: 'none', state: 'ā &=+%25"<>' });
    const answer = answerOf(await postElsewhere(client, '/oauth/authorize', parameters));
    expect(answer).toMatchObject({ code: expect.stringMatching(/./), state: 'ā &=+%25"<>', error: null });
  });

  test('signs out', async () => {
    const client = service.client();
    const { tokens } = await signIn(stage, client, { clientId });
    const page = await postElsewhere(client, '/oauth/logout', { id_token_hint: tokens.id_token });
    expect(bootOf(page)).toMatchObject({ target: { name: 'Notes' }, authorization: { step: 'sign_out' } });
  });

  test('with wrong parameters gets the page that names the error, and one that is too long a page as well', async () => {
    const client = service.client();
    const wrong = await postElsewhere(client, '/oauth/authorize', { client_id: 'none' });
    expect([wrong.status, bootOf(wrong).authorization.error]).toEqual([400, 'invalid_client']);
    const long = await client.form('/oauth/authorize', await parametersOf({ claims: 'x'.repeat(9_000) }));
    expect([long.status, bootOf(long).error.code]).toEqual([413, 'too_large']);
    const json = await client.post('/oauth/authorize', await parametersOf());
    expect([json.status, json.json.error]).toEqual([415, 'invalid_request']);
  });
});

test('prompt=create asks to sign in, as login does, also in a pushed request', async () => {
  const client = service.client();
  await signIn(stage, client, { clientId });
  const created = await begin(client, { clientId, parameters: { prompt: 'create' } });
  expect(bootOf(created.page)).toMatchObject({ authorization: { step: 'sign_in' }, steps: { oneClick: [] } });
  const pushed = await postForm(client, '/oauth/par', await parametersOf({ prompt: 'create consent' }));
  expect(pushed.status).toBe(201);
  const opened = await client.get(`/oauth/authorize?${new URLSearchParams({ client_id: clientId, request_uri: pushed.json.request_uri })}`);
  expect(bootOf(await follow(client, opened)).authorization.step).toBe('sign_in');
  const unknown = await begin(client, { clientId, parameters: { prompt: 'register' } });
  expect(answerOf(unknown.response).error).toBe('invalid_request');
  expect((await client.get('/.well-known/openid-configuration')).json.prompt_values_supported).toContain('create');
});

describe('a resource', () => {
  test('may have a final slash at any endpoint, and is one with the resource without it', async () => {
    const client = service.client();
    const [plain, slash] = [`${service.url}/mcp`, `${service.url}/mcp/`];
    const scope = 'openid offline_access websites:read';
    const begun = await begin(client, { clientId, scope, parameters: { resource: slash, prompt: 'consent' } });
    const email = freshAddress();
    const { code } = await continueByLink(stage, client, begun, email);
    const tokens = await exchangeCode(client, begun, code, { resource: plain });
    expect([tokens.status, decodeJwt(tokens.json.access_token ?? 'e30.e30.e30').aud]).toEqual([200, plain]);
    const fields = { grant_type: 'refresh_token', client_id: clientId, refresh_token: tokens.json.refresh_token, resource: slash };
    const refreshed = await postForm(client, '/oauth/token', fields);
    expect([refreshed.status, decodeJwt(refreshed.json.access_token).aud]).toEqual([200, plain]);
    const list = { jsonrpc: '2.0', id: 1, method: 'tools/list' };
    const called = await client.post('/mcp', list, { Authorization: `Bearer ${refreshed.json.access_token}` });
    expect([called.status, called.json.result?.tools.length > 0]).toEqual([200, true]);
    const again = await begin(client, { clientId, scope: 'openid websites:read', parameters: { resource: plain } });
    expect(answerOf(again.response).code).not.toBe('');
  });

  test('that is another one uses up neither the code nor the refresh token', async () => {
    const client = service.client();
    const scope = 'openid offline_access websites:read';
    const begun = await begin(client, { clientId, scope, parameters: { resource: `${service.url}/mcp`, prompt: 'consent' } });
    const { code } = await continueByLink(stage, client, begun, freshAddress());
    const wrong = { resource: 'https://evil.example/' };
    const named = { error: 'invalid_target', error_description: expect.stringContaining(`${service.url}/mcp`) };
    expect((await exchangeCode(client, begun, code, wrong)).json).toMatchObject(named);
    const tokens = await exchangeCode(client, begun, code);
    expect(tokens.status).toBe(200);
    const fields = { grant_type: 'refresh_token', client_id: clientId, refresh_token: tokens.json.refresh_token };
    expect((await postForm(client, '/oauth/token', { ...fields, ...wrong })).json).toMatchObject(named);
    expect((await postForm(client, '/oauth/token', fields)).status).toBe(200);
  });

  test.each(['', '/', '/mcp/x', '/MCP', '/none', 'https://evil.example/mcp'])(
    '%j is refused with the names of the right ones',
    async (path) => {
      const resource = path.startsWith('https:') ? path : service.url + path;
      const begun = await begin(service.client(), { clientId, parameters: { resource } });
      const { searchParams } = new URL(begun.response.headers.location ?? '');
      expect([searchParams.get('error'), searchParams.get('error_description')]).toEqual([
        'invalid_target',
        expect.stringMatching(new RegExp(`${service.url}/mcp.* ${service.url}/api`)),
      ]);
      const device = await postForm(service.client(), '/oauth/device/authorize', { client_id: clientId, scope: 'openid', resource });
      expect([device.status, device.json.error, device.json.error_description]).toEqual([
        400,
        'invalid_target',
        searchParams.get('error_description'),
      ]);
    },
  );
});

test('the scope profile brings preferred_username: the address only where the application may know it', async () => {
  const metadata = (await service.client().get('/.well-known/openid-configuration')).json;
  expect(metadata.claims_supported).toContain('preferred_username');
  for (const scope of ['openid email profile', 'openid profile', 'openid email']) {
    const { email, tokens } = await signIn(stage, service.client(), { clientId, scope });
    const claims = (await service.client().get('/oauth/userinfo', { Authorization: `Bearer ${tokens.access_token}` })).json;
    const expected = scope.includes('profile') ? (scope.includes('email') ? email : claims.sub) : undefined;
    expect([scope, claims.preferred_username, decodeJwt(tokens.id_token).preferred_username]).toEqual([scope, expected, expected]);
    expect(claims.sub).not.toContain('@');
  }
});

test('userinfo by POST takes the token of the header, whatever type a body of nothing has', async () => {
  const { email, tokens } = await signIn(stage, service.client(), { clientId });
  const Authorization = `Bearer ${tokens.access_token}`;
  const sent: Record<string, string>[] = [
    {},
    { 'Content-Type': 'application/json' },
    { 'Content-Type': 'application/json', 'Content-Length': '0' },
    { 'Content-Type': 'application/json', 'Transfer-Encoding': 'chunked' },
    { 'Content-Type': 'application/x-www-form-urlencoded', 'Content-Length': '0' },
    { 'Content-Type': 'text/plain; charset=utf-8' },
  ];
  for (const headers of sent) {
    const { status, json } = await service.client().send('/oauth/userinfo', { method: 'POST', headers: { Authorization, ...headers } });
    expect([headers, status, json.email]).toEqual([headers, 200, email]);
  }
  const form = await postForm(service.client(), '/oauth/userinfo', { access_token: tokens.access_token });
  expect([form.status, form.json.email]).toEqual([200, email]);
  const refused = await service.client().post('/oauth/userinfo', { a: 'b' }, { Authorization });
  expect([refused.status, refused.json.error]).toEqual([400, 'invalid_request']);
});

test('a consent of before is found for another spelling of the resource', async () => {
  const client = service.client();
  const request = { clientId, scope: 'openid websites:read' };
  const first = await begin(client, { ...request, parameters: { resource: `${service.url}/api/` } });
  expect((await continueByLink(stage, client, first, freshAddress())).code).not.toBe('');
  const second = await begin(client, { ...request, parameters: { resource: `${service.url}/api` } });
  expect(answerOf(await allow(client, second.response)).code).not.toBe('');
});
