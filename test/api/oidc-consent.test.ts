import { beforeAll, describe, expect, test } from 'vitest';
import type { Client } from '../support/client.ts';
import { useService } from '../support/harness.ts';
import {
  addApplication,
  authorizationRequest,
  type Changes,
  completeSignIn,
  decide,
  type OidcClient,
  postForm,
  requestInteractionEmail,
  type Step,
  signInAt,
  userinfo,
  visit,
  visitUrl,
  websiteClient,
} from '../support/oidc-driver.ts';
import { addWebsite, type Developer, freshAddress, signInDeveloper, visitorToken } from '../support/sign-ins.ts';

const { stage, service } = await useService();
let developer: Developer;
/** A website that people have signed in to before. */
let elsewhere: OidcClient;
beforeAll(async () => {
  developer = await signInDeveloper(stage, service);
  elsewhere = websiteClient(await addWebsite(stage, service));
});

async function addSite({ proven }: { proven: boolean }): Promise<OidcClient> {
  const domain = await addWebsite(stage, service);
  if (proven) await stage.query('update websites set proven_at = now() where domain = $1', [domain]);
  return websiteClient(domain);
}

async function register(...redirectUris: string[]): Promise<OidcClient> {
  const metadata = {
    redirect_uris: redirectUris,
    client_name: 'Assistant',
    token_endpoint_auth_method: 'none',
    grant_types: ['authorization_code', 'refresh_token', 'urn:ietf:params:oauth:grant-type:device_code'],
  };
  const { json } = await service.client().post('/oauth/register', metadata);
  return { clientId: json.client_id, redirectUri: redirectUris[0] };
}

/** A person with a session of the provider, who signed in at another website. */
async function person(): Promise<{ browser: Client; email: string }> {
  const browser = service.client();
  const { email } = await signInAt(stage, service, elsewhere, { browser });
  return { browser, email };
}

const open = async (browser: Client, client: OidcClient, changes: Changes = {}) =>
  visit(browser, (await authorizationRequest(client, changes)).url);

/** Returns the parameters of the response to a request without a page, without its state; a code as `code`. */
async function silent(browser: Client, client: OidcClient, changes: Changes = {}): Promise<Record<string, string>> {
  const { callback, authorization } = await open(browser, client, { prompt: 'none', ...changes });
  if (!callback) throw new Error(`There was no response: ${JSON.stringify(authorization)}`);
  const { state, ...answer } = Object.fromEntries(callback.searchParams);
  return answer.code ? { ...answer, code: 'code' } : answer;
}

const outcome = async (...request: Parameters<typeof silent>) => {
  const { error, code } = await silent(...request);
  return error ?? code;
};

/** Continues on a consent page. */
async function allow(browser: Client, { interaction, authorization }: Step): Promise<Step> {
  expect(authorization?.step).toBe('consent');
  return visitUrl(browser, (await decide(browser, interaction)).json.redirectUrl);
}

const hasCode = ({ callback }: Step) => callback?.searchParams.has('code') ?? false;

describe('a client at which the person never acted', () => {
  const kinds: [string, () => Promise<OidcClient>][] = [
    ['an unverified website', () => addSite({ proven: false })],
    ['a verified website', () => addSite({ proven: true })],
    ['an application', () => addApplication(developer)],
    ['a client that registered itself', () => register('https://assistant.example/callback')],
  ];

  test.each(kinds)('%s cannot ask who uses this service', async (_, add) => {
    const client = await add();
    const { browser } = await person();
    for (const changes of [
      {},
      { scope: 'openid' },
      { scope: 'openid email profile offline_access' },
      { scope: undefined, nonce: undefined },
      { max_age: '0' },
      { max_age: '1' },
      { max_age: '86400' },
      { login_hint: 'ann@mail.example' },
      { acr_values: 'phr' },
    ]) {
      const signedIn = await silent(browser, client, changes);
      expect([changes, signedIn]).toEqual([changes, await silent(service.client(), client, changes)]);
      expect(signedIn.error).toBe('login_required');
    }
  });

  test.each(kinds)('%s shows a page first, and gets a code after a click', async (_, add) => {
    const client = await add();
    const { browser, email } = await person();
    expect((await open(browser, client, { scope: undefined, nonce: undefined })).authorization?.step).toBe('consent');
    const page = await open(browser, client);
    expect(page.boot.target).toMatchObject({ kind: 'application', host: new URL(client.redirectUri).host });
    expect(page.authorization).toEqual({
      step: 'consent',
      email,
      scopes: ['openid', 'email'],
    });
    expect(await outcome(browser, client)).toBe('login_required');
    expect(hasCode(await allow(browser, page))).toBe(true);
  });

  test('learns nothing from a sign-in to the website by forward_url, nor from one that was refused', async () => {
    const client = await addSite({ proven: true });
    const { browser, email } = await person();
    await visitorToken(stage, browser, new URL(client.clientId).hostname, email);
    expect(await outcome(browser, client)).toBe('login_required');
    const fresh = service.client();
    const begun = await open(fresh, client, { scope: 'openid email profile' });
    await requestInteractionEmail(fresh, begun.interaction, email);
    const page = await visitUrl(fresh, (await stage.mailbox.waitFor(email)).link);
    await visitUrl(fresh, (await decide(fresh, page.interaction, 'deny')).json.redirectUrl);
    expect(await outcome(fresh, client)).toBe('login_required');
  });
});

