import { createLocalJWKSet, decodeProtectedHeader } from 'jose';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type FindKey, splitToken } from '../server/email-verification/token.ts';
import { verifyToken } from '../server/email-verification/verify-token.ts';
import { openAuthenticator } from './authenticator.ts';
import { Client, type HttpResponse } from './client.ts';
import { bindEvt, newTokenKey, type TokenKey } from './email-issuer.ts';
import { openStage, production, type Service, type Stage } from './harness.ts';
import { readMetrics } from './metrics-text.ts';
import { bootOf } from './oidc-driver.ts';
import { addWebsite, freshAddress, requestEmail, signInDeveloper, visitorToken } from './sign-ins.ts';
import { type RequestChanges, signTokenRequest } from './token-request.ts';
import { freePort } from './waiting.ts';

const ACCOUNTS = '/email-verification/accounts';
const ISSUANCE = '/email-verification/issuance';
const COOKIE = '__Secure-email_verification;/email-verification';
const METRICS_TOKEN = 'metrics-token-of-the-test';

let stage: Stage;
let service: Service;
let shop: string;
let browserKey: TokenKey;
/** Starts an issuer. Its clients speak plain HTTP to it, as a proxy for the https origin does. */
async function startIssuer(settings: Record<string, string> = {}): Promise<Service> {
  const port = String(await freePort());
  const own = { PORT: port, PUBLIC_URL: `https://localhost:${port}`, EVP_ISSUER_DOMAINS: 'mail.example, team.example', METRICS_TOKEN };
  const started = await stage.start({ ...own, ...settings });
  return { ...started, client: () => new Client(`https://localhost:${port}`) };
}
beforeAll(async () => {
  stage = await openStage();
  service = await startIssuer();
  shop = await addWebsite(stage, service);
  browserKey = await newTokenKey();
});
afterAll(() => stage.close());

/** Signs a visitor in to a website. Returns the browser. */
async function signIn(email = freshAddress(), client = service.client()): Promise<Client> {
  await visitorToken(stage, client, shop, email);
  return client;
}

const accountsOf = (client: Client) => client.get(ACCOUNTS, { 'Sec-Fetch-Dest': 'webidentity' });

/** Requests a token as Chromium does. */
async function requestToken(client: Client, email: string, changes: RequestChanges = {}, fields: object = {}): Promise<HttpResponse> {
  const body = JSON.stringify({ email, ...fields });
  const headers = await signTokenRequest(service.url + ISSUANCE, body, browserKey, changes);
  return client.send(ISSUANCE, { method: 'POST', headers, body });
}

/** The lookup of the published keys of the service. */
async function publishedKeys(): Promise<FindKey> {
  const { jwks_uri } = (await service.client().get('/.well-known/email-verification')).json;
  return createLocalJWKSet((await service.client().get(jwks_uri)).json) as unknown as FindKey;
}

const issuances = async (email: string) =>
  (await stage.query("select from audit_log where email = $1 and action = 'email_verification_issued'", [email])).length;

const settingOf = (response: HttpResponse) => response.setCookies.find((line) => line.startsWith('__Secure-email_verification='));

describe('discovery', () => {
  test('publishes the endpoints, the algorithms and the keys of the OpenID provider', async () => {
    const metadata = await service.client().get('/.well-known/email-verification');
    expect(metadata.json).toEqual({
      issuer: service.url,
      issuance_endpoint: service.url + ISSUANCE,
      jwks_uri: `${service.url}/oauth/jwks`,
      signing_alg_values_supported: ['ES256'],
    });
    expect(metadata.headers['content-type']).toContain('application/json');
    const identity = await service.client().get('/.well-known/web-identity');
    expect(identity.json).toEqual({ accounts_endpoint: service.url + ACCOUNTS, login_url: `${service.url}/auth` });
    const openId = await service.client().get('/.well-known/openid-configuration');
    expect(openId.json.jwks_uri).toBe(metadata.json.jwks_uri);
  });

  test('does not exist on a service without EVP_ISSUER_DOMAINS, which sets no cookie for it', async () => {
    const plain = await startIssuer({ EVP_ISSUER_DOMAINS: '' });
    for (const path of ['/.well-known/email-verification', '/.well-known/web-identity', ACCOUNTS])
      expect((await plain.client().get(path)).status).toBe(404);
    expect((await plain.client().post(ISSUANCE)).status).toBe(404);
    const client = plain.client();
    const email = freshAddress();
    await requestEmail(client, email, `https://${shop}/`);
    const signedIn = await client.get((await stage.mailbox.waitFor(email)).link);
    expect(signedIn.status).toBe(303);
    expect(signedIn.setCookies.join()).not.toContain('email_verification');
    expect(signedIn.headers['set-login']).toBeUndefined();
    await plain.stop();
  });
});

