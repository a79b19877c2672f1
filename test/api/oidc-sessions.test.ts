import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { decodeJwt } from 'jose';
import { beforeAll, expect, test } from 'vitest';
import type { Client } from '../support/client.ts';
import { useProduction, useService } from '../support/harness.ts';
import { answerOf, begin, exchangeCode, postForm, REDIRECT, signIn } from '../support/oidc-client.ts';
import { bootOf } from '../support/oidc-driver.ts';
import { type Developer, freshAddress, freshDomain, signInDeveloper } from '../support/sign-ins.ts';
import { waitUntil } from '../support/waiting.ts';

const { stage, service } = await useService();
/** Another instance on the same database. */
const { service: other } = await useProduction();
let developer: Developer;
beforeAll(async () => {
  developer = await signInDeveloper(stage, service);
});

const OFFLINE = { scope: 'openid email offline_access', parameters: { prompt: 'consent' } };

async function addApplication(settings: object = {}) {
  const response = await developer.client.post('/api/clients', { name: 'Notes', redirectUris: [REDIRECT], ...settings });
  if (response.status !== 200) throw new Error(response.text);
  return response.json as { id: string; clientId: string };
}

/** Returns the error of a request without a page at the other instance, or null when it got a code. */
async function silentError(client: Client, clientId: string): Promise<string | null> {
  const elsewhere = other.client();
  elsewhere.cookies = client.cookies;
  return answerOf((await begin(elsewhere, { clientId, parameters: { prompt: 'none' } })).response).error;
}

const userinfoStatus = async (token: string) => (await other.client().get('/oauth/userinfo', { Authorization: `Bearer ${token}` })).status;

const refresh = (clientId: string, token: string) =>
  postForm(other.client(), '/oauth/token', { grant_type: 'refresh_token', client_id: clientId, refresh_token: token });

test('signing out in the portal ends the session of the browser and its tokens on every instance', async () => {
  const { clientId } = await addApplication();
  const { client, email } = await signInDeveloper(stage, service);
  const { tokens } = await signIn(stage, client, { clientId, email });
  const elsewhere = await signIn(stage, service.client(), { clientId, email });
  expect(await silentError(client, clientId)).toBeNull();
  const session = client.cookies.get('oidc_session') as string;
  await client.post('/api/auth/logout');
  client.cookies.set('oidc_session', session);
  expect(await silentError(client, clientId)).toBe('login_required');
  expect(await userinfoStatus(tokens.access_token)).toBe(401);
  expect(await userinfoStatus(elsewhere.tokens.access_token)).toBe(200);
});

test('signing a device out, or out everywhere, ends its sessions; the latter ends refresh tokens too', async () => {
  const { clientId } = await addApplication();
  const owner = await signInDeveloper(stage, service);
  const phone = service.client();
  const onPhone = await signIn(stage, phone, { clientId, email: owner.email, ...OFFLINE });
  const laptop = service.client();
  await signIn(stage, laptop, { clientId, email: owner.email });
  const devices = (await owner.client.get('/api/user/devices')).json as { id: string; current: boolean }[];
  const [lastSeen] = devices.filter(({ current }) => !current);
  expect((await owner.client.delete(`/api/user/devices/${lastSeen.id}`)).status).toBe(200);
  expect(await silentError(laptop, clientId)).toBe('login_required');
  expect(await silentError(phone, clientId)).toBeNull();
  const refreshed = await refresh(clientId, onPhone.tokens.refresh_token);
  expect(refreshed.status).toBe(200);
  await owner.client.post('/api/user/sign-out-everywhere');
  expect(await silentError(phone, clientId)).toBe('login_required');
  expect((await refresh(clientId, refreshed.json.refresh_token)).json.error).toBe('invalid_grant');
});

test('a deactivated application stops at once, and what it had stays ended after it is active again', async () => {
  const application = await addApplication();
  const { id, clientId } = application;
  const client = service.client();
  const { tokens } = await signIn(stage, client, { clientId, ...OFFLINE });
  const update = (isActive: boolean) => developer.client.put(`/api/clients/${id}`, { name: 'Notes', redirectUris: [REDIRECT], isActive });
  await update(false);
  expect((await refresh(clientId, tokens.refresh_token)).json.error).toBe('invalid_client');
  expect(await userinfoStatus(tokens.access_token)).toBe(401);
  const refused = await begin(client, { clientId });
  expect(refused.response.status).toBe(400);
  expect(bootOf(refused.response).authorization).toMatchObject({ step: 'error', error: 'invalid_client', reason: 'client' });
  await update(true);
  expect((await refresh(clientId, tokens.refresh_token)).json.error).toBe('invalid_grant');
  expect(await userinfoStatus(tokens.access_token)).toBe(401);
});