describe('a client at which the person has acted', () => {
  test('gets a code without a page if its domain is verified, and has to ask for more', async () => {
    const client = await addSite({ proven: true });
    const browser = service.client();
    const { email } = await signInAt(stage, service, client, { browser });
    expect(await outcome(browser, client)).toBe('code');
    expect(hasCode(await open(browser, client))).toBe(true);
    expect(await outcome(browser, client, { scope: 'openid email profile' })).toBe('consent_required');
    const next = service.client();
    await signInAt(stage, service, elsewhere, { browser: next, email });
    expect(await outcome(next, client)).toBe('code');
    const app = await addApplication(developer);
    await signInAt(stage, service, app, { browser });
    expect(await outcome(browser, app)).toBe('code');
    expect(await outcome(browser, app, { scope: 'openid profile' })).toBe('consent_required');
  });

  test('gets none if its domain is not verified, or not any more', async () => {
    const client = await addSite({ proven: false });
    const { browser } = await person();
    for (let visits = 0; visits < 2; visits++) {
      expect(hasCode(await allow(browser, await open(browser, client)))).toBe(true);
      expect(await silent(browser, client)).toEqual(await silent(service.client(), client));
    }
    await stage.query('update websites set proven_at = now() where domain = $1', [new URL(client.clientId).hostname]);
    expect(await outcome(browser, client)).toBe('code');
    await stage.query('update websites set proven_at = null where domain = $1', [new URL(client.clientId).hostname]);
    expect(await outcome(browser, client)).toBe('login_required');
    expect((await open(browser, client)).authorization?.step).toBe('consent');
  });

  test('is unknown again when its domain belongs to a new registration, also within the same second', async () => {
    const client = await addSite({ proven: true });
    const browser = service.client();
    await signInAt(stage, service, client, { browser });
    const change =
      "update websites set created_at = created_at + interval '1 microsecond', domain_since = created_at + interval '1 microsecond', email = 'new@owner.example' where domain = $1";
    await stage.query(change, [new URL(client.clientId).hostname]);
    expect(await silent(browser, client)).toEqual(await silent(service.client(), client));
    expect((await open(browser, client)).authorization?.step).toBe('consent');
  });

  test('is unknown again when it was switched off meanwhile', async () => {
    const app = await addApplication(developer);
    const browser = service.client();
    await signInAt(stage, service, app, { browser });
    const update = (isActive: boolean) =>
      developer.client.put(`/api/clients/${app.id}`, { name: 'Notes', redirectUris: [app.redirectUri], isActive });
    for (const isActive of [false, true]) expect((await update(isActive)).status).toBe(200);
    expect(await silent(browser, app)).toEqual(await silent(service.client(), app));
  });

  test('is unknown again when it was disconnected, or the person was signed out everywhere', async () => {
    const client = await addSite({ proven: true });
    const { client: browser, email } = await signInDeveloper(stage, service);
    await signInAt(stage, service, client, { browser, email });
    const [{ id }] = (await browser.get('/api/user/connections')).json;
    await browser.delete(`/api/user/connections/${id}`);
    expect(await outcome(browser, client)).toBe('login_required');
    expect((await open(browser, client)).authorization?.step).toBe('consent');
    await allow(browser, await open(browser, client));
    expect(await outcome(browser, client)).toBe('code');
    await browser.post('/api/user/sign-out-everywhere');
    const next = service.client();
    await signInAt(stage, service, elsewhere, { browser: next, email });
    expect(await outcome(next, client)).toBe('login_required');
  });

  test('on this machine counts as verified in local mode', async () => {
    const client = { clientId: 'http://localhost:5173', redirectUri: 'http://localhost:5173/callback' };
    const { browser } = await person();
    expect(await outcome(browser, client)).toBe('login_required');
    expect(hasCode(await allow(browser, await open(browser, client)))).toBe(true);
    expect(await outcome(browser, client)).toBe('code');
  });
});

