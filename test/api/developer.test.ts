import { describe, expect, test } from 'vitest';
import { CLI_CLIENT_ID, WEB_CLIENT_ID } from '../../contract/pkce.ts';
import type { Client } from '../support/client.ts';
import { useService } from '../support/harness.ts';
import { bootOf } from '../support/oidc-driver.ts';
import { authorize, codeOf, exchange, freshAddress, signInDeveloper, tokenOf } from '../support/sign-ins.ts';

const { stage, service } = await useService();

const noMailFor = async (email: string) => {
  expect(await stage.query('select 1 from outbox where recipient = $1', [email])).toEqual([]);
  expect(stage.mailbox.mailsFor(email)).toEqual([]);
};

describe('PKCE', () => {
  test('opens a session by authorize, the emailed link and the exchange', async () => {
    const client = service.client();
    const { email, pkce, response } = await authorize(client);
    expect(response.status).toBe(200);
    expect(response.json).toMatchObject({ sent: true, expiresIn: 600 });
    const mail = await stage.mailbox.waitFor(email);
    const link = new URL(mail.link);
    expect(link.origin + link.pathname).toBe(`${service.url}/auth/callback`);
    expect(link.searchParams.get('state')).toBe(pkce.state);
    expect(link.searchParams.get('iss')).toBe(service.url);
    const page = await client.get(mail.link);
    expect(page.status).toBe(200);
    const exchanged = await exchange(client, codeOf(mail), pkce.codeVerifier);
    expect(exchanged.status).toBe(200);
    expect(exchanged.json).toEqual({
      email,
      authKey: expect.stringMatching(/^[\w-]{22}\.[\w-]{43}$/),
      localKey: expect.stringMatching(/^[0-9a-f]{32}$/),
    });
    expect(exchanged.headers['cache-control']).toBe('no-store');
    expect((await client.get('/api/user/me')).json).toEqual({ id: expect.any(String), email, name: null });
  });

  test('has a code that no link takes', async () => {
    const client = service.client();
    const { email, pkce } = await authorize(client);
    const code = codeOf(await stage.mailbox.waitFor(email));
    const page = await client.get(`/auth/link?t=${code}`);
    expect(bootOf(page).link.state).toBe('invalid');
    expect((await exchange(client, code, pkce.codeVerifier)).status).toBe(200);
    expect(bootOf(await client.get(`/auth/link?t=${code}`)).link.state).toBe('used');
  });

  test('names the account of the browser, and responds with 200 also without one', async () => {
    const sessionOf = async (client: Client, headers: Record<string, string> = {}) => {
      const { status, json, headers: sent } = await client.get('/api/auth/session', headers);
      return { status, json, cache: sent['cache-control'] };
    };
    const none = { status: 200, json: { user: null }, cache: 'no-store' };
    const { client, email } = await signInDeveloper(stage, service);
    const user = { id: expect.any(String), email, name: null };
    expect(await sessionOf(client)).toEqual({ status: 200, json: { user }, cache: 'no-store' });
    expect(await sessionOf(service.client())).toEqual(none);
    const sid = client.cookies.get('sid') ?? '';
    expect(await sessionOf(service.client(), { Authorization: `Bearer ${sid}` })).toEqual(none);
    await client.post('/api/auth/logout');
    client.cookies.set('sid', sid);
    expect(await sessionOf(client)).toEqual(none);
    client.cookies.set('sid', 'no secret');
    expect(await sessionOf(client)).toEqual(none);
  });

  test('creates a new sid at every sign-in', async () => {
    const { client, email } = await signInDeveloper(stage, service);
    const first = client.cookies.get('sid');
    const { pkce } = await authorize(client, email);
    await exchange(client, codeOf(await stage.mailbox.waitFor(email)), pkce.codeVerifier);
    expect(client.cookies.get('sid')).not.toBe(first);
    expect((await client.get('/api/user/me')).json.email).toBe(email);
  });

  test('does not adopt a sid that the browser already had', async () => {
    const client = service.client();
    client.cookies.set('sid', 'A'.repeat(43));
    const { email, pkce } = await authorize(client);
    await exchange(client, codeOf(await stage.mailbox.waitFor(email)), pkce.codeVerifier);
    expect(client.cookies.get('sid')).not.toBe('A'.repeat(43));
  });

  test('does not consume the code for a wrong verifier, and rejects the right one after five', async () => {
    const client = service.client();
    const first = await authorize(client);
    const code = codeOf(await stage.mailbox.waitFor(first.email));
    for (let i = 0; i < 4; i++) expect((await exchange(client, code, 'x'.repeat(43))).status).toBe(400);
    expect((await exchange(client, code, first.pkce.codeVerifier)).status).toBe(200);

    const second = await authorize(client);
    const secondCode = codeOf(await stage.mailbox.waitFor(second.email));
    for (let i = 0; i < 5; i++) expect((await exchange(client, secondCode, 'x'.repeat(43))).status).toBe(400);
    expect((await exchange(client, secondCode, second.pkce.codeVerifier)).status).toBe(400);
  });

  test('revokes the session on a replay of the code with the right verifier, but not with a wrong verifier', async () => {
    const client = service.client();
    const { email, pkce } = await authorize(client);
    const code = codeOf(await stage.mailbox.waitFor(email));
    const { authKey } = (await exchange(client, code, pkce.codeVerifier)).json;
    const attacker = service.client();
    expect((await exchange(attacker, code, 'x'.repeat(64))).status).toBe(400);
    expect((await client.get('/api/user/me')).status).toBe(200);
    expect((await exchange(attacker, code, pkce.codeVerifier)).status).toBe(400);
    expect((await client.get('/api/user/me')).status).toBe(401);
    expect((await client.post('/api/auth/validate-key', { email, key: authKey })).status).toBe(401);
  });

  test('returns the same session to the browser that exchanges the code again, while its first response may be lost', async () => {
    const client = service.client();
    const { email, pkce } = await authorize(client);
    const code = codeOf(await stage.mailbox.waitFor(email));
    const lost = service.client();
    lost.cookies = new Map(client.cookies);
    const first = await exchange(lost, code, pkce.codeVerifier);
    // The page of the second click begins the exchange, as that of the first one did.
    const page = await client.get(`/auth/callback?code=${code}&state=${pkce.state}`);
    expect(page.text).not.toContain('"state":"used"');
    const second = await exchange(client, code, pkce.codeVerifier);
    expect([second.status, second.json]).toEqual([200, first.json]);
    expect(client.cookies.get('sid')).toBe(lost.cookies.get('sid'));
    expect((await client.get('/api/user/me')).json.email).toBe(email);
    expect(await stage.query('select 1 from sessions s join users u on u.id = s.user_id where u.email = $1', [email])).toHaveLength(1);
    const actions = await stage.query("select 1 from audit_log where email = $1 and action = 'developer_signed_in'", [email]);
    expect(actions).toHaveLength(1);

    await stage.query("update sign_in_attempts set consumed_at = consumed_at - interval '11 seconds' where email = $1", [email]);
    expect((await exchange(client, code, pkce.codeVerifier)).status).toBe(400);
    expect((await client.get('/api/user/me')).status).toBe(401);
  });

  test.each([
    ['no challenge', { code_challenge: undefined }],
    ['a malformed challenge', { code_challenge: 'too-short' }],
    ['the method plain', { code_challenge_method: 'plain' }],
    ['no method', { code_challenge_method: undefined }],
    ['no state', { state: undefined }],
    ['a long state', { state: 'x'.repeat(129) }],
    ['a state with a message in it', { state: 'Call%20me' }],
    ['an unknown client', { client_id: 'nobody' }],
    ['no client', { client_id: undefined }],
    ['a foreign redirect_uri', { redirect_uri: 'https://evil.example/developer' }],
    ['no redirect_uri', { redirect_uri: undefined }],
    ['an array as redirect_uri', { redirect_uri: ['https://evil.example'] }],
  ])('returns 400 and sends no email for %s', async (_what, changes) => {
    const { response, email } = await authorize(service.client(), freshAddress(), changes);
    expect(response.status).toBe(400);
    expect(response.json.error_description).toMatch(/\w+ \w+/);
    await noMailFor(email);
  });

  test.each([
    ['42 characters', 'x'.repeat(42)],
    ['129 characters', 'x'.repeat(129)],
    ['other characters', `${'x'.repeat(60)} é`],
    ['nothing', undefined],
  ])('returns 400 for a verifier of %s and does not consume the code', async (_what, verifier) => {
    const client = service.client();
    const { email, pkce } = await authorize(client);
    const code = codeOf(await stage.mailbox.waitFor(email));
    expect((await exchange(client, code, verifier as string)).status).toBe(400);
    expect((await exchange(client, code, pkce.codeVerifier)).status).toBe(200);
  });

  test('does not exchange the code for another client or redirect_uri', async () => {
    const client = service.client();
    const { email, pkce } = await authorize(client);
    const code = codeOf(await stage.mailbox.waitFor(email));
    const body = { code, code_verifier: pkce.codeVerifier, client_id: WEB_CLIENT_ID };
    expect((await client.post('/api/auth/token', { ...body, client_id: CLI_CLIENT_ID })).status).toBe(400);
    expect((await client.post('/api/auth/token', { ...body, redirect_uri: `${service.url}/other` })).status).toBe(400);
    expect((await client.post('/api/auth/token', { ...body, redirect_uri: `${service.url}/developer` })).status).toBe(200);
  });

  test('rejects an expired code', async () => {
    const client = service.client();
    const { email, pkce } = await authorize(client);
    const code = codeOf(await stage.mailbox.waitFor(email));
    await stage.query("update sign_in_attempts set expires_at = now() - interval '1 second' where email = $1", [email]);
    const response = await exchange(client, code, pkce.codeVerifier);
    expect(response.status).toBe(400);
    expect(response.json.error).toBe('invalid_grant');
  });

  test('returns the session only in an HttpOnly cookie, never in a response that scripts can read', async () => {
    const client = service.client();
    const { email, pkce } = await authorize(client);
    const code = codeOf(await stage.mailbox.waitFor(email));
    const responses = [await exchange(client, code, pkce.codeVerifier)];
    const [exchanged] = responses;
    const sessions = [client.cookies.get('sid') ?? ''];
    const quick = await client.post('/api/auth/validate-key', { email, key: exchanged.json.authKey });
    responses.push(quick, await client.post('/api/auth/token-login', { token: tokenOf(quick.json.redirectUrl) }));
    sessions.push(client.cookies.get('sid') ?? '');
    for (const path of ['/api/user/me', '/api/user/settings', '/api/user/devices', '/api/audit-logs', '/developer'])
      responses.push(await client.get(path));
    expect(new Set(sessions).size).toBe(2);
    for (const { text, setCookies } of responses) {
      const readable = setCookies.filter((line) => !/;\s*HttpOnly/i.test(line)).join();
      for (const secret of [...sessions, client.cookies.get('device') ?? ''])
        expect([secret.length, (text + readable).includes(secret)]).toEqual([43, false]);
    }
  });

  test('accepts form encoding and returns RFC 6749 responses and errors, for standard OAuth clients', async () => {
    const client = service.client();
    const redirect_uri = 'http://127.0.0.1:51237/callback';
    const { email, pkce, attempt } = await authorize(client, freshAddress(), { client_id: CLI_CLIENT_ID, redirect_uri });
    const typed = { email, code: (await stage.mailbox.waitFor(email)).code, state: pkce.state, attempt };
    const { code } = (await client.post('/api/auth/email-code', typed)).json;
    const form = (values: Record<string, string>) =>
      client.send('/api/auth/token', {
        method: 'POST',
        body: new URLSearchParams(values).toString(),
        headers: { 'Content-Type': 'application/x-www-form-urlencoded' },
      });
    const values = { grant_type: 'authorization_code', code, client_id: CLI_CLIENT_ID, redirect_uri };
    const refused = await form({ ...values, code_verifier: 'x'.repeat(43) });
    expect([refused.status, refused.json.error, refused.headers['cache-control']]).toEqual([400, 'invalid_grant', 'no-store']);
    expect(refused.json.error_description).toBeTruthy();
    const response = await form({ ...values, code_verifier: pkce.codeVerifier });
    expect(response.status).toBe(200);
    expect(response.json).toMatchObject({ token_type: 'Bearer', access_token: expect.any(String), expires_in: expect.any(Number), email });
    const bearer = service.client();
    expect((await bearer.get('/api/user/me', { Authorization: `Bearer ${response.json.access_token}` })).json.email).toBe(email);
  });

  test('returns the authorization code for the code of the email and the state', async () => {
    const client = service.client();
    const { email, pkce } = await authorize(client);
    const { code } = await stage.mailbox.waitFor(email);
    expect((await client.post('/api/auth/email-code', { email, code, state: 'another' })).status).toBe(400);
    const response = await client.post('/api/auth/email-code', { email, code, state: pkce.state });
    expect(response.status).toBe(200);
    expect((await exchange(client, response.json.code, pkce.codeVerifier)).status).toBe(200);
  });
});

