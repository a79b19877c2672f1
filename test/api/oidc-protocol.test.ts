import { type CryptoKey, decodeJwt, exportJWK, generateKeyPair, type JWK, SignJWT } from 'jose';
import pg from 'pg';
import { beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import type { HttpResponse } from '../support/client.ts';
import { freshNetworkAddress, useProduction, useService } from '../support/harness.ts';
import { allow, answerOf, begin, continueByLink, exchangeCode, follow, postForm, REDIRECT, signIn } from '../support/oidc-client.ts';
import { bootOf } from '../support/oidc-driver.ts';
import { type Developer, freshAddress, freshDomain, openLink, signInDeveloper } from '../support/sign-ins.ts';
import { waitUntil } from '../support/waiting.ts';

const { stage, service } = await useService();
const { service: limited } = await useProduction();
let developer: Developer;
let clientId: string;
beforeAll(async () => {
  developer = await signInDeveloper(stage, service);
  clientId = (await addApplication()).clientId;
});

type Application = { id: string; clientId: string; clientSecret?: string };

async function addApplication(settings: object = {}): Promise<Application> {
  const response = await developer.client.post('/api/clients', { name: 'Notes', redirectUris: [REDIRECT], ...settings });
  if (response.status !== 200) throw new Error(response.text);
  return response.json;
}

const basic = (id: string, secret: string) => ({ Authorization: `Basic ${Buffer.from(`${id}:${secret}`).toString('base64')}` });
const OFFLINE = { scope: 'openid email offline_access', parameters: { prompt: 'consent' } };

describe('authorization requests', () => {
  test('without PKCE, with plain PKCE or with another redirect URI are refused', async () => {
    const client = service.client();
    const refused = async (parameters: Record<string, string>) => (await begin(client, { clientId, parameters })).response;
    expect(answerOf(await refused({ code_challenge: '' }))).toMatchObject({ error: 'invalid_request', iss: service.url });
    expect(answerOf(await refused({ code_challenge_method: 'plain' })).error).toBe('invalid_request');
    for (const redirect_uri of [`${REDIRECT}/`, 'https://app.example.evil.example/callback', `${REDIRECT}?x=1`]) {
      const response = await refused({ redirect_uri });
      expect(response.status).toBe(400);
      expect(bootOf(response).authorization).toMatchObject({ step: 'error', error: 'invalid_redirect_uri', reason: 'redirect_uri' });
    }
  });

  test('may use any port of a registered loopback redirect URI', async () => {
    const { clientId } = await addApplication({ redirectUris: ['http://127.0.0.1/callback'] });
    const redirectUri = 'http://127.0.0.1:49152/callback';
    const { tokens } = await signIn(stage, service.client(), { clientId, redirectUri });
    expect(tokens.id_token).toBeTruthy();
    const other = await begin(service.client(), { clientId, redirectUri: 'http://127.0.0.1:49152/other' });
    expect(other.response.status).toBe(400);
  });

  test('can be pushed, and a request_uri is used once', async () => {
    const client = service.client();
    const begun = await begin(client, { clientId });
    const query = Object.fromEntries(new URLSearchParams(begun.query));
    const pushed = await postForm(client, '/oauth/par', query);
    expect(pushed.status).toBe(201);
    const byUri = new URLSearchParams({ client_id: clientId, request_uri: pushed.json.request_uri });
    const page = await follow(client, await client.get(`/oauth/authorize?${byUri}`));
    const uid = bootOf(page).target.interaction;
    const { code } = await continueByLink(stage, client, { ...begun, uid }, freshAddress());
    expect((await exchangeCode(client, begun, code)).status).toBe(200);
    const again = await client.get(`/oauth/authorize?${byUri}`);
    expect(again.status === 400 || answerOf(again).error !== null).toBe(true);
  });

  test('can ask for the response as a form, whose page runs only its own script', async () => {
    const client = service.client();
    await signIn(stage, client, { clientId });
    const { response } = await begin(client, { clientId, parameters: { response_mode: 'form_post' } });
    expect(response.status).toBe(200);
    expect(response.text).toContain(`action="${REDIRECT}"`);
    expect(response.headers['content-security-policy']).toMatch(/default-src 'none';.*script-src 'none' 'sha256-/);
  });
});

describe('clients with a secret', () => {
  test('authenticate in the header or in the body, and introspect and revoke their tokens', async () => {
    const { clientId, clientSecret = '' } = await addApplication({ authentication: 'secret' });
    const client = service.client();
    const begun = await begin(client, { clientId, ...OFFLINE });
    const { code } = await continueByLink(stage, client, begun, freshAddress());
    const wrong = await exchangeCode(client, begun, code, { client_secret: 'wrong' });
    expect([wrong.status, wrong.json.error]).toEqual([401, 'invalid_client']);
    const tokens = (await exchangeCode(client, begun, code, { client_secret: clientSecret })).json;
    const headers = basic(clientId, clientSecret);
    const introspect = async (token: string) => (await postForm(client, '/oauth/introspect', { token }, headers)).json;
    expect(await introspect(tokens.access_token)).toMatchObject({
      active: true,
      client_id: clientId,
      scope: expect.stringContaining('openid'),
    });
    const refreshed = await postForm(client, '/oauth/token', { grant_type: 'refresh_token', refresh_token: tokens.refresh_token }, headers);
    expect(refreshed.status).toBe(200);
    expect((await postForm(client, '/oauth/revoke', { token: refreshed.json.refresh_token }, headers)).status).toBe(200);
    expect(await introspect(refreshed.json.access_token)).toEqual({ active: false });
  });
});

describe('refresh tokens', () => {
  test('are replaced at each use, and the second use of one ends all of its sign-in', async () => {
    const client = service.client();
    const { tokens } = await signIn(stage, client, { clientId, ...OFFLINE });
    const refresh = (token: string, more = {}) =>
      postForm(client, '/oauth/token', { grant_type: 'refresh_token', client_id: clientId, refresh_token: token, ...more });
    const second = (await refresh(tokens.refresh_token)).json;
    expect(second.refresh_token).not.toBe(tokens.refresh_token);
    expect((await refresh(second.refresh_token, { scope: 'openid profile' })).json.error).toBe('invalid_scope');
    expect((await refresh(tokens.refresh_token)).json.error).toBe('invalid_grant');
    expect((await refresh(second.refresh_token)).json.error).toBe('invalid_grant');
    expect((await client.get('/oauth/userinfo', { Authorization: `Bearer ${second.access_token}` })).status).toBe(401);
  });

  test('a code that is used twice ends the tokens of its first use', async () => {
    const client = service.client();
    const { begun, code, tokens } = await signIn(stage, client, { clientId });
    const status = async () => (await client.get('/oauth/userinfo', { Authorization: `Bearer ${tokens.access_token}` })).status;
    expect(await status()).toBe(200);
    expect((await exchangeCode(client, begun, code)).json.error).toBe('invalid_grant');
    expect(await status()).toBe(401);
  });
});

describe('DPoP', () => {
  test('binds tokens to the key of the client', async () => {
    const client = service.client();
    const { privateKey, publicKey } = await generateKeyPair('ES256');
    const jwk = await exportJWK(publicKey);
    const begun = await begin(client, { clientId });
    const { code } = await continueByLink(stage, client, begun, freshAddress());
    const proof = await proofOf(privateKey, jwk, 'POST', '/oauth/token');
    const tokens = (await exchangeCode(client, begun, code, {}, { DPoP: proof })).json;
    expect(tokens.token_type).toBe('DPoP');
    const url = '/oauth/userinfo';
    expect((await client.get(url, { Authorization: `Bearer ${tokens.access_token}` })).status).toBe(401);
    const use = { Authorization: `DPoP ${tokens.access_token}`, DPoP: await proofOf(privateKey, jwk, 'GET', url, tokens.access_token) };
    expect((await client.get(url, use)).status).toBe(200);
    expect((await client.get(url, use)).status).toBe(401);
  });

  async function proofOf(key: CryptoKey, jwk: JWK, htm: string, path: string, accessToken?: string): Promise<string> {
    const ath = accessToken && Buffer.from(await crypto.subtle.digest('SHA-256', Buffer.from(accessToken))).toString('base64url');
    return new SignJWT({ htm, htu: service.url + path, jti: crypto.randomUUID(), ...(ath && { ath }) })
      .setProtectedHeader({ alg: 'ES256', typ: 'dpop+jwt', jwk })
      .setIssuedAt()
      .sign(key);
  }
});

describe('resources', () => {
  test('get access tokens in JWT format for one audience, with the scopes that were granted', async () => {
    const client = service.client();
    const resource = `${service.url}/mcp`;
    const request = { clientId: (await addApplication({ scopes: ['openid', 'email', 'websites:read', 'stats:read'] })).clientId };
    const begun = await begin(client, { ...request, scope: 'openid websites:read', parameters: { resource } });
    const { code } = await continueByLink(stage, client, begun, freshAddress());
    const tokens = (await exchangeCode(client, begun, code, { resource })).json;
    const [header, payload] = tokens.access_token.split('.', 2).map((part: string) => JSON.parse(String(Buffer.from(part, 'base64url'))));
    expect(header).toMatchObject({ alg: 'ES256', typ: 'at+jwt' });
    expect(payload).toMatchObject({ iss: service.url, aud: resource, scope: 'websites:read', client_id: request.clientId });
    expect(payload.grant).toMatch(/^[\w-]{43}$/);
    const unknown = await begin(service.client(), { ...request, parameters: { resource: 'https://evil.example/api' } });
    expect(answerOf(unknown.response).error).toBe('invalid_target');
  });
});

describe('browsers', () => {
  test('pages of a client may call the token endpoint, other origins may not; metadata are open to all', async () => {
    const client = service.client();
    const begun = await begin(client, { clientId });
    const { code } = await continueByLink(stage, client, begun, freshAddress());
    const evil = await exchangeCode(client, begun, code, {}, { Origin: 'https://evil.example' });
    expect([evil.status, evil.headers['access-control-allow-origin']]).toEqual([400, undefined]);
    const own = await exchangeCode(client, begun, code, {}, { Origin: 'https://app.example' });
    expect([own.status, own.headers['access-control-allow-origin']]).toEqual([200, 'https://app.example']);
    for (const path of ['/oauth/jwks', '/.well-known/openid-configuration']) {
      const open = await client.get(path, { Origin: 'https://any.example' });
      expect(open.headers).toMatchObject({ 'access-control-allow-origin': 'https://any.example', 'cache-control': 'public, max-age=300' });
    }
  });

  test('responses have the security headers of the service, and tokens are not cached', async () => {
    const { headers } = await exchangeCode(service.client(), await begin(service.client(), { clientId }), 'none');
    expect(headers).toMatchObject({ 'cache-control': 'no-store', 'x-content-type-options': 'nosniff', 'referrer-policy': 'no-referrer' });
    expect(headers['content-security-policy']).toContain("frame-ancestors 'none'");
  });
});

test('a sign-in needs no second question at a registered website, and one for its profile', async () => {
  const domain = freshDomain();
  await developer.client.post('/api/websites', { domain });
  const website = { clientId: `https://${domain}`, redirectUri: `https://${domain}/callback` };
  const client = service.client();
  const begun = await begin(client, website);
  await client.post('/api/auth/domain-auth', { email: freshAddress(), interaction: begun.uid });
  const more = await begin(client, { ...website, scope: 'openid email profile' });
  expect(more.uid).not.toBe('');
  const direct = await signIn(stage, service.client(), website);
  expect(direct.code).not.toBe('');
  const elsewhere = await begin(client, { ...website, redirectUri: 'https://evil.example/callback' });
  expect(bootOf(elsewhere.response).authorization).toMatchObject({ error: 'invalid_redirect_uri' });
});

test('rejected requests of an application are recorded for its owner', async () => {
  const application = await addApplication();
  const client = service.client();
  const rows = () =>
    stage.query("select result from sign_in_steps where client_id = $1 and action = 'client_refused' order by id", [application.clientId]);
  const recorded = (count: number) =>
    waitUntil(`${count} refusals are recorded`, 30_000, async () => (await rows()).length === count || JSON.stringify(await rows()));
  // A refusal is recorded after its response.
  await begin(client, { clientId: application.clientId, redirectUri: 'https://wrong.example/' });
  await recorded(1);
  await begin(client, { clientId: application.clientId, parameters: { code_challenge: '' } });
  await recorded(2);
  const begun = await begin(client, { clientId: application.clientId });
  await exchangeCode(client, begun, 'unknown');
  await recorded(3);
  expect(await rows()).toMatchObject([
    { result: expect.stringMatching(/^invalid_redirect_uri: ./) },
    { result: expect.stringMatching(/^invalid_request: .*(?:PKCE|code_challenge)/) },
    { result: expect.stringMatching(/^invalid_grant: .*authorization code not found/) },
  ]);
});

test('rejected token requests above the limit of their network get 429', async () => {
  const client = limited.client(freshNetworkAddress());
  const wrong = () => postForm(client, '/oauth/token', { grant_type: 'authorization_code', client_id: clientId, code: 'x' });
  // One after another, since many at once may wait too long for the row of the counter. Its window of a minute may end meanwhile.
  const responses: HttpResponse[] = [];
  while (responses.length < 200 && responses.filter(({ status }) => status === 429).length < 10) responses.push(await wrong());
  const refused = responses.filter(({ status }) => status === 429);
  expect(refused.length).toBeGreaterThanOrEqual(10);
  expect(responses.filter(({ status }) => status !== 429).every(({ json }) => json.error === 'invalid_grant')).toBe(true);
  expect(Number(refused[0].headers['retry-after'])).toBeGreaterThan(0);
});

test('consent is not asked for again in the same browser', async () => {
  const client = service.client();
  await signIn(stage, client, { clientId });
  const again = await begin(client, { clientId });
  expect(answerOf(await allow(client, again.response)).code).not.toBe('');
});

test('the scope profile has the name of an account and the language of the sign-in', async () => {
  const { email, client } = await signInDeveloper(stage, service);
  await client.put('/api/user/profile', { name: 'Ann Smith' });
  const browser = service.client();
  const begun = await begin(browser, { clientId, scope: 'openid profile', parameters: { ui_locales: 'lt' } });
  await browser.post('/api/auth/domain-auth', { email, interaction: begun.uid, language: 'lv' });
  const page = await follow(browser, await browser.get(await openLink(browser, await stage.mailbox.waitFor(email))));
  const { code } = answerOf(await allow(browser, page));
  const tokens = (await exchangeCode(browser, begun, code)).json;
  expect(decodeJwt(tokens.id_token)).toMatchObject({ name: 'Ann Smith', locale: 'lv' });
  const again = await begin(browser, { clientId, scope: 'openid profile' });
  const userinfo = (await exchangeCode(browser, again, answerOf(again.response).code)).json.access_token;
  const claims = (await browser.get('/oauth/userinfo', { Authorization: `Bearer ${userinfo}` })).json;
  expect(claims).toEqual({ sub: expect.any(String), name: 'Ann Smith', locale: 'lv', preferred_username: claims.sub });
});

test('while the database does not respond, requests get 503 with a reference that is in the log', async () => {
  const client = Object.assign(service.client(), { retriesUnavailable: false });
  const locking = new pg.Client({ connectionString: stage.databaseUrl });
  await locking.connect();
  onTestFinished(() => locking.end());
  await locking.query('begin; lock table oidc_records');
  const fields = {
    grant_type: 'authorization_code',
    client_id: clientId,
    code: 'x',
    code_verifier: 'x'.repeat(43),
    redirect_uri: REDIRECT,
  };
  const [token, page] = await Promise.all([postForm(client, '/oauth/token', fields), begin(client, { clientId })]);
  expect([token.status, token.json.error]).toEqual([503, 'temporarily_unavailable']);
  expect(token.headers['retry-after']).toBeTruthy();
  await waitUntil('the log has the reference', 30_000, async () => service.output().includes(token.json.reference) || 'no line');
  expect(page.response.status).toBe(503);
  expect(bootOf(page.response).error).toMatchObject({ code: 'unavailable', reference: expect.any(String) });
});
