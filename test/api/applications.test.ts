import { beforeAll, describe, expect, test } from 'vitest';
import { type CallSpec, calls } from '../../contract/calls.ts';
import { createPkce } from '../../contract/pkce.ts';
import type { Client, HttpResponse } from '../support/client.ts';
import { useService } from '../support/harness.ts';
import type { ReceivedMail } from '../support/mailbox.ts';
import {
  authorize,
  type Begun,
  confirmLink,
  type Developer,
  freshAddress,
  freshDomain,
  registerWebsite,
  signInDeveloper,
} from '../support/sign-ins.ts';

const { stage, service } = await useService();
let ann: Developer;
let bob: Developer;
beforeAll(async () => {
  ann = await signInDeveloper(stage, service);
  bob = await signInDeveloper(stage, service);
});

const REDIRECT = 'https://app.example/callback?from=mail';
type Application = { id: string; clientId: string; name: string; redirectUris: string[]; isActive: boolean };

async function addApplication(redirectUris = [REDIRECT], owner = ann): Promise<Application> {
  const response = await owner.client.post('/api/clients', { name: 'Notes', redirectUris });
  if (response.status !== 200) throw new Error(`Adding an application returned ${response.status}: ${response.text}`);
  return response.json;
}

const begin = (application: Application, email = freshAddress('user'), changes: Record<string, unknown> = {}) =>
  authorize(service.client(), email, { client_id: application.clientId, redirect_uri: REDIRECT, ...changes });

/** Returns the boot data of the page of an emailed link. */
async function linkPage(link: string) {
  const page = await service.client().get(link);
  return JSON.parse(/<script type="application\/json" id="boot">(.*?)<\/script>/s.exec(page.text)?.[1] ?? '{}');
}

/** Returns where the emailed link redirects after its address is entered. */
const redirectOf = async (mail: ReceivedMail, email: string): Promise<string> =>
  (await confirmLink(service.client(), mail, email)).json.redirectUrl;

async function codeAtRedirect({ email }: Begun, mail?: ReceivedMail): Promise<string> {
  const redirectUrl = await redirectOf(mail ?? (await stage.mailbox.waitFor(email)), email);
  return new URL(redirectUrl).searchParams.get('code') ?? '';
}

const exchange = (application: Application, code: string, verifier: string, client: Client = service.client()): Promise<HttpResponse> =>
  client.post('/api/auth/token', { code, code_verifier: verifier, client_id: application.clientId, redirect_uri: REDIRECT });

async function tokenFor(application: Application, email = freshAddress('user')): Promise<string> {
  const begun = await begin(application, email);
  const response = await exchange(application, await codeAtRedirect(begun), begun.pkce.codeVerifier);
  if (response.status !== 200) throw new Error(`The exchange returned ${response.status}: ${response.text}`);
  return response.json.access_token;
}

const as = (token: string) => ({ Authorization: `Bearer ${token}` });
const me = (token: string) => service.client().get('/api/user/me', as(token));

async function switchTo(application: Application, isActive: boolean) {
  const { id, name, redirectUris } = application;
  expect((await ann.client.put(`/api/clients/${id}`, { name, redirectUris, isActive })).json.isActive).toBe(isActive);
}