test('a website is a client as long as it is registered, and what it had stays ended after it is registered again', async () => {
  const domain = freshDomain();
  const website = (await developer.client.post('/api/websites', { domain })).json;
  const clientId = `https://${domain}`;
  const request = { clientId, redirectUri: `${clientId}/any/path?x=1` };
  const email = freshAddress();
  const client = service.client();
  const { tokens } = await signIn(stage, client, { ...request, email, scope: 'openid email' });
  expect(decodeJwt(tokens.id_token)).toMatchObject({ aud: clientId, email });
  const lasting = await signIn(stage, client, { ...request, email, ...OFFLINE });
  expect((await developer.client.delete(`/api/websites/${website.id}`)).status).toBe(200);
  expect((await refresh(clientId, lasting.tokens.refresh_token)).json.error).toBe('invalid_client');
  expect((await begin(client, request)).response.status).toBe(400);
  await developer.client.post('/api/websites', { domain });
  await stage.query(
    `update websites set created_at = now() + interval '1 second', domain_since = now() + interval '1 second' where domain = $1`,
    [domain],
  );
  expect((await refresh(clientId, lasting.tokens.refresh_token)).json.error).toBe('invalid_grant');
});

test('a sign-out by the application ends the session and its tokens, and tells the applications that want to know', async () => {
  const notices: string[] = [];
  const receiver = createServer((request, response) => {
    let body = '';
    request.on('data', (chunk) => {
      body += chunk;
    });
    request.on('end', () => {
      notices.push(new URLSearchParams(body).get('logout_token') ?? '');
      response.end();
    });
  });
  await new Promise<void>((resolve) => receiver.listen(0, '127.0.0.1', resolve));
  const { port } = receiver.address() as AddressInfo;
  const logoutUri = 'https://app.example/signed-out';
  const backchannelLogoutUri = `http://127.0.0.1:${port}/backchannel`;
  const { clientId } = await addApplication({ logoutUris: [logoutUri], backchannelLogoutUri });
  const client = service.client();
  const { tokens } = await signIn(stage, client, { clientId });
  const hint = { id_token_hint: tokens.id_token, post_logout_redirect_uri: logoutUri, state: 'bye', ui_locales: 'lv' };
  const page = await client.get(`/oauth/logout?${new URLSearchParams(hint)}`);
  const boot = bootOf(page);
  expect(boot).toMatchObject({ language: 'lv', target: { kind: 'application', name: 'Notes' }, authorization: { step: 'sign_out' } });
  expect(await userinfoStatus(tokens.access_token)).toBe(200);
  const { action, fields } = boot.authorization.form;
  const done = await postForm(client, action, { ...fields, logout: 'yes' }, { Accept: 'application/json' });
  expect(done.json).toEqual({ redirectUrl: `${logoutUri}?state=bye` });
  expect(await silentError(client, clientId)).toBe('login_required');
  expect(await userinfoStatus(tokens.access_token)).toBe(401);
  await waitUntil('the logout token arrives', 30_000, async () => notices.length === 1 || 'none');
  const { sub, sid } = decodeJwt(tokens.id_token);
  expect(decodeJwt(notices[0])).toMatchObject({ iss: service.url, aud: clientId, sub, sid, events: expect.any(Object) });
  receiver.close();
});

test('a sign-out without a registered address ends at a page of the service', async () => {
  const { clientId } = await addApplication();
  const client = service.client();
  const { tokens } = await signIn(stage, client, { clientId });
  const query = new URLSearchParams({ id_token_hint: tokens.id_token, post_logout_redirect_uri: REDIRECT });
  const refused = await client.get(`/oauth/logout?${query}`, { Accept: 'text/html' });
  expect(refused.status).toBe(400);
  expect(bootOf(refused).authorization).toMatchObject({ step: 'error', error: 'invalid_request' });
  const { action, fields } = bootOf(await client.get('/oauth/logout')).authorization.form;
  const done = await postForm(client, action, { ...fields, logout: 'yes' }, { Accept: 'application/json' });
  const last = await client.get(done.json.redirectUrl);
  expect(bootOf(last).authorization).toEqual({ step: 'signed_out' });
});

test('a code is exchanged once by two instances', async () => {
  const { clientId } = await addApplication();
  const client = service.client();
  await signIn(stage, client, { clientId });
  const begun = await begin(client, { clientId });
  const { code } = answerOf(begun.response);
  const clients = Array.from({ length: 20 }, (_, n) => (n % 2 ? service : other).client());
  const statuses = await Promise.all(clients.map(async (racer) => (await exchangeCode(racer, begun, code)).status));
  expect(statuses.filter((status) => status === 200).length).toBeLessThanOrEqual(1);
  expect(statuses.filter((status) => status !== 200 && status !== 400)).toEqual([]);
});
