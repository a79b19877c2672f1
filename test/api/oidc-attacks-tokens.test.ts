import { exportJWK, generateKeyPair, SignJWT } from 'jose';
import { beforeAll, describe, expect, test } from 'vitest';
import type { Client, HttpResponse } from '../support/client.ts';
import { useService } from '../support/harness.ts';
import {
  addApplication,
  expectOauthError,
  type Grant,
  type OidcClient,
  postForm,
  refresh,
  signInAt,
  userinfo,
} from '../support/oidc-driver.ts';
import { type Developer, freshAddress, signInDeveloper } from '../support/sign-ins.ts';

const SCOPES = ['openid', 'email', 'offline_access', 'websites:read', 'websites:write'];

const { stage, service } = await useService();
let developer: Developer;
let app: OidcClient;
let rival: OidcClient;
let via: Client;
/** Tokens of the developer: for the API to read, for the MCP server to read, and for the userinfo endpoint. */
let forApi: Grant;
let forMcp: Grant;
let forUserinfo: Grant;
beforeAll(async () => {
  developer = await signInDeveloper(stage, service);
  app = await addApplication(developer, { authentication: 'secret', scopes: SCOPES });
  rival = await addApplication(developer, { authentication: 'secret', scopes: SCOPES });
  via = service.client();
  forApi = await signInFor('api', 'openid email offline_access websites:read');
  forMcp = await signInFor('mcp', 'openid email offline_access websites:read');
  forUserinfo = await signInFor(undefined, 'openid email offline_access');
});

/** Signs the developer in at the app. @param resource a resource of the service */
function signInFor(resource: 'api' | 'mcp' | undefined, scope: string, changes = {}): Promise<Grant> {
  const more = { scope, prompt: 'consent', resource: resource && `${service.url}/${resource}`, ...changes };
  return signInAt(stage, service, app, { email: developer.email, changes: more });
}

const bearer = (token: string) => ({ Authorization: `Bearer ${token}` });
const callApi = (token: string): Promise<HttpResponse> => via.get('/api/websites', bearer(token));
const callMcp = (token: string): Promise<HttpResponse> =>
  via.post(
    '/mcp',
    { jsonrpc: '2.0', id: 1, method: 'tools/call', params: { name: 'list_sites', arguments: {} } },
    { Accept: 'application/json, text/event-stream', ...bearer(token) },
  );
const claimsOf = (jwt: string) => JSON.parse(Buffer.from(jwt.split('.')[1], 'base64url').toString());

describe('an access token', () => {
  test('is accepted at its own resource', async () => {
    expect((await callApi(forApi.tokens.access_token)).status).toBe(200);
    expect((await callMcp(forMcp.tokens.access_token)).json.result.isError).not.toBe(true);
    expect((await userinfo(via, forUserinfo.tokens.access_token)).json.email).toBe(developer.email);
  });

  test('for one resource is refused at the other ones', async () => {
    for (const [grant, calls] of [
      [forApi, [callMcp, (token: string) => userinfo(via, token)]],
      [forMcp, [callApi, (token: string) => userinfo(via, token)]],
      [forUserinfo, [callApi, callMcp]],
    ] as const)
      for (const call of calls) {
        const response = await call(grant.tokens.access_token);
        expect([response.status, response.text]).toEqual([401, response.text]);
        expect(response.headers['www-authenticate']).toMatch(/^(Bearer|DPoP) /);
      }
  });

  test('cannot be an ID token, a refresh token, or the token of a website', async () => {
    for (const token of [forApi.tokens.id_token, String(forApi.tokens.refresh_token), forMcp.tokens.id_token])
      for (const call of [callApi, callMcp, (each: string) => userinfo(via, each)]) expect((await call(token)).status).toBe(401);
    expect((await via.get(`/api/verify-token?token=${forUserinfo.tokens.access_token}`)).json.valid).not.toBe(true);
  });

  test('with another signature, algorithm, type, issuer or time is refused', async () => {
    const { access_token } = forApi.tokens;
    const [header, payload, signature] = access_token.split('.');
    const claims = claimsOf(access_token);
    const jwks = (await via.get('/oauth/jwks')).json;
    const own = await generateKeyPair('ES256', { extractable: true });
    const publicJwk = await exportJWK(own.publicKey);
    const { alg, kid } = JSON.parse(Buffer.from(header, 'base64url').toString());
    const signed = (head: object, more: object = {}, key: Parameters<SignJWT['sign']>[0] = own.privateKey) =>
      new SignJWT({ ...claims, ...more }).setProtectedHeader({ alg: 'ES256', typ: 'at+jwt', kid, ...head }).sign(key);
    const encode = (value: object) => Buffer.from(JSON.stringify(value)).toString('base64url');
    const forged = [
      `${header}.${payload}.`,
      `${header}.${payload}`,
      `${header}.${encode({ ...claims, scope: 'websites:read websites:write stats:read' })}.${signature}`,
      `${encode({ alg: 'none', typ: 'at+jwt' })}.${payload}.`,
      `${encode({ alg: 'NONE', typ: 'at+jwt', kid })}.${payload}.`,
      await signed({}),
      await signed({ jwk: publicJwk }),
      await signed({ jku: 'https://evil.example/jwks' }),
      await signed({ kid: '../../../dev/null' }),
      await signed({ kid: "' or '1'='1" }),
      // The public key as the secret of an HMAC.
      await signed({ alg: 'HS256' }, {}, new TextEncoder().encode(JSON.stringify(jwks.keys[0]))),
      await signed({ alg: 'HS256' }, {}, new Uint8Array(32)),
    ];
    expect(alg).toMatch(/^(ES|RS)256$/);
    for (const token of forged) expect([token.slice(0, 60), (await callApi(token)).status]).toEqual([token.slice(0, 60), 401]);
  });

  test('with too little scope changes nothing, and the response names what is missing', async () => {
    const response = await via.post('/api/websites', { domain: 'shop.example' }, bearer(forApi.tokens.access_token));
    expect(response.status).toBe(403);
    expect(response.headers['www-authenticate']).toMatch(/error="insufficient_scope".*websites:write/);
    expect(await stage.query("select 1 from websites where domain = 'shop.example'")).toHaveLength(0);
  });
});