describe('a client with several redirect URIs', () => {
  const HOSTS = ['https://claude.example/callback', 'https://evil.example/cb', 'https://claude.example:8443/callback'];
  test.each<[string, () => Promise<OidcClient>]>([
    ['that registered itself', () => register(...HOSTS)],
    ['that is an application', () => addApplication(developer, { redirectUris: HOSTS })],
    ['that is confidential', () => addApplication(developer, { redirectUris: HOSTS, authentication: 'secret' })],
  ])('%s needs a consent for each host, and keeps what it has', async (_, add) => {
    const client = await add();
    const browser = service.client();
    const scope = 'openid email profile';
    const { tokens } = await signInAt(stage, service, client, { browser, changes: { scope } });
    for (const redirectUri of HOSTS.slice(1)) {
      const other = { ...client, redirectUri };
      expect(await silent(browser, other, { scope: 'openid' })).toEqual(await silent(service.client(), other, { scope: 'openid' }));
      const page = await open(browser, other, { scope: 'openid email' });
      expect(page.boot.target).toMatchObject({ host: new URL(redirectUri).host });
      expect(page.authorization).toMatchObject({ step: 'consent', scopes: ['openid', 'email'] });
      await allow(browser, page);
      expect(await outcome(browser, other)).toBe('code');
      expect(await outcome(browser, other, { scope })).toBe('consent_required');
      expect(await outcome(browser, client, { scope })).toBe('code');
      expect((await userinfo(service.client(), tokens.access_token)).status).toBe(200);
    }
  });

  test('gets scopes of a resource only at the host where they were allowed', async () => {
    const client = await register(...HOSTS);
    const browser = service.client();
    const changes = { scope: 'openid websites:write', resource: `${service.url}/mcp` };
    const { tokens } = await signInAt(stage, service, client, { browser, changes });
    expect(tokens.scope).toContain('websites:write');
    expect(await outcome(browser, { ...client, redirectUri: HOSTS[1] }, changes)).toBe('login_required');
    expect(await outcome(browser, client, changes)).toBe('code');
  });

  test('on loopback hosts needs one consent, for any port', async () => {
    const redirectUris = ['http://localhost/callback', 'http://127.0.0.1:4000/callback', 'http://[::1]/callback'];
    const client = await addApplication(developer, { redirectUris, authentication: 'secret' });
    const { browser } = await person();
    const at = (redirectUri: string) => ({ ...client, redirectUri });
    expect(await outcome(browser, at(redirectUris[1]))).toBe('login_required');
    await allow(browser, await open(browser, client));
    for (const redirectUri of [...redirectUris, 'http://localhost:49152/callback', 'http://[::1]:49152/callback'])
      expect(await outcome(browser, at(redirectUri))).toBe('code');
  });

  test('is listed once with all hosts, and disconnected from all', async () => {
    const { client: browser, email } = await signInDeveloper(stage, service);
    const client = await register(HOSTS[0], 'http://127.0.0.1/callback', 'cursor://anysphere.cursor-mcp/oauth/callback');
    await signInAt(stage, service, client, { browser, email });
    for (const redirectUri of ['http://127.0.0.1:5000/callback', 'cursor://anysphere.cursor-mcp/oauth/callback'])
      await allow(browser, await open(browser, { ...client, redirectUri }, { scope: 'openid profile' }));
    const listed = (await browser.get('/api/user/connections')).json;
    expect(listed).toEqual([
      expect.objectContaining({
        clientId: client.clientId,
        name: 'Assistant',
        hosts: ['claude.example', 'cursor:', 'localhost'],
        scopes: ['openid', 'email', 'profile'],
      }),
    ]);
    await browser.delete(`/api/user/connections/${listed[0].id}`);
    expect((await browser.get('/api/user/connections')).json).toEqual([]);
    expect(await stage.query("select kind from oidc_records where email = $1 and kind = 'Grant'", [email])).toEqual([]);
    expect(await outcome(browser, client)).toBe('login_required');
  });
});