describe('a native client', () => {
  const native = (port: number, path = '/callback') => ({ client_id: CLI_CLIENT_ID, redirect_uri: `http://127.0.0.1:${port}${path}` });

  test('gets its code at a loopback address of any port, through a page that redirects', async () => {
    const { email, pkce, response } = await authorize(service.client(), freshAddress(), native(51234));
    expect(response.status).toBe(200);
    const mail = await stage.mailbox.waitFor(email);
    expect(mail.link.startsWith(`${service.url}/auth/link?t=`)).toBe(true);
    const page = await service.client().get(mail.link);
    expect(page.status).toBe(200);
    const boot = JSON.parse(/<script type="application\/json" id="boot">(.*?)<\/script>/s.exec(page.text)?.[1] ?? '{}');
    const target = new URL(boot.link.redirectUrl);
    expect(target.origin + target.pathname).toBe('http://127.0.0.1:51234/callback');
    expect(target.searchParams.get('state')).toBe(pkce.state);
    const body = { code: target.searchParams.get('code'), code_verifier: pkce.codeVerifier, client_id: CLI_CLIENT_ID };
    expect((await service.client().post('/api/auth/token', body)).status).toBe(200);
  });

  test('without cookies uses the attempt that authorize returned', async () => {
    const { email, pkce, attempt } = await authorize(service.client(), freshAddress(), native(51235));
    const { code } = await stage.mailbox.waitFor(email);
    const given = await service.client().post('/api/auth/email-code', { email, code, state: pkce.state, attempt });
    expect(given.status).toBe(200);
    const body = { code: given.json.code, code_verifier: pkce.codeVerifier, client_id: CLI_CLIENT_ID };
    expect((await service.client().post('/api/auth/token', body)).json.email).toBe(email);
  });

  test.each([
    'http://127.0.0.1:80/other',
    'http://localhost:5000/callback',
    'https://127.0.0.1:5000/callback',
    'http://127.0.0.1.evil.example/callback',
  ])('is refused the redirect URI %s', async (redirect_uri) => {
    const { response, email } = await authorize(service.client(), freshAddress(), { client_id: CLI_CLIENT_ID, redirect_uri });
    expect(response.status).toBe(400);
    await noMailFor(email);
  });
});