describe('the list of applications', () => {
  test('adds, changes and deletes an application and records it in the developer’s audit log', async () => {
    const added = await addApplication();
    expect(added).toMatchObject({ name: 'Notes', redirectUris: [REDIRECT], isActive: true });
    expect(added.clientId).toMatch(/^app_[\w-]{22}$/);
    const uris = ['https://other.example/cb', 'http://localhost/cb', 'https://other.example/cb'];
    const changed = await ann.client.put(`/api/clients/${added.id}`, { name: ' Diary ', redirectUris: uris, isActive: false });
    expect(changed.json).toMatchObject({ id: added.id, clientId: added.clientId, name: 'Diary', redirectUris: uris.slice(0, 2) });
    expect((await ann.client.get('/api/clients')).json[0]).toEqual(changed.json);
    expect((await ann.client.delete(`/api/clients/${added.id}`)).json).toEqual({ success: true });
    expect((await ann.client.get('/api/clients')).json.map(({ id }: Application) => id)).not.toContain(added.id);
    const trail = await stage.query(
      "select action from audit_log where email = $1 and client_id is null and action like 'application%' order by id desc limit 3",
      [ann.email],
    );
    expect(trail.map(({ action }) => action)).toEqual(['application_deleted', 'application_changed', 'application_added']);
  });

  test('returns 404 for another account’s application, leaves it unchanged, and ignores extra fields', async () => {
    const application = await addApplication();
    const input = { name: 'Taken', redirectUris: ['https://evil.example/'], isActive: true };
    for (const response of [
      await bob.client.put(`/api/clients/${application.id}`, input),
      await bob.client.delete(`/api/clients/${application.id}`),
      await bob.client.get(`/api/clients/${application.id}/logs`),
    ])
      expect([response.status, response.json.code]).toEqual([404, 'application_not_found']);
    expect((await bob.client.get('/api/clients')).json).toEqual([]);
    expect((await ann.client.get('/api/clients')).json).toContainEqual(application);
    const own = await bob.client.post('/api/clients', { ...input, clientId: application.clientId, userId: 'x', isActive: false });
    expect(own.json.clientId).not.toBe(application.clientId);
    expect(own.json.isActive).toBe(true);
  });

  test.each([
    'http://app.example/cb',
    'https://app.example/cb#x',
    'https://user@app.example/cb',
    'https://APP.example/cb',
    'https://app.example:443/cb',
    'https:app.example/cb',
    'https://10.0.0.1/cb',
    'https://intranet/cb',
    'https://my_app.example/cb',
    'https://žalia.example/cb',
    'https://app.example/ cb',
    'https://app.example\\@evil.example/',
    'http://127.0.0.1.evil.example/cb',
    'http://localhost@evil.example/',
    'javascript:alert(1)',
    'app://callback',
    '/callback',
    `https://app.example/${'x'.repeat(1024)}`,
  ])('rejects the redirect URI %j', async (uri) => {
    const response = await ann.client.post('/api/clients', { name: 'Notes', redirectUris: [REDIRECT, uri] });
    expect([response.status, response.json.field]).toEqual([400, expect.stringMatching(/^redirectUris/)]);
  });

  test('requires a name and one to ten redirect URIs', async () => {
    for (const input of [{ name: ' ' }, { name: 'x'.repeat(81) }, { redirectUris: [] }, { redirectUris: Array(11).fill(REDIRECT) }])
      expect((await ann.client.post('/api/clients', { name: 'Notes', redirectUris: [REDIRECT], ...input })).status).toBe(400);
  });

  test('holds at most 50, also for concurrent requests', async () => {
    const eve = await signInDeveloper(stage, service);
    const responses = await Promise.all(
      Array.from({ length: 60 }, () => eve.client.post('/api/clients', { name: 'Notes', redirectUris: [REDIRECT] })),
    );
    expect((await eve.client.get('/api/clients')).json).toHaveLength(50);
    expect(responses.find(({ status }) => status !== 200)?.json.code).toBe('too_many');
  });
});