describe('a program', () => {
  const page = async (redirectUri: string) => open(service.client(), await register(redirectUri));

  test('with a scheme of its own is shown by the scheme, never by what stands in the place of a host', async () => {
    for (const [redirectUri, scheme] of [
      ['cursor://accounts.google.com/cb', 'cursor'],
      ['com.example.app://www.paypal.com/cb', 'com.example.app'],
      ['com.example.app:/cb', 'com.example.app'],
    ]) {
      const { boot, response } = await page(redirectUri);
      expect(boot.target).toEqual(
        expect.objectContaining({ kind: 'application', name: 'Assistant', host: `${scheme}:`, displayHost: `${scheme}:`, program: 'here' }),
      );
      expect(response.text).toContain('A program on this device');
      expect(response.text).not.toMatch(/google|paypal/);
      const browser = service.client();
      const begun = await open(browser, await register(redirectUri));
      const email = freshAddress();
      await requestInteractionEmail(browser, begun.interaction, email);
      const mail = await stage.mailbox.waitFor(email);
      expect(mail.text).toContain(scheme);
      expect(mail.text).not.toMatch(/google|paypal/);
    }
  });

  test('whose scheme was registered before it was refused gets no code', async () => {
    const app = await addApplication(developer, { redirectUris: ['com.example.app:/cb'] });
    await stage.query(
      "update applications set redirect_uris = '{evil://accounts.google.com/cb,https://app.example/cb}' where client_id = $1",
      [app.clientId],
    );
    const refused = await open(service.client(), { ...app, redirectUri: 'evil://accounts.google.com/cb' });
    expect(refused.authorization).toMatchObject({ step: 'error', error: 'invalid_redirect_uri' });
    expect(refused.boot.target).toMatchObject({ host: '', displayHost: '' });
    expect((await open(service.client(), { ...app, redirectUri: 'https://app.example/cb' })).authorization?.step).toBe('sign_in');
  });
});

describe('a device', () => {
  test.each<[string, () => Promise<OidcClient>, string]>([
    ['an application', () => addApplication(developer, { authentication: 'secret' }), ''],
    ['a client that registered itself', () => register('https://claude.example/callback'), ''],
    ['a verified website', () => addSite({ proven: true }), 'website'],
  ])('of %s is asked about each time, without a host of its redirect URIs', async (_, add, kind) => {
    const client = await add();
    const browser = service.client();
    await signInAt(stage, service, client, { browser });
    expect(await outcome(browser, client)).toBe('code');
    const host = kind === 'website' ? new URL(client.clientId).host : '';
    for (let devices = 0; devices < 2; devices++) {
      const started = await postForm(service.client(), '/oauth/device/authorize', client, { scope: 'openid email' });
      const entry = await visit(browser, '/oauth/device');
      const confirm = async (form: { action: string; fields: Record<string, string> }) =>
        postForm(browser, form.action, null, { ...form.fields, user_code: started.json.user_code });
      const { form } = entry.authorization as { form: Parameters<typeof confirm>[0] } & Step['authorization'];
      const confirmation = await confirm(form);
      const boot = JSON.parse(/id="boot">(.*?)<\/script>/s.exec(confirmation.text)?.[1] ?? '{}');
      expect(boot.target).toMatchObject({ host, displayHost: host });
      const confirmed = await confirm(boot.authorization.form);
      const asked = await visitUrl(browser, String(confirmed.headers.location));
      expect(asked.authorization).toMatchObject({ step: 'consent', scopes: ['openid', 'email'] });
      expect(asked.boot.target).toMatchObject({ host });
      expect(asked.boot.target).toMatchObject(kind === 'website' ? {} : { program: 'elsewhere' });
      expect((await allow(browser, asked)).authorization?.step).toBe('device_done');
    }
  });
});

test('a sign-in at an unverified website is an act for this request', async () => {
  const client = await addSite({ proven: false });
  const browser = service.client();
  const begun = await open(browser, client);
  expect((await completeSignIn(stage, browser, begun, freshAddress())).searchParams.has('code')).toBe(true);
});
