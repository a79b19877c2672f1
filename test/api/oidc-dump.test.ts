// A stage of its own: it reads every table.
import { afterAll, beforeAll, expect, test } from 'vitest';
import { pairwiseSubject } from '../../server/oidc/grants.ts';
import type { Client, HttpResponse } from '../support/client.ts';
import { openStage, type Service, type Stage } from '../support/harness.ts';
import {
  addApplication,
  authorizationRequest,
  authorizeAt,
  decide,
  type Grant,
  type OidcClient,
  postForm,
  requestInteractionEmail,
  signInAt,
  userinfo,
  visit,
  websiteClient,
} from '../support/oidc-driver.ts';
import { addWebsite, type Developer, freshAddress, signInDeveloper } from '../support/sign-ins.ts';

// An attacker has a copy of the database of a busy service: everything that is open at the moment is in it.
let stage: Stage;
let service: Service;
let developer: Developer;
let app: OidcClient;
let shop: OidcClient;
let grants: Grant[];
let values: string[];
beforeAll(async () => {
  stage = await openStage();
  const inEveryDatabase = new Set(distinctValues(await dump()));
  service = await stage.start();
  developer = await signInDeveloper(stage, service);
  app = await addApplication(developer, { authentication: 'secret', scopes: ['openid', 'email', 'offline_access', 'websites:read'] });
  shop = websiteClient(await addWebsite(stage, service));
  await keepBusy();
  values = distinctValues(await dump()).filter((value) => !inEveryDatabase.has(value));
});
afterAll(() => stage.close());

/** Leaves one of everything open: interactions, consent, codes, tokens, sessions, device codes, pushed requests, API keys. */
async function keepBusy() {
  const lasting = { scope: 'openid email offline_access', prompt: 'consent' };
  grants = [
    await signInAt(stage, service, app, { changes: lasting }),
    await signInAt(stage, service, app, {
      email: developer.email,
      changes: { ...lasting, scope: 'openid offline_access websites:read', resource: `${service.url}/api` },
    }),
    await signInAt(stage, service, shop),
  ];
  await authorizeAt(stage, service, app);
  await authorizeAt(stage, service, shop);
  const waiting = service.client();
  const begun = await visit(waiting, (await authorizationRequest(app)).url);
  expect((await requestInteractionEmail(waiting, begun.interaction, freshAddress())).status).toBe(200);
  const consenting = service.client();
  const asked = await visit(consenting, (await authorizationRequest(app)).url);
  const email = freshAddress();
  await requestInteractionEmail(consenting, asked.interaction, email);
  await consenting.get((await stage.mailbox.waitFor(email)).link.slice(service.url.length));
  expect((await postForm(service.client(), '/oauth/device/authorize', app, { scope: 'openid email' })).status).toBe(200);
  const pushed = await authorizationRequest(app);
  await postForm(service.client(), '/oauth/par', app, Object.fromEntries(new URLSearchParams(pushed.url.split('?')[1])));
  await developer.client.post('/api/api-keys', { name: 'a key', environment: 'live' });
}

/** Returns the rows of all tables as JSON. */
async function dump(): Promise<unknown[]> {
  const tables = await stage.query(
    `select quote_ident(table_schema) || '.' || quote_ident(table_name) as name from information_schema.tables
     where table_schema not in ('pg_catalog', 'information_schema') and table_type = 'BASE TABLE'`,
  );
  const rows: unknown[] = [];
  for (const { name } of tables) for (const { row } of await stage.query(`select to_jsonb(t) as row from ${name} t`)) rows.push(row);
  return rows;
}

/** Returns every text in a dump that could be a secret; of binary values also the encodings in which a secret is sent. */
function distinctValues(rows: unknown[]): string[] {
  const found = new Set<string>();
  const add = (text: string) => {
    if (text.length >= 16 && text.length <= 2000 && /^[\x21-\x7e]+$/.test(text)) found.add(text);
    for (const [part] of text.matchAll(/[\w.~-]{16,}/g)) found.add(part);
  };
  const walk = (value: unknown): void => {
    if (typeof value === 'string') {
      if (/^\\x[0-9a-f]+$/.test(value)) {
        const bytes = Buffer.from(value.slice(2), 'hex');
        for (const text of [value.slice(2), bytes.toString('base64url'), bytes.toString('latin1')]) add(text);
        // A time is no secret.
      } else if (!/^\d{4}-\d\d-\d\dT[\d:.+]+$/.test(value)) add(value);
    } else if (value && typeof value === 'object') for (const each of Object.values(value)) walk(each);
  };
  rows.forEach(walk);
  return [...found];
}