describe('the cookie of a sign-in', () => {
  test('is Secure, HttpOnly, SameSite=None and sent to the issuer only', async () => {
    const client = service.client();
    const email = freshAddress();
    await requestEmail(client, email, `https://${shop}/`);
    const signedIn = await client.get((await stage.mailbox.waitFor(email)).link);
    const attributes = settingOf(signedIn)?.split('; ').slice(1);
    expect(attributes?.sort()).toEqual(['HttpOnly', 'Max-Age=2592000', 'Path=/email-verification', 'SameSite=None', 'Secure']);
    expect(signedIn.headers['set-login']).toBe('logged-in');
  });

  test('is set by every way to sign in: code, remembered account, and the portal', async () => {
    const client = service.client();
    const email = freshAddress();
    await requestEmail(client, email, `https://${shop}/`);
    const { code } = await stage.mailbox.waitFor(email);
    expect(settingOf(await client.post('/api/auth/email-code', { email, code }))).toBeDefined();
    const key = decodeURIComponent(client.cookies.get('auth_key') ?? '');
    const again = await client.post('/api/auth/validate-key', { email, key, forward_url: `https://${shop}/` });
    expect(settingOf(again)).toBeDefined();
    const developer = await signInDeveloper(stage, service);
    expect((await accountsOf(developer.client)).json.accounts[0].email).toBe(developer.email);
  });

  test('is not set for an address of another domain, and keeps the one before', async () => {
    const stranger = await signIn(`ann-${Date.now()}@other.example`);
    expect(stranger.cookies.has(COOKIE)).toBe(false);
    const email = freshAddress();
    const client = await signIn(email);
    await signIn(`bob-${Date.now()}@other.example`, client);
    expect((await accountsOf(client)).json.accounts).toHaveLength(1);
    expect((await accountsOf(client)).json.accounts[0].email).toBe(email);
  });

  test('signs no one in anywhere else', async () => {
    const { client } = await signInDeveloper(stage, service);
    const thief = service.client();
    const value = client.cookies.get(COOKIE) as string;
    for (const name of ['__Secure-email_verification', '__Host-sid', '__Host-device', '__Host-attempt']) thief.cookies.set(name, value);
    expect((await thief.get('/api/user/me')).status).toBe(401);
    expect((await thief.get('/api/auth/session')).json.user).toBeNull();
  });
});

describe('the accounts endpoint', () => {
  test('lists the address that signed in last', async () => {
    const email = freshAddress();
    const response = await accountsOf(await signIn(email));
    expect(response.status).toBe(200);
    expect(response.json).toEqual({ accounts: [{ id: email, name: email, email }] });
    expect(response.headers).toMatchObject({ 'cache-control': 'no-store', 'x-content-type-options': 'nosniff' });
  });

  test('responds with 401 to a browser in which no one has signed in', async () => {
    const response = await accountsOf(service.client());
    expect([response.status, response.json.code]).toEqual([401, 'sign_in_needed']);
  });

  test.each(['empty', 'document', 'image', 'email-verification', undefined])('refuses a request with Sec-Fetch-Dest %s', async (dest) => {
    const client = await signIn();
    const response = await client.get(ACCOUNTS, dest ? { 'Sec-Fetch-Dest': dest } : {});
    expect(response.status).toBe(400);
    expect(response.text).not.toContain('@mail.example');
    expect(response.headers['access-control-allow-origin']).toBeUndefined();
  });
});

