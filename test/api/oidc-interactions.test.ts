import { beforeAll, expect, test } from 'vitest';
import type { Client } from '../support/client.ts';
import { useService } from '../support/harness.ts';
import {
  allow,
  answerOf,
  type BegunRequest,
  begin,
  continueByLink,
  exchangeCode,
  follow,
  REDIRECT,
  signIn,
} from '../support/oidc-client.ts';
import { bootOf } from '../support/oidc-driver.ts';
import { type Developer, freshAddress, openLink, signInDeveloper, tokenOf } from '../support/sign-ins.ts';

const { stage, service } = await useService();
let developer: Developer;
let clientId: string;
beforeAll(async () => {
  developer = await signInDeveloper(stage, service);
  clientId = await addApplication();
});

const addApplication = async (name = 'Notes'): Promise<string> =>
  (await developer.client.post('/api/clients', { name, redirectUris: [REDIRECT] })).json.clientId;

async function requestMail(client: Client, { uid }: BegunRequest, email = freshAddress()) {
  const response = await client.post('/api/auth/domain-auth', { email, interaction: uid });
  expect(response.json).toEqual({ sent: true, expiresIn: 600 });
  return { email, mail: await stage.mailbox.waitFor(email) };
}

const open = (client: Client, url: string) => client.get(url).then((response) => follow(client, response));

test('a link opened in another browser consumes nothing, and its code continues in the first window', async () => {
  const client = service.client();
  const begun = await begin(client, { clientId });
  const { email, mail } = await requestMail(client, begun);
  const other = service.client();
  const page = await other.get(mail.link);
  expect(bootOf(page)).toMatchObject({ target: { host: 'app.example' }, link: { state: 'other_browser' } });
  const t = new URL(mail.link).searchParams.get('t');
  expect((await other.post('/api/auth/confirm-link', { t, email })).json.code).toBe('bad_link');
  expect((await other.get(`/oauth/interaction/${begun.uid}`)).status).toBe(400);

  const entered = await client.post('/api/auth/email-code', { email, code: mail.code });
  const answer = answerOf(await allow(client, await open(client, entered.json.redirectUrl)));
  expect(answer).toMatchObject({ state: begun.state, iss: service.url });
  expect((await exchangeCode(client, begun, answer.code)).status).toBe(200);
});

test('HEAD and prefetches of a link consume nothing', async () => {
  const client = service.client();
  const begun = await begin(client, { clientId });
  const { mail } = await requestMail(client, begun);
  await client.send(mail.link, { method: 'HEAD' });
  expect((await client.get(mail.link, { 'Sec-Purpose': 'prefetch' })).status).toBe(200);
  expect(answerOf(await allow(client, await open(client, await openLink(client, mail)))).code).not.toBe('');
});

test('the token of a sign-in continues only its own interaction, in its own browser, once, and opens no portal', async () => {
  const client = service.client();
  const begun = await begin(client, { clientId });
  const { mail } = await requestMail(client, begun);
  const url = await openLink(client, mail);
  const thief = service.client();
  thief.cookies.set('oidc_interaction', begun.uid);
  expect(bootOf(await thief.get(url)).authorization.step).toBe('sign_in');
  expect((await client.post('/api/auth/token-login', { token: tokenOf(url), confirm: true })).json.code).toBe('bad_token');
  const cookie = `oidc_interaction;/oauth/interaction/${begun.uid}`;
  const interaction = client.cookies.get(cookie) as string;
  const second = await begin(client, { clientId });
  expect(bootOf(await client.get(`/oauth/interaction/${second.uid}?token=${tokenOf(url)}`)).authorization.step).toBe('sign_in');
  expect(bootOf(await open(client, url)).authorization.step).toBe('consent');
  client.cookies.set(cookie, interaction);
  expect((await client.get(url)).status).toBe(400);
});

test('two tabs with two requests continue independently', async () => {
  const client = service.client();
  const email = freshAddress();
  const tabs = [];
  for (const id of [clientId, clientId]) {
    const begun = await begin(client, { clientId: id });
    const { mail } = await requestMail(client, begun, email);
    tabs.push({ begun, mail });
  }
  for (const { begun, mail } of tabs) {
    const url = await openLink(client, mail);
    const answer = answerOf(await allow(client, await open(client, url)));
    expect(answer.state).toBe(begun.state);
  }
});

