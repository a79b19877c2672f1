import { beforeAll, beforeEach, describe, expect, test } from 'vitest';
import type { Client } from '../support/client.ts';
import { useProduction, useService } from '../support/harness.ts';
import {
  addApplication,
  authorizationRequest,
  authorizeAt,
  completeSignIn,
  exchangeCode,
  expectOauthError,
  type OidcClient,
  postForm,
  refresh,
  signInAt,
  userinfo,
  visit,
  websiteClient,
} from '../support/oidc-driver.ts';
import { addWebsite, type Developer, freshAddress, signInDeveloper } from '../support/sign-ins.ts';

// Two instances on one database: what one of them issues is used at the other one.
const { stage, service } = await useService();
const { service: other } = await useProduction();
let developer: Developer;
let shop: OidcClient;
let app: OidcClient;
let secretApp: OidcClient;
let via: Client;
beforeAll(async () => {
  developer = await signInDeveloper(stage, service);
  shop = websiteClient(await addWebsite(stage, service));
  app = await addApplication(developer);
  secretApp = await addApplication(developer, { authentication: 'secret' });
});
// Each with a network address of its own, since rejected requests are limited.
beforeEach(() => {
  via = other.client();
});

describe('an authorization code', () => {
  test('is refused for every client, redirect URI and verifier but its own, and stays valid for them', async () => {
    const granted = await authorizeAt(stage, service, app);
    const { request, callback } = granted;
    const second = await authorizeAt(stage, service, app);
    for (const [request_, changes] of [
      [{ ...request, client: shop }, {}],
      [{ ...request, client: secretApp }, {}],
      [{ ...request, client: secretApp }, { redirect_uri: app.redirectUri }],
      [request, { redirect_uri: `${app.redirectUri}/` }],
      [request, { redirect_uri: shop.redirectUri }],
      [request, { code_verifier: second.request.pkce.codeVerifier }],
      [request, { code_verifier: request.pkce.codeChallenge }],
      [request, { code_verifier: undefined }],
      [request, { code_verifier: '' }],
    ] as const)
      expectOauthError(await exchangeCode(via, request_, callback, changes), 'invalid_grant');
    expect((await exchangeCode(via, request, callback)).status).toBe(200);
  });

  test('of another person cannot be injected into a session: its verifier does not match', async () => {
    const victim = await authorizeAt(stage, service, app);
    const attacker = await authorizationRequest(app);
    expectOauthError(await exchangeCode(via, attacker, victim.callback), 'invalid_grant');
  });

  test('that is used twice is refused, and what its first use issued is revoked on every instance', async () => {
    const granted = await authorizeAt(stage, service, app, { changes: { scope: 'openid email offline_access', prompt: 'consent' } });
    const first = (await exchangeCode(service.client(), granted.request, granted.callback)).json;
    expect(first.refresh_token).toEqual(expect.any(String));
    expect((await userinfo(via, first.access_token)).json.email).toBe(granted.email);
    expectOauthError(await exchangeCode(via, granted.request, granted.callback), 'invalid_grant');
    for (const instance of [service, other]) {
      expectOauthError(await userinfo(instance.client(), first.access_token), 'invalid_token', 401);
      expectOauthError(await refresh(instance.client(), app, first.refresh_token), 'invalid_grant');
    }
  });

  test('is refused without the secret of its confidential client, or with a wrong one', async () => {
    const { request, callback } = await authorizeAt(stage, service, secretApp);
    for (const secret of [undefined, 'x'.repeat(43), `${secretApp.secret} `])
      expectOauthError(await exchangeCode(via, { ...request, client: { ...secretApp, secret } }, callback), 'invalid_client', 401);
    expect((await exchangeCode(via, request, callback)).status).toBe(200);
  });

  test('is not accepted as any other credential', async () => {
    const { request, callback } = await authorizeAt(stage, service, app);
    const code = String(callback.searchParams.get('code'));
    expectOauthError(await userinfo(via, code), 'invalid_token', 401);
    expectOauthError(await refresh(via, app, code), 'invalid_grant');
    expect((await via.get(`/api/verify-token?token=${code}`)).json.valid).not.toBe(true);
    expect((await exchangeCode(via, request, callback)).status).toBe(200);
  });
});

describe('PKCE', () => {
  test.each([
    ['no challenge', { code_challenge: undefined, code_challenge_method: undefined }],
    ['the method plain', { code_challenge_method: 'plain' }],
    ['a challenge without a method, which means plain', { code_challenge_method: undefined }],
    ['a challenge that is too short', { code_challenge: 'x'.repeat(42) }],
    ['an unknown method', { code_challenge_method: 'S512' }],
  ])('is required from every client: %s is refused', async (_, changes) => {
    for (const client of [shop, app, secretApp]) {
      const { url, pkce } = await authorizationRequest(client, changes);
      const { callback } = await visit(via, url);
      expect(callback?.href.split('?')[0]).toBe(client.redirectUri);
      expect(Object.fromEntries(callback?.searchParams ?? [])).toMatchObject({
        error: 'invalid_request',
        state: pkce.state,
        iss: other.url,
      });
      expect(callback?.searchParams.has('code')).toBe(false);
    }
  });
});

describe('an authorization response', () => {
  test('names the issuer, so that a client of several providers notices a mix-up (RFC 9207)', async () => {
    const metadata = (await via.get('/.well-known/oauth-authorization-server')).json;
    expect(metadata).toMatchObject({ issuer: other.url, authorization_response_iss_parameter_supported: true });
    const { callback, request } = await authorizeAt(stage, service, app);
    expect(callback.searchParams.getAll('iss')).toEqual([service.url]);
    expect(callback.searchParams.getAll('state')).toEqual([request.pkce.state]);
    const refused = await visit(via, (await authorizationRequest(app, { prompt: 'none' })).url);
    expect(Object.fromEntries(refused.callback?.searchParams ?? [])).toMatchObject({ error: 'login_required', iss: other.url });
  });

  test('goes to the client that asked, also when another request of the browser waits', async () => {
    const browser = service.client();
    const [forShop, forApp] = [await authorizationRequest(shop), await authorizationRequest(app)];
    const first = await visit(browser, forShop.url);
    const second = await visit(browser, forApp.url);
    const toApp = await completeSignIn(stage, browser, second, freshAddress());
    expect([toApp.origin, toApp.searchParams.get('state')]).toEqual([new URL(app.redirectUri).origin, forApp.pkce.state]);
    const toShop = await completeSignIn(stage, browser, await visit(browser, first.at), freshAddress());
    expect([toShop.origin, toShop.searchParams.get('state')]).toEqual([new URL(shop.redirectUri).origin, forShop.pkce.state]);
  });
});

test('the ID token is bound to the request: nonce, audience and issuer are those of its client', async () => {
  const { tokens, request } = await signInAt(stage, service, app);
  const claims = JSON.parse(Buffer.from(tokens.id_token.split('.')[1], 'base64url').toString());
  expect(claims).toMatchObject({ iss: service.url, aud: app.clientId, nonce: request.nonce });
  const code = await postForm(via, '/oauth/token', app, {
    grant_type: 'authorization_code',
    code: tokens.id_token,
    redirect_uri: app.redirectUri,
  });
  expectOauthError(code, 'invalid_grant');
});