describe('a sign-in to an application', () => {
  test('shows the host in the email, redirects after the address is entered, and issues a token that only identifies', async () => {
    const application = await addApplication();
    const begun = await begin(application);
    expect(begun.response.status).toBe(200);
    const mail = await stage.mailbox.waitFor(begun.email);
    expect(mail.subject).toBe(`${mail.code} is your code for app.example`);
    expect(mail.text).not.toContain('Notes');
    expect(mail.link.startsWith(`${service.url}/auth/link?t=`)).toBe(true);

    const boot = await linkPage(mail.link);
    expect(boot.target).toMatchObject({ kind: 'site', host: 'app.example' });
    expect(boot.link.state).toBe('open');
    const redirectUrl = await redirectOf(mail, begun.email);
    const target = new URL(redirectUrl);
    expect(redirectUrl.startsWith(`${REDIRECT}&code=`)).toBe(true);
    expect([target.searchParams.get('state'), target.searchParams.get('iss')]).toEqual([begun.pkce.state, service.url]);
    expect((await linkPage(mail.link)).link.state).toBe('open');

    const response = await exchange(application, target.searchParams.get('code') ?? '', begun.pkce.codeVerifier);
    expect(response.json).toEqual({ email: begun.email, access_token: expect.any(String), token_type: 'Bearer', expires_in: 3600 });
    expect(response.setCookies).toEqual([]);
    expect((await me(response.json.access_token)).json).toEqual({ id: expect.any(String), email: begun.email, name: null });
    expect((await linkPage(mail.link)).link).toEqual({ state: 'used', again: 'https://app.example' });
    expect(await stage.query('select 1 from remembered_keys where email = $1', [begun.email])).toEqual([]);

    const logs = (await ann.client.get(`/api/clients/${application.id}/logs`)).json;
    expect(logs).toMatchObject([
      { action: 'code_exchanged', email: begun.email },
      { action: 'application_signed_in', email: begun.email },
      { action: 'sign_in_requested', email: begun.email },
    ]);
    const plain = await stage.query('select action from audit_log where email = $1 and client_id is null', [begun.email]);
    expect(plain).toEqual([]);
  });

  test('completes by the code of the email and the attempt that authorize returned', async () => {
    const application = await addApplication();
    const { email, pkce, attempt } = await begin(application);
    const { code } = await stage.mailbox.waitFor(email);
    const given = await service.client().post('/api/auth/email-code', { email, code, state: pkce.state, attempt });
    expect((await exchange(application, given.json.code, pkce.codeVerifier)).json.email).toBe(email);
  });

  test('issues a token that every call other than /api/user/me rejects, in a header and in a cookie', async () => {
    const token = await tokenFor(await addApplication());
    const inCookie = service.client();
    inCookie.cookies.set('sid', token);
    const closed = (Object.entries(calls) as [string, CallSpec][]).filter(
      ([, route]) => (route.access === 'account' || route.access === 'person') && !route.development,
    );
    expect(closed.length).toBeGreaterThan(15);
    const body = {
      id: '0193b5a0-0000-7000-8000-000000000001',
      domain: 'shop.example',
      name: 'x',
      organisation: 'x',
      fromName: '',
      logoUrl: '',
      service: 'bugs',
      redirectUris: [REDIRECT],
      isActive: true,
      environment: 'live',
    };
    const [withToken, asNobody]: [string, number][][] = [[], []];
    for (const [name, { method, path }] of closed) {
      const filled = path
        .replace('devices/{id}', `devices/${'a'.repeat(32)}`)
        .replace('{id}', body.id)
        .replace('{domain}', body.domain);
      const sending = { method, ...(method === 'POST' || method === 'PUT' ? { body: JSON.stringify(body) } : {}) };
      const headers = { 'Content-Type': 'application/json' };
      const byHeader = await service.client().send(filled, { ...sending, headers: { ...headers, ...as(token) } });
      const byCookie = await inCookie.send(filled, { ...sending, headers });
      withToken.push([name, byHeader.status], [name, byCookie.status]);
      const { status } = await service.client().send(filled, { ...sending, headers });
      asNobody.push([name, status], [name, status]);
    }
    expect(withToken).toEqual(asNobody);
    expect(asNobody.filter(([, status]) => status === 401).length).toBeGreaterThan(30);
    expect((await inCookie.get('/api/user/me')).status).toBe(401);
  });

  test('does not claim a website of its linked address', async () => {
    const owner = freshAddress('owner');
    const domain = await registerWebsite(service.client(), freshDomain(), owner);
    await stage.mailbox.waitFor(owner);
    await tokenFor(await addApplication(), owner);
    expect(await stage.query('select claimed_at from websites where domain = $1', [domain])).toEqual([{ claimed_at: null }]);
  });

  test('issues a token that ends after an hour or at its logout, and does not end other sessions', async () => {
    const application = await addApplication();
    const token = await tokenFor(application, ann.email);
    const rows = await stage.query(
      'select extract(epoch from expires_at - created_at)::int as seconds, device from sessions where client_id = $1',
      [application.clientId],
    );
    expect(rows).toEqual([{ seconds: 3600, device: null }]);
    const gone = await service.client().post('/api/auth/logout', {}, as(token));
    expect([gone.json, gone.setCookies]).toEqual([{ success: true }, []]);
    expect((await me(token)).status).toBe(401);
    expect((await ann.client.get('/api/user/me')).status).toBe(200);
    expect((await ann.client.get(`/api/clients/${application.id}/logs`)).json[0].action).toBe('application_signed_out');

    const second = await tokenFor(application);
    await stage.query("update sessions set expires_at = now() - interval '1 second' where client_id = $1", [application.clientId]);
    expect((await me(second)).status).toBe(401);
  });

  test('revokes the token on a replay of the code with the right verifier, but not with a wrong verifier', async () => {
    const application = await addApplication();
    const begun = await begin(application);
    const code = await codeAtRedirect(begun);
    const { access_token: token } = (await exchange(application, code, begun.pkce.codeVerifier)).json;
    expect((await exchange(application, code, 'x'.repeat(64))).status).toBe(400);
    expect((await me(token)).status).toBe(200);
    expect((await exchange(application, code, begun.pkce.codeVerifier)).status).toBe(400);
    expect((await me(token)).status).toBe(401);
  });

  test('exchanges a code once for ten concurrent requests', async () => {
    const application = await addApplication();
    const begun = await begin(application);
    const code = await codeAtRedirect(begun);
    const responses = await Promise.all(Array.from({ length: 10 }, () => exchange(application, code, begun.pkce.codeVerifier)));
    expect(responses.filter(({ status }) => status === 200)).toHaveLength(1);
  });

  test('does not consume the code for a wrong verifier or another application, and ends the attempt after five', async () => {
    const [application, other] = [await addApplication(), await addApplication()];
    const begun = await begin(application);
    const code = await codeAtRedirect(begun);
    expect((await exchange(other, code, begun.pkce.codeVerifier)).status).toBe(400);
    for (const client_id of ['emailauth_demo_client', 'emailauth_cli', 'app_none'])
      expect((await service.client().post('/api/auth/token', { code, code_verifier: begun.pkce.codeVerifier, client_id })).status).toBe(
        400,
      );
    for (let i = 0; i < 4; i++) expect((await exchange(application, code, 'x'.repeat(43))).status).toBe(400);
    expect((await exchange(application, code, begun.pkce.codeVerifier)).status).toBe(200);

    const second = await begin(application);
    const secondCode = await codeAtRedirect(second);
    for (let i = 0; i < 5; i++) expect((await exchange(application, secondCode, 'x'.repeat(43))).status).toBe(400);
    expect((await exchange(application, secondCode, second.pkce.codeVerifier)).status).toBe(400);
  });

  test.each([
    ['another URI', { redirect_uri: 'https://app.example/other' }],
    ['a longer query', { redirect_uri: `${REDIRECT}&x` }],
    ['another host', { redirect_uri: 'https://app.example.evil.example/callback?from=mail' }],
    ['a port at a host that is not loopback', { redirect_uri: 'https://app.example:8443/callback?from=mail' }],
    ['an unregistered loopback URI', { redirect_uri: 'http://127.0.0.1:5000/callback?from=mail' }],
    ['an unknown client_id', { client_id: `app_${'A'.repeat(22)}` }],
    ['the portal’s redirect', { redirect_uri: 'PORTAL' }],
  ])('returns 400 and sends no email for %s', async (_what, changes) => {
    const application = await addApplication();
    const portal = 'redirect_uri' in changes && changes.redirect_uri === 'PORTAL' ? { redirect_uri: `${service.url}/developer` } : {};
    const { response, email } = await begin(application, freshAddress(), { ...changes, ...portal });
    expect(response.status).toBe(400);
    expect(await stage.query('select 1 from outbox where recipient = $1', [email])).toEqual([]);
    expect(stage.mailbox.mailsFor(email)).toEqual([]);
  });

  test('accepts any port of a loopback redirect URI (RFC 8252 §7.3)', async () => {
    const application = await addApplication(['http://127.0.0.1:4000/cb']);
    const begun = await begin(application, freshAddress(), { redirect_uri: 'http://127.0.0.1:51000/cb' });
    expect(begun.response.status).toBe(200);
    const mail = await stage.mailbox.waitFor(begun.email);
    expect(mail.subject).toBe(`${mail.code} is your code for 127.0.0.1`);
    expect(await redirectOf(mail, begun.email)).toMatch(/^http:\/\/127\.0\.0\.1:51000\/cb\?code=/);
    for (const redirect_uri of ['http://127.0.0.1:51000/other', 'http://localhost:51000/cb', 'http://127.0.0.1:0/cb'])
      expect((await begin(application, freshAddress(), { redirect_uri })).response.status).toBe(400);
  });

  test('by the portal or the command line has no page of an application and opens a full session', async () => {
    const pkce = await createPkce();
    const client = service.client();
    const email = freshAddress('dev');
    const redirect_uri = 'http://127.0.0.1:51999/callback';
    await authorize(client, email, { client_id: 'emailauth_cli', redirect_uri, code_challenge: pkce.codeChallenge });
    const mail = await stage.mailbox.waitFor(email);
    expect(mail.subject).toBe(`${mail.code} is your code for Email Auth`);
    const code = new URL((await linkPage(mail.link)).link.redirectUrl).searchParams.get('code');
    const body = { code, code_verifier: pkce.codeVerifier, client_id: 'emailauth_cli' };
    expect((await client.post('/api/auth/token', body)).json.authKey).toBeTruthy();
    expect((await client.get('/api/websites')).status).toBe(200);
  });
});