test('an interaction that is unknown or has ended shows a page, and its calls fail', async () => {
  const client = service.client();
  const begun = await begin(client, { clientId });
  await stage.query("update oidc_records set expires_at = now() - interval '1 second' where kind = 'Interaction'");
  const page = await client.get(`/oauth/interaction/${begun.uid}?language=lt`);
  expect(page.status).toBe(400);
  expect(bootOf(page)).toMatchObject({ language: 'lt', authorization: { step: 'expired' } });
  const response = await client.post('/api/auth/domain-auth', { email: freshAddress(), interaction: begun.uid });
  expect(response.json.code).toBe('interaction_ended');
  expect((await client.post(`/oauth/interaction/${begun.uid}/decision`, { decision: 'allow' })).json.code).toBe('interaction_ended');
});

test('prompt=none answers without a page: login_required until the person has acted at the client, then a code', async () => {
  const client = service.client();
  const silent = (id = clientId) => begin(client, { clientId: id, parameters: { prompt: 'none' } });
  expect(answerOf((await silent()).response)).toMatchObject({ error: 'login_required', iss: service.url });
  await signIn(stage, client, { clientId });
  expect(answerOf((await silent()).response)).toMatchObject({ error: null });
  expect(answerOf((await silent(await addApplication())).response).error).toBe('login_required');
});

test('a consent is remembered for other browsers, for its scopes, and asked for again by prompt=consent', async () => {
  const { email } = await signIn(stage, service.client(), { clientId });
  const client = service.client();
  const begun = await begin(client, { clientId });
  const { mail } = await requestMail(client, begun, email);
  expect(answerOf(await open(client, await openLink(client, mail))).code).not.toBe('');
  const more = await begin(client, { clientId, scope: 'openid email profile' });
  expect(bootOf(more.page).authorization).toMatchObject({ step: 'consent', scopes: ['profile'] });
  const again = await begin(client, { clientId, parameters: { prompt: 'consent' } });
  expect(bootOf(again.page).authorization.step).toBe('consent');
});

test('a refused consent returns access_denied to the application', async () => {
  const client = service.client();
  const begun = await begin(client, { clientId });
  const { mail } = await requestMail(client, begun);
  const page = await open(client, await openLink(client, mail));
  expect(bootOf(page).authorization).toMatchObject({
    step: 'consent',
    scopes: ['openid', 'email'],
    email: expect.stringContaining('@'),
  });
  const { interaction } = bootOf(page).target;
  const decided = await client.post(`/oauth/interaction/${interaction}/decision`, { decision: 'deny' });
  expect(answerOf(await open(client, decided.json.redirectUrl))).toMatchObject({
    error: 'access_denied',
    state: begun.state,
    iss: service.url,
  });
});

test('a decision is only accepted from the pages of the service and in the browser that waits', async () => {
  const client = service.client();
  const begun = await begin(client, { clientId });
  const { mail } = await requestMail(client, begun);
  const page = await open(client, await openLink(client, mail));
  expect(page.headers['content-security-policy']).toContain("frame-ancestors 'none'");
  const path = `/oauth/interaction/${bootOf(page).target.interaction}/decision`;
  const foreign = await client.post(path, { decision: 'allow' }, { Origin: 'https://evil.example' });
  expect(foreign.json.code).toBe('foreign_origin');
  const form = { method: 'POST', body: 'decision=allow', headers: { 'Content-Type': 'application/x-www-form-urlencoded' } };
  expect((await client.send(path, form)).status).toBe(415);
  expect((await service.client().post(path, { decision: 'allow' })).json.code).toBe('interaction_ended');
  expect((await client.post(path, { decision: 'allow' })).status).toBe(200);
});

test.each<Record<string, string>>([{ prompt: 'login' }, { max_age: '60' }])(
  '%j needs a new email and sets auth_time',
  async (parameters) => {
    const client = service.client();
    const { email, tokens } = await signIn(stage, client, { clientId });
    const before = claimsOf(tokens).auth_time;
    const age = `jsonb_set(payload, '{loginTs}', to_jsonb((payload->>'loginTs')::int - 100))`;
    await stage.query(`update oidc_records set payload = ${age} where kind = 'Session' and email = $1`, [email]);
    await stage.query("update remembered_keys set expires_at = expires_at - interval '100 seconds' where email = $1", [email]);
    const begun = await begin(client, { clientId, parameters });
    expect(bootOf(begun.page)).toMatchObject({ authorization: { step: 'sign_in' }, steps: { oneClick: [] } });
    const remembered = { email, key: client.cookies.get('auth_key'), interaction: begun.uid };
    expect((await client.post('/api/auth/validate-key', remembered)).json.code).toBe('sign_in_too_old');
    const { code } = await continueByLink(stage, client, begun, email);
    expect(claimsOf((await exchangeCode(client, begun, code)).json).auth_time).toBeGreaterThanOrEqual(before);
  },
);

