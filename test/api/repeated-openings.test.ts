import { beforeAll, describe, expect, test } from 'vitest';
import { CLI_CLIENT_ID } from '../../contract/pkce.ts';
import type { Client, HttpResponse } from '../support/client.ts';
import { useService } from '../support/harness.ts';
import { addApplication, authorizationRequest, bootOf, requestInteractionEmail, visit } from '../support/oidc-driver.ts';
import {
  addWebsite,
  authorize,
  codeOf,
  confirmLink,
  exchange,
  freshAddress,
  openLink,
  requestEmail,
  signInDeveloper,
  tokenOf,
} from '../support/sign-ins.ts';

const { stage, service } = await useService();
let shop: string;
beforeAll(async () => {
  shop = await addWebsite(stage, service);
});

const verify = async (token: string) => (await service.client().get(`/api/verify-token?token=${token}`)).json;
const later = (email: string) =>
  stage.query("update sign_in_attempts set consumed_at = consumed_at - interval '10 seconds' where email = $1", [email]);

async function begin(client: Client = service.client(), url = `https://${shop}/welcome`) {
  const email = freshAddress();
  await requestEmail(client, email, url);
  return { client, email, mail: await stage.mailbox.waitFor(email) };
}

describe('the link of an email that is opened twice in its browser', () => {
  test('leads to the same token and key, of which nothing is stored twice', async () => {
    const { client, email, mail } = await begin();
    const before = new Map(client.cookies);
    const first = await client.get(mail.link);
    // The response to an aborted request may be lost with its cookies.
    client.cookies = before;
    const second = await client.get(mail.link);
    expect([second.status, second.headers.location]).toEqual([303, first.headers.location]);
    const keysOf = ({ setCookies }: HttpResponse) => setCookies.find((line) => line.startsWith('email_auth_key='));
    expect(keysOf(second)).toBe(keysOf(first));
    expect(await stage.query('select 1 from tokens where email = $1', [email])).toHaveLength(1);
    expect(await stage.query("select 1 from audit_log where email = $1 and action = 'signed_in'", [email])).toHaveLength(1);
    const token = tokenOf(String(second.headers.location));
    expect([await verify(token), await verify(token)]).toMatchObject([{ valid: true, email }, { reason: 'used' }]);
  });

  test('says that the person is signed in, with the way to the website, once the token was used', async () => {
    const { client, email, mail } = await begin();
    await verify(tokenOf(await openLink(client, mail)));
    for (const after of [async () => {}, later]) {
      await after(email);
      const page = await client.get(mail.link);
      expect(page.text).toContain('You are signed in');
      expect(bootOf(page).link).toEqual({ state: 'signed_in', email, again: `https://${shop}` });
    }
  });

  test('leads back to the sign-in page after 10 s, when the website has not verified the token', async () => {
    const { client, email, mail } = await begin();
    await openLink(client, mail);
    await later(email);
    const again = `/auth?${new URLSearchParams({ forward_url: `https://${shop}/welcome`, language: 'en' })}`;
    expect(bootOf(await client.get(mail.link)).link).toEqual({ state: 'signed_in', email, again });
    expect(bootOf(await client.get(again)).accounts).toMatchObject([{ email }]);
    expect(bootOf(await service.client().get(mail.link)).link?.state).toBe('used');
  });

  test('adds no passkey after 10 s, where the website accepts nothing else', async () => {
    const [client, email] = [service.client(), freshAddress()];
    await client.post('/api/auth/domain-auth', { email, forward_url: `https://${shop}/welcome`, require: 'passkey' });
    const { link } = await stage.mailbox.waitFor(email);
    for (const _ of ['opened', 'opened again']) expect(bootOf(await client.get(link)).addPasskey).toMatchObject({ email });
    await later(email);
    expect(bootOf(await client.get(link))).toMatchObject({ link: { state: 'used' } });
  });

  test('does not sign in another browser, nor the one that began after another one was confirmed', async () => {
    const { client, email, mail } = await begin();
    const other = service.client();
    const confirmed = await confirmLink(other, mail, email);
    expect(confirmed.status).toBe(200);
    expect(bootOf(await client.get(mail.link)).link?.state).toBe('used');
    expect(bootOf(await service.client().get(mail.link)).link?.state).toBe('used');
    expect((await other.get(mail.link)).headers.location).toBe(confirmed.json.redirectUrl);
  });

  test('does not sign in a browser that was signed out in between', async () => {
    const { client, mail } = await begin(service.client(), `${service.url}/developer`);
    expect(tokenOf(await openLink(client, mail))).not.toBe('');
    await client.post('/api/auth/logout');
    expect(bootOf(await client.get(mail.link)).link?.state).toBe('used');
  });

  test('leads to the same token of the portal, and to the portal once it was used', async () => {
    const { client, mail } = await begin(service.client(), `${service.url}/developer`);
    const location = await openLink(client, mail);
    expect(await openLink(client, mail)).toBe(location);
    expect((await client.post('/api/auth/token-login', { token: tokenOf(location) })).status).toBe(200);
  });
});