describe('a token request', () => {
  /** Requests a token and verifies it as a relying party. */
  async function expectToken(client: Client, email: string): Promise<void> {
    const response = await requestToken(client, email);
    expect([response.status, response.headers['content-type']]).toEqual([200, 'application/json; charset=utf-8']);
    const evt = response.json.issuance_token.replace(/~$/, '');
    expect(response.json).toEqual({ issuance_token: `${evt}~` });
    expect(decodeProtectedHeader(evt)).toMatchObject({ typ: 'evt+jwt', alg: 'ES256' });
    const [origin, nonce] = ['https://shop.example', 'a nonce of the shop'];
    const keyBinding = await bindEvt(evt, { issuer: service.url, email, origin, nonce, issuerKey: browserKey, browserKey });
    const expected = { issuer: service.url, email, origin, nonce, now: Date.now() };
    await verifyToken(splitToken(`${evt}~${keyBinding}`), expected, await publishedKeys());
    expect(await issuances(email)).toBe(1);
  }

  test('gets a token that a relying party accepts', async () => {
    const email = freshAddress();
    await expectToken(await signIn(email), email);
  });

  test('gets one in a browser that has signed in with a passkey only, without an email', async () => {
    const [first, email] = [service.client(), freshAddress()];
    const authenticator = openAuthenticator({ origin: service.url });
    await first.post('/api/auth/domain-auth', { email, forward_url: `https://${shop}/`, require: 'passkey' });
    const { options } = bootOf(await first.get((await stage.mailbox.waitFor(email)).link)).addPasskey ?? {};
    const credential = authenticator.create(options as Parameters<typeof authenticator.create>[0]);
    expect((await first.post('/api/auth/passkey/registration', { credential })).status).toBe(200);

    const client = service.client();
    expect((await requestToken(client, email)).json.error).toBe('authentication_required');
    const { challenge } = (await client.post('/api/auth/passkey/challenge')).json;
    const signedIn = await client.post('/api/auth/passkey', { credential: authenticator.get(challenge), forward_url: `https://${shop}/` });
    expect([signedIn.status, settingOf(signedIn)]).toEqual([200, expect.stringContaining('SameSite=None')]);
    expect((await accountsOf(client)).json.accounts).toEqual([{ id: email, name: email, email }]);
    await expectToken(client, email);
  });

  test('keeps the capital letters with which the address was typed, as the browser expects it', async () => {
    const email = freshAddress();
    const typed = email.replace('ann', 'Ann');
    const { json } = await requestToken(await signIn(email), typed);
    expect(JSON.parse(Buffer.from(json.issuance_token.split('.')[1], 'base64url').toString()).email).toBe(typed);
  });

  test('is answered by any instance', async () => {
    const email = freshAddress();
    const client = await signIn(email);
    const second = await startIssuer({ PUBLIC_URL: service.url });
    const other = second.client();
    other.cookies = client.cookies;
    expect((await requestToken(other, email)).status).toBe(200);
    await second.stop();
  });

  test('is listed in the audit log of the account', async () => {
    const { client, email } = await signInDeveloper(stage, service);
    await requestToken(client, email);
    const [newest] = (await client.get('/api/audit-logs')).json;
    expect(newest).toMatchObject({ action: 'email_verification_issued', domain: null });
  });
});

