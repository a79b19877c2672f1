import { decodeJwt } from 'jose';
import { beforeAll, expect, test } from 'vitest';
import { openAuthenticator } from '../support/authenticator.ts';
import type { Client } from '../support/client.ts';
import { useProduction, useService } from '../support/harness.ts';
import { follow, postForm, REDIRECT } from '../support/oidc-client.ts';
import { bootOf } from '../support/oidc-driver.ts';
import { type Developer, freshAddress, openLink, signInDeveloper } from '../support/sign-ins.ts';

const { stage, service } = await useService();
/** Another instance on the same database. */
const { service: other } = await useProduction();
let developer: Developer;
let clientId: string;
beforeAll(async () => {
  developer = await signInDeveloper(stage, service);
  clientId = (await developer.client.post('/api/clients', { name: 'Television', redirectUris: [REDIRECT] })).json.clientId;
});

const HTML = { Accept: 'text/html' };
const GRANT_TYPE = 'urn:ietf:params:oauth:grant-type:device_code';

/** Begins at the device. */
const beginDevice = async (more: Record<string, string> = {}) =>
  (await postForm(service.client(), '/oauth/device/authorize', { client_id: clientId, scope: 'openid email', ...more })).json;

const poll = (deviceCode: string, client = service.client()) =>
  postForm(client, '/oauth/token', { grant_type: GRANT_TYPE, client_id: clientId, device_code: deviceCode });

/** Opens the page of a device in a browser and confirms its code. @returns the page that follows */
async function confirmDevice(client = service.client(), userCode: string, more: Record<string, string> = {}) {
  const entry = bootOf(await client.get('/oauth/device', HTML)).authorization;
  const confirm = await postForm(client, entry.form.action, { ...entry.form.fields, user_code: userCode }, HTML);
  const { authorization, target } = bootOf(confirm);
  if (authorization.step !== 'device_confirm') return confirm;
  expect(authorization.userCode).toBe(userCode);
  expect(target).toMatchObject({ kind: 'application', name: 'Television' });
  return follow(client, await postForm(client, authorization.form.action, { ...authorization.form.fields, ...more }, HTML));
}

/** Confirms the code of a device, signs in and agrees. @returns the last page */
async function approve(userCode: string, email: string) {
  const client = service.client();
  const page = await confirmDevice(client, userCode);
  expect(bootOf(page).authorization.step).toBe('sign_in');
  await client.post('/api/auth/domain-auth', { email, interaction: bootOf(page).target.interaction });
  return agree(client, await openLink(client, await stage.mailbox.waitFor(email)));
}

/** Agrees on the page after a sign-in. @returns the last page */
async function agree(client: Client, signedInUrl: string) {
  const consent = await follow(client, await client.get(signedInUrl));
  expect(bootOf(consent).authorization).toMatchObject({ step: 'consent', scopes: ['openid', 'email'] });
  const decided = await client.post(`/oauth/interaction/${bootOf(consent).target.interaction}/decision`, { decision: 'allow' });
  return client.get(decided.json.redirectUrl, HTML);
}

test('a device gets tokens once its person has confirmed its code, signed in and agreed', async () => {
  const device = await beginDevice();
  expect(device).toMatchObject({
    verification_uri: `${service.url}/oauth/device`,
    user_code: expect.stringMatching(/^[A-Z]{4}-[A-Z]{4}$/),
  });
  expect((await poll(device.device_code)).json.error).toBe('authorization_pending');
  const email = freshAddress();
  const done = await approve(device.user_code, email);
  expect(bootOf(done)).toMatchObject({ target: { name: 'Television' }, authorization: { step: 'device_done' } });
  const tokens = (await poll(device.device_code)).json;
  expect(decodeJwt(tokens.id_token)).toMatchObject({ email, aud: clientId });
  expect((await poll(device.device_code)).json.error).toBe('invalid_grant');
});

test('a device that requests a passkey by acr_values gets the class of the passkey, and no token for an email', async () => {
  const device = await beginDevice({ acr_values: 'phr' });
  const client = service.client();
  const email = freshAddress();
  const { steps, target } = bootOf(await confirmDevice(client, device.user_code));
  expect(steps).toMatchObject({ passkeyOnly: true, oneClick: [] });
  const { interaction } = target;
  await client.post('/api/auth/domain-auth', { email, interaction });
  const { addPasskey } = bootOf(await client.get((await stage.mailbox.waitFor(email)).link, HTML));
  expect(addPasskey).toMatchObject({ email, interaction });
  expect(await stage.query('select 1 from tokens where email = $1', [email])).toEqual([]);
  expect((await poll(device.device_code)).json.error).toBe('authorization_pending');
  const credential = openAuthenticator({ origin: service.url }).create(addPasskey.options);
  const created = await client.post('/api/auth/passkey/registration', { credential, interaction });
  expect(bootOf(await agree(client, created.json.redirectUrl)).authorization.step).toBe('device_done');
  const tokens = (await poll(device.device_code)).json;
  expect(decodeJwt(tokens.id_token)).toMatchObject({ email, acr: 'phrh', amr: ['hwk', 'user'] });
});

test('50 concurrent requests to two instances exchange a device code at most once, and end what it issued', async () => {
  const clients = [service.client(), other.client()];
  const device = await beginDevice();
  await approve(device.user_code, freshAddress());
  const responses = await Promise.all(Array.from({ length: 50 }, (_, racer) => poll(device.device_code, clients[racer % 2])));
  const [winners, refused] = [responses.filter(({ status }) => status === 200), responses.filter(({ status }) => status !== 200)];
  expect(winners.length).toBeLessThanOrEqual(1);
  expect(new Set(refused.map(({ json }) => json.error))).toEqual(new Set(['invalid_grant']));
  for (const { json } of winners)
    expect((await service.client().get('/oauth/userinfo', { Authorization: `Bearer ${json.access_token}` })).status).toBe(401);
});

test('a link of the device fills in its code, which still has to be confirmed', async () => {
  const device = await beginDevice();
  const { pathname, search } = new URL(device.verification_uri_complete);
  const form = await service.client().get(pathname + search, HTML);
  expect(form.status).toBe(200);
  expect(bootOf(form).authorization ?? form.text).toBeTruthy();
});

test('a refused device gets access_denied', async () => {
  const device = await beginDevice();
  const page = await confirmDevice(service.client(), device.user_code, { abort: 'yes' });
  expect(bootOf(page).authorization).toMatchObject({ step: 'device_code', failure: 'aborted' });
  expect((await poll(device.device_code)).json.error).toBe('access_denied');
});

test.each(['', 'WRNG-CODE', '"><script>'])('the code %j shows the form again', async (userCode) => {
  const page = await confirmDevice(service.client(), userCode);
  expect(bootOf(page).authorization).toMatchObject({ step: 'device_code', failure: 'unknown' });
});

test('neither code of a device is stored in readable form', async () => {
  const device = await beginDevice();
  const [row] = await stage.query(
    `select payload::text, client_id from oidc_records where kind = 'DeviceCode' order by created_at desc limit 1`,
  );
  expect(row.payload).not.toContain(device.device_code);
  expect(row.payload).not.toContain(device.user_code.replace('-', ''));
});