describe('a refresh', () => {
  test('cannot add scopes or resources that were not granted', async () => {
    const granted = await signInFor('api', 'openid email offline_access websites:read');
    const token = granted.tokens.refresh_token;
    for (const scope of ['openid email offline_access websites:read websites:write', 'profile', 'websites:write'])
      expectOauthError(await refresh(via, app, token, { scope }), 'invalid_scope');
    const { status, json } = await refresh(via, app, token, { scope: 'websites:read', resource: `${service.url}/api` });
    expect(status).toBe(200);
    expect(claimsOf(json.access_token)).toMatchObject({ scope: 'websites:read', aud: `${service.url}/api` });
    for (const resource of [`${service.url}/mcp`, 'https://evil.example/']) {
      const { tokens } = await signInFor('api', 'openid email offline_access websites:read');
      expectOauthError(await refresh(via, app, tokens.refresh_token, { resource }), 'invalid_target');
    }
  });

  test('by another client is refused, and ends nothing', async () => {
    const { tokens } = await signInFor('api', 'openid email offline_access');
    expectOauthError(await refresh(via, rival, tokens.refresh_token), 'invalid_grant');
    expectOauthError(await refresh(via, { ...app, secret: rival.secret }, tokens.refresh_token), 'invalid_client', 401);
    expectOauthError(await refresh(via, { ...app, secret: undefined }, tokens.refresh_token), 'invalid_client', 401);
    expect((await refresh(via, app, tokens.refresh_token)).status).toBe(200);
  });

  test('with a token that was used before ends the whole family, access tokens included', async () => {
    const { tokens } = await signInFor('api', 'openid email offline_access websites:read');
    const resource = `${service.url}/api`;
    const second = (await refresh(via, app, tokens.refresh_token, { resource })).json;
    const third = (await refresh(via, app, second.refresh_token, { resource })).json;
    expect((await callApi(third.access_token)).status).toBe(200);
    expectOauthError(await refresh(via, app, tokens.refresh_token), 'invalid_grant');
    for (const { refresh_token } of [tokens, second, third]) expectOauthError(await refresh(via, app, refresh_token), 'invalid_grant');
    for (const { access_token } of [tokens, second, third]) expect((await callApi(access_token)).status).toBe(401);
  });
});

describe('the scopes of an application', () => {
  test('are the most that it gets, whatever it requests', async () => {
    const modest = await addApplication(developer, { scopes: ['openid', 'email', 'websites:read'] });
    const changes = { scope: 'openid email profile websites:read websites:write', resource: `${service.url}/api`, prompt: 'consent' };
    const grant = await signInAt(stage, service, modest, { email: developer.email, changes }).catch((error: Error) => error.message);
    if (typeof grant === 'string') expect(grant).toMatch(/invalid_scope/);
    else expect(claimsOf(grant.tokens.access_token).scope.split(' ')).toEqual(['websites:read']);
  });
});

describe('introspection and revocation', () => {
  test('tell a client nothing about the tokens of another one, and revoke none of them', async () => {
    const { tokens } = await signInFor(undefined, 'openid email offline_access');
    for (const token of [tokens.access_token, tokens.refresh_token]) {
      expect((await postForm(via, '/oauth/introspect', rival, { token })).json).toEqual({ active: false });
      const response = await postForm(via, '/oauth/revoke', rival, { token });
      expect([200, 400]).toContain(response.status);
    }
    expectOauthError(
      await postForm(via, '/oauth/introspect', { ...app, secret: undefined }, { token: tokens.access_token }),
      'invalid_client',
      401,
    );
    expect((await postForm(via, '/oauth/introspect', app, { token: tokens.access_token })).json.active).toBe(true);
    expect((await userinfo(via, tokens.access_token)).status).toBe(200);
  });

  test('a revoked refresh token ends the access tokens of its grant', async () => {
    const { tokens } = await signInFor('api', 'openid email offline_access websites:read');
    expect((await postForm(via, '/oauth/revoke', app, { token: tokens.refresh_token })).status).toBe(200);
    expectOauthError(await refresh(via, app, tokens.refresh_token), 'invalid_grant');
    expect((await callApi(tokens.access_token)).status).toBe(401);
  });
});

describe('subjects', () => {
  test('differ between hosts, so that two clients cannot combine what they know, and are the same for one', async () => {
    const email = freshAddress();
    const changes = { prompt: 'consent' };
    const subject = async (client: OidcClient) =>
      claimsOf((await signInAt(stage, service, client, { email, changes })).tokens.id_token).sub;
    const [first, again, other] = [await subject(app), await subject(app), await subject(rival)];
    expect(first).toBe(again);
    expect(first).not.toBe(other);
    for (const known of [email, Buffer.from(email).toString('base64url')]) expect(first).not.toContain(known);
  });
});