test('max_age accepts a remembered account that was proven since, and auth_time is the time of that proof', async () => {
  const client = service.client();
  const { email, tokens } = await signIn(stage, client, { clientId });
  await stage.query("update remembered_keys set expires_at = expires_at - interval '100 seconds' where email = $1", [email]);
  for (const name of client.cookies.keys()) if (name.includes('oidc_session')) client.cookies.delete(name);
  const begun = await begin(client, { clientId, parameters: { max_age: '3600' } });
  expect(bootOf(begun.page).steps.oneClick).toEqual([email]);
  const key = decodeURIComponent(client.cookies.get('auth_key') ?? '');
  const again = await client.post('/api/auth/validate-key', { email, key, interaction: begun.uid });
  const { code } = answerOf(await open(client, again.json.redirectUrl));
  const claims = claimsOf((await exchangeCode(client, begun, code)).json);
  expect(claims).toMatchObject({ email, amr: ['user'] });
  expect(claims.auth_time).toBeLessThanOrEqual(claimsOf(tokens).auth_time - 98);
});

test('prompt=select_account lets the person choose another account, which replaces the session', async () => {
  const client = service.client();
  const first = await signIn(stage, client, { clientId });
  const begun = await begin(client, { clientId, parameters: { prompt: 'select_account' } });
  expect(bootOf(begun.page).authorization).toMatchObject({ step: 'sign_in', chooseAccount: true });
  const email = freshAddress('other');
  const { code } = await continueByLink(stage, client, begun, email);
  expect(claimsOf((await exchangeCode(client, begun, code)).json).email).toBe(email);
  const silent = await begin(client, { clientId, parameters: { prompt: 'none' } });
  const again = (await exchangeCode(client, silent, answerOf(silent.response).code)).json;
  expect(claimsOf(again).email).toBe(email);
  const userinfo = await client.get('/oauth/userinfo', { Authorization: `Bearer ${first.tokens.access_token}` });
  expect(userinfo.status).toBe(401);
});

test('the person on the consent page can sign in as somebody else', async () => {
  const client = service.client();
  const begun = await begin(client, { clientId });
  const { mail } = await requestMail(client, begun);
  const page = await open(client, await openLink(client, mail));
  const uid = bootOf(page).target.interaction;
  const decided = await client.post(`/oauth/interaction/${uid}/decision`, { decision: 'other_account' });
  const choice = await open(client, decided.json.redirectUrl);
  expect(bootOf(choice).authorization).toMatchObject({ step: 'sign_in', chooseAccount: true });
  const email = freshAddress('else');
  const { code } = await continueByLink(stage, client, { ...begun, uid }, email);
  expect(claimsOf((await exchangeCode(client, begun, code)).json).email).toBe(email);
});

test('a remembered account continues a request without an email', async () => {
  const client = service.client();
  const { email } = await signIn(stage, client, { clientId });
  client.cookies.delete('oidc_session');
  const begun = await begin(client, { clientId });
  const remembered = { email, key: client.cookies.get('auth_key'), interaction: begun.uid };
  const response = await client.post('/api/auth/validate-key', remembered);
  const { code } = answerOf(await allow(client, await open(client, response.json.redirectUrl)));
  expect(claimsOf((await exchangeCode(client, begun, code)).json)).toMatchObject({ email, amr: ['user'] });
});

test('login_hint fills in the address, and ui_locales chooses the language', async () => {
  const { page } = await begin(service.client(), {
    clientId,
    parameters: { login_hint: 'ann@mail.example', ui_locales: 'fr-CA uk-UA en' },
  });
  expect(bootOf(page)).toMatchObject({ language: 'uk', authorization: { email: 'ann@mail.example' } });
});

test('id_token_hint of another person asks for a sign-in', async () => {
  const client = service.client();
  const { tokens } = await signIn(stage, service.client(), { clientId });
  await signIn(stage, client, { clientId });
  const parameters = { id_token_hint: tokens.id_token, prompt: 'none' };
  expect(answerOf((await begin(client, { clientId, parameters })).response).error).toBe('login_required');
});

/** Returns the claims of an ID token, whose signature test/api/oidc.test.ts verifies. */
function claimsOf({ id_token }: { id_token: string }) {
  return JSON.parse(Buffer.from(id_token.split('.')[1], 'base64url').toString());
}