/** Uses a value as a credential in every place that takes one. @returns the places that accepted it */
async function acceptedAs(value: string, via: Client): Promise<string[]> {
  const { verified, ...calls } = {
    code: () =>
      postForm(via, '/oauth/token', app, {
        grant_type: 'authorization_code',
        code: value,
        redirect_uri: app.redirectUri,
        code_verifier: grants[0].request.pkce.codeVerifier,
      }),
    'refresh token': () => postForm(via, '/oauth/token', app, { grant_type: 'refresh_token', refresh_token: value }),
    'refresh token of a website': () => postForm(via, '/oauth/token', shop, { grant_type: 'refresh_token', refresh_token: value }),
    'device code': () =>
      postForm(via, '/oauth/token', app, { grant_type: 'urn:ietf:params:oauth:grant-type:device_code', device_code: value }),
    'client secret': () => postForm(via, '/oauth/par', { ...app, secret: value }, { client_id: app.clientId }),
    'access token': () => userinfo(via, value),
    'bearer of the API': () => via.get('/api/user/me', { Authorization: `Bearer ${value}` }),
    'API key': () => via.get('/api/websites', { Authorization: `Bearer ea_live_${value}` }),
    'session of the portal': () => via.get('/api/user/me', { Cookie: `sid=${encodeURIComponent(value)}` }),
    verified: () => via.get(`/api/verify-token?token=${encodeURIComponent(value)}`),
  };
  const accepted: string[] = [];
  const use = async ([place, call]: [string, () => Promise<HttpResponse>]) => {
    const { status, text, json } = await call();
    const isRefused = status >= 400 && status < 500 && status !== 429 && !(place === 'client secret' && json.error !== 'invalid_client');
    if (!isRefused) accepted.push(`${place}: ${status} ${text.slice(0, 100)}`);
  };
  await Promise.all(Object.entries(calls).map(use));
  const { json } = await verified();
  if (json.valid === true) accepted.push('token of a website');
  return accepted;
}

test('no value of a copy of the database is accepted as a code, token, secret, key or session', { timeout: 600_000 }, async () => {
  expect(values.length).toBeGreaterThan(100);
  const via = service.client();
  for (const value of values) expect([value.slice(0, 60), await acceptedAs(value, via)]).toEqual([value.slice(0, 60), []]);
});

test("no value of a copy continues anybody's sign-in, consent or session at the provider", { timeout: 600_000 }, async () => {
  const { url } = await authorizationRequest(app, { prompt: 'none' });
  // Those of the provider are in base64url, so that the hexadecimal form of a binary value is none.
  const tried = values.filter((text) => /^[\w.~-]{1,100}$/.test(text) && !/^[0-9a-f]{40,}$/.test(text));
  const use = async (value: string) => {
    for (const path of [`/oauth/interaction/${value}?token=${value}`, `/oauth/authorize/${value}`, url]) {
      const { callback, authorization } = await visit(thief(value), path);
      expect([value, callback?.searchParams.get('code') ?? null, authorization?.step === 'consent']).toEqual([value, null, false]);
    }
    expect([value, (await decide(thief(value), value)).json.redirectUrl]).toEqual([value, undefined]);
    const pushed = await visit(
      service.client(),
      `/oauth/authorize?client_id=${app.clientId}&request_uri=urn:ietf:params:oauth:request_uri:${value}`,
    );
    expect([value, pushed.interaction]).toEqual([value, '']);
  };
  for (let at = 0; at < tried.length; at += 10) await Promise.all(tried.slice(at, at + 10).map(use));
});

/** Returns a browser that has a value in every cookie. */
function thief(value: string): Client {
  const browser = service.client();
  for (const name of ['oidc_session', 'oidc_interaction', 'oidc_resume', 'device', 'attempt', 'sid']) browser.cookies.set(name, value);
  return browser;
}

test('the copy has no signing key, salt or issued secret in the clear', async () => {
  const text = JSON.stringify(await dump());
  expect(text).not.toMatch(/PRIVATE KEY|"d":\s*"|"(?:p|q|dp|dq|qi)":\s*"[\w-]{40}/);
  for (const { tokens, callback } of grants)
    for (const secret of [tokens.access_token, tokens.id_token, tokens.refresh_token, callback.searchParams.get('code')])
      if (secret) expect(text).not.toContain(secret);
  expect(text).not.toContain(app.secret);

  // Subjects cannot be computed for other addresses: no value is the salt.
  const [{ tokens, email }] = grants;
  const { sub } = JSON.parse(Buffer.from(tokens.id_token.split('.')[1], 'base64url').toString());
  const sector = app.clientId;
  for (const value of values)
    for (const candidate of [Buffer.from(value), Buffer.from(value, 'base64url'), Buffer.from(value, 'hex')])
      expect([value, pairwiseSubject(candidate, sector, email) === sub]).toEqual([value, false]);
  const signingKeys = await stage.query('select kid, encrypted from oidc_keys');
  expect(signingKeys.length).toBeGreaterThanOrEqual(2);
});