describe('a deactivated or deleted application', () => {
  test('rejects its tokens and open attempts at once and after reactivation, and accepts new sign-ins after reactivation', async () => {
    const application = await addApplication();
    const token = await tokenFor(application);
    const begun = await begin(application);
    const mail = await stage.mailbox.waitFor(begun.email);
    const code = await codeAtRedirect(begun, mail);
    await switchTo(application, false);
    expect((await me(token)).status).toBe(401);
    expect((await begin(application)).response.json.code).toBe('unknown_client');
    for (const active of [false, true]) {
      if (active) await switchTo(application, true);
      expect((await exchange(application, code, begun.pkce.codeVerifier)).status).toBe(400);
      const typed = { email: begun.email, code: mail.code, state: begun.pkce.state, attempt: begun.attempt };
      expect((await service.client().post('/api/auth/email-code', typed)).status).toBe(400);
      expect((await me(token)).status).toBe(401);
    }
    expect((await me(await tokenFor(application))).status).toBe(200);
  });

  test('rejects its tokens, open attempts and links once it is deleted', async () => {
    const application = await addApplication();
    const token = await tokenFor(application);
    const begun = await begin(application);
    const code = await codeAtRedirect(begun);
    await ann.client.delete(`/api/clients/${application.id}`);
    expect((await me(token)).status).toBe(401);
    expect((await exchange(application, code, begun.pkce.codeVerifier)).status).toBe(400);
    expect((await linkPage(`/auth/link?t=${code}`)).link.state).toBe('invalid');
    expect((await begin(application)).response.status).toBe(400);
  });

  test('sends no codes of open attempts to a removed redirect URI, and its tokens stay valid', async () => {
    const application = await addApplication();
    const token = await tokenFor(application);
    const begun = await begin(application);
    const { link } = await stage.mailbox.waitFor(begun.email);
    const redirectUris = ['https://new.example/cb'];
    await ann.client.put(`/api/clients/${application.id}`, { name: 'Notes', redirectUris, isActive: true });
    expect((await linkPage(link)).link.state).toBe('invalid');
    expect((await me(token)).status).toBe(200);
  });
});