describe('the code of an email that is sent twice', () => {
  test('leads to the same token, and then to the page that says so', async () => {
    const { client, email, mail } = await begin();
    const enter = async () => (await client.post('/api/auth/email-code', { email, code: mail.code })).json;
    const { redirectUrl } = await enter();
    expect((await enter()).redirectUrl).toBe(redirectUrl);
    expect(await verify(tokenOf(redirectUrl))).toMatchObject({ valid: true, email, method: 'code' });
    const page = await client.get((await enter()).redirectUrl);
    expect(bootOf(page).link).toEqual({ state: 'signed_in', email, again: `https://${shop}` });
    await later(email);
    expect(await enter()).toMatchObject({ code: 'bad_code' });
  });

  test('counts no wrong code for another email of the browser', async () => {
    const { client, email, mail } = await begin();
    await client.post('/api/auth/email-code', { email, code: mail.code });
    await requestEmail(client, email, `https://blog.${shop}/`);
    expect((await client.post('/api/auth/email-code', { email, code: mail.code })).json.redirectUrl).toContain('token=');
    expect(await stage.query("select 1 from sign_in_steps where action = 'wrong_code' and email = $1", [email])).toEqual([]);
  });

  test('by a form leads to the same page', async () => {
    const { client, email, mail } = await begin();
    const query = `?${new URLSearchParams({ forward_url: `https://${shop}/welcome`, language: 'en' })}`;
    const send = () => client.form(`/auth/code${query}`, { email, code: `${mail.code} is your code` });
    const leaving = bootOf(await send()).leaving?.url ?? '';
    expect(bootOf(await send()).leaving?.url).toBe(leaving);
    await verify(tokenOf(leaving));
    const third = await send();
    expect(third.status).toBe(303);
    expect((await client.get(String(third.headers.location))).text).toContain('You are signed in');
  });

  test('is not accepted in another browser', async () => {
    const { client, email, mail } = await begin();
    await client.post('/api/auth/email-code', { email, code: mail.code });
    const other = service.client();
    other.cookies = new Map([...client.cookies].filter(([name]) => name === 'attempt'));
    expect((await other.post('/api/auth/email-code', { email, code: mail.code })).status).toBe(400);
  });
});

describe('the address of a link that is sent twice', () => {
  test('leads to the same token in a browser that had no cookies before the page', async () => {
    const { email, mail } = await begin();
    const other = service.client();
    expect(bootOf(await other.get(mail.link)).link?.state).toBe('open');
    const before = new Map(other.cookies);
    const first = await confirmLink(other, mail, email);
    other.cookies = before;
    expect((await confirmLink(other, mail, email)).json.redirectUrl).toBe(first.json.redirectUrl);
    expect((await confirmLink(other, mail, freshAddress())).json.code).toBe('bad_link');
    await verify(tokenOf(first.json.redirectUrl));
    expect((await confirmLink(other, mail, email)).json.redirectUrl).toBe(mail.link);
    expect((await other.get(mail.link)).text).toContain('You are signed in');
  });
});

test('the link to an application leads to the same token twice, and then to the application', async () => {
  const application = await addApplication(await signInDeveloper(stage, service));
  const client = service.client();
  const { interaction } = await visit(client, (await authorizationRequest(application)).url);
  const email = freshAddress();
  expect((await requestInteractionEmail(client, interaction, email)).status).toBe(200);
  const mail = await stage.mailbox.waitFor(email);
  const location = await openLink(client, mail);
  expect(await openLink(client, mail)).toBe(location);
  await visit(client, location.slice(service.url.length));
  const { origin } = new URL(application.redirectUri);
  expect(bootOf(await client.get(mail.link)).link).toEqual({ state: 'signed_in', email, again: origin });
});

test('the link to the portal leads on in the browser whose session it opened, and in no other one', async () => {
  const client = service.client();
  const { email, pkce } = await authorize(client);
  const mail = await stage.mailbox.waitFor(email);
  expect((await exchange(client, codeOf(mail), pkce.codeVerifier)).status).toBe(200);
  expect(bootOf(await client.get(mail.link)).link).toEqual({ state: 'signed_in', email, again: '/developer' });
  expect(bootOf(await service.client().get(mail.link)).link?.state).toBe('used');
});

test('the link of a program says for 10 s that the program is signed in', async () => {
  const client = service.client();
  const redirect_uri = 'http://127.0.0.1:9/callback';
  const { email, pkce } = await authorize(client, freshAddress('dev'), { client_id: CLI_CLIENT_ID, redirect_uri });
  const mail = await stage.mailbox.waitFor(email);
  const code = new URL(mail.link).searchParams.get('t');
  const body = { code, code_verifier: pkce.codeVerifier, client_id: CLI_CLIENT_ID };
  expect((await client.post('/api/auth/token', body)).status).toBe(200);
  const browser = service.client();
  // Any browser may open this page.
  expect(bootOf(await browser.get(mail.link)).link).toEqual({ state: 'signed_in', email: 'd•••@mail.example', again: null });
  await later(email);
  expect(bootOf(await browser.get(mail.link)).link?.state).toBe('used');
});