describe('no token is issued', () => {
  const refusals: [string, (email: string) => { asked?: string; changes?: RequestChanges; fields?: object }, number, string][] = [
    ['for the address of somebody else', () => ({ asked: freshAddress('bob') }), 401, 'authentication_required'],
    ['for an address of another domain', () => ({ asked: 'ann@other.example' }), 401, 'authentication_required'],
    ['for a subdomain of a domain', (email) => ({ asked: email.replace('@', '@sub.') }), 401, 'authentication_required'],
    ['for a text that is not an address', () => ({ asked: 'ann' }), 400, 'invalid_request'],
    ['for an address with blanks', (email) => ({ asked: ` ${email}` }), 400, 'invalid_request'],
    ['for a private address', () => ({ fields: { private_email: true } }), 400, 'private_email_not_supported'],
    ['to a page', () => ({ changes: { headers: { 'sec-fetch-dest': 'empty' } } }), 400, 'invalid_request'],
    ['to a page that names itself', () => ({ changes: { headers: { origin: 'https://shop.example' } } }), 400, 'invalid_request'],
    ['to a program', () => ({ changes: { headers: { 'sec-fetch-dest': undefined } } }), 400, 'invalid_request'],
    ['without a signature', () => ({ changes: { headers: { signature: undefined } } }), 400, 'invalid_signature'],
    ['for another body than the signed one', () => ({ changes: { digestOf: '{}' } }), 400, 'invalid_signature'],
    ['for a request to another issuer', () => ({ changes: { url: `https://other.example${ISSUANCE}` } }), 400, 'invalid_signature'],
    ['for an old request', () => ({ changes: { created: Math.floor(Date.now() / 1000) - 120 } }), 400, 'invalid_signature'],
    ['for a form', () => ({ changes: { headers: { 'content-type': 'text/plain' } } }), 415, 'invalid_request'],
  ];
  test.each(refusals)('%s', async (_title, request, status, error) => {
    const email = freshAddress();
    const client = await signIn(email);
    const { asked = email, changes, fields } = request(email);
    const response = await requestToken(client, asked, changes, fields);
    expect([response.status, response.json.error]).toEqual([status, error]);
    expect(response.json.error_description).toMatch(/\.$/);
    expect(response.text).not.toContain('issuance_token');
    expect([await issuances(email), await issuances(asked)]).toEqual([0, 0]);
  });

  test('without the cookie, with a forged one, or with that of a key', async () => {
    const email = freshAddress();
    const client = await signIn(email);
    const [body, mac] = (client.cookies.get(COOKIE) as string).split('.');
    const selector = decodeURIComponent(client.cookies.get('auth_key') as string).split('.')[0];
    const forged = Buffer.from(JSON.stringify({ text: `${selector} ${email}`, until: Date.now() + 60_000 })).toString('base64url');
    for (const value of ['', `${forged}.${mac}`, `${body}.${mac}x`, `${forged}.`, selector]) {
      client.cookies.set(COOKIE, value);
      expect((await requestToken(client, email)).status).toBe(401);
      expect((await accountsOf(client)).status).toBe(401);
    }
    expect(await issuances(email)).toBe(0);
  });

  test('after a sign-out, which also deletes the cookie', async () => {
    const { client, email } = await signInDeveloper(stage, service);
    const value = client.cookies.get(COOKIE) as string;
    expect((await requestToken(client, email)).status).toBe(200);
    const signedOut = await client.post('/api/auth/logout');
    expect(settingOf(signedOut)).toMatch(/^__Secure-email_verification=; Max-Age=0; Path=\/email-verification;/);
    expect(signedOut.headers['set-login']).toBe('logged-out');
    expect(client.cookies.has(COOKIE)).toBe(false);
    client.cookies.set(COOKIE, value);
    expect((await requestToken(client, email)).status).toBe(401);
    expect((await accountsOf(client)).status).toBe(401);
  });

  test('after a sign-out everywhere on another device', async () => {
    const email = freshAddress();
    const client = await signIn(email);
    const { client: other } = await signInDeveloper(stage, service, email);
    expect((await requestToken(client, email)).status).toBe(200);
    expect((await other.post('/api/user/sign-out-everywhere')).status).toBe(200);
    expect((await requestToken(client, email)).status).toBe(401);
    expect((await requestToken(other, email)).status).toBe(401);
  });

  test('after the account was removed from the list of the sign-in page', async () => {
    const email = freshAddress();
    const client = await signIn(email);
    const key = decodeURIComponent(client.cookies.get('auth_key') ?? '');
    expect((await client.form(`/auth/forget?forward_url=https://${shop}/`, { email }, { Origin: service.url })).status).toBe(303);
    expect((await requestToken(client, email)).status).toBe(401);
    const again = await client.post('/api/auth/validate-key', { email, key, forward_url: `https://${shop}/` });
    expect([again.status, again.json.code]).toEqual([401, 'bad_key']);
  });

  test('above the limits of an address and of a network', async () => {
    const strict = await startIssuer({ ...production, TRUST_PROXY: '1' });
    const send = async (client: Client, email: string) => {
      const body = JSON.stringify({ email });
      // A network in which the other tests of this file have no refused requests.
      const headers = await signTokenRequest(strict.url + ISSUANCE, body, browserKey, { headers: { 'x-forwarded-for': '192.0.2.7' } });
      return client.send(ISSUANCE, { method: 'POST', headers, body });
    };
    const email = freshAddress();
    const client = strict.client();
    client.cookies = (await signIn(email)).cookies;
    for (let count = 0; count < 60; count++) expect((await send(client, email)).status).toBe(200);
    const limited = await send(client, email);
    expect([limited.status, limited.json.error]).toEqual([429, 'slow_down']);
    expect(Number(limited.headers['retry-after'])).toBeGreaterThan(0);
    const stranger = strict.client();
    for (let count = 0; count < 60; count++) expect((await send(stranger, email)).status).toBe(401);
    expect((await send(stranger, email)).status).toBe(429);
    await strict.stop();
  });
});

test('counts what was issued, and what was refused by its reason', async () => {
  const read = () => readMetrics(service, { Authorization: `Bearer ${METRICS_TOKEN}` });
  const name = 'emailauth_email_verification_issuances_total';
  const email = freshAddress();
  const client = await signIn(email);
  const before = await read();
  await requestToken(client, email);
  await requestToken(client, freshAddress('bob'));
  await requestToken(client, email, { headers: { signature: undefined } });
  const after = await read();
  for (const result of ['issued', 'other_address', 'unsigned']) expect(after.sum(name, { result }) - before.sum(name, { result })).toBe(1);
  expect(after.text).not.toContain(email);
});
