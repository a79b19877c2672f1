import type { Page } from 'playwright';
import { beforeAll, expect, test } from 'vitest';
import { freshAddress } from '../support/sign-ins.ts';
import { openDevice } from './authenticator.ts';
import { openRelyingParty, type RelyingParty } from './relying-party.ts';
import { evaluates, heading, requestEmail, text, useScene } from './scene.ts';

const scene = await useScene();
let party: RelyingParty;
beforeAll(async () => {
  party = await openRelyingParty(scene);
});

const button = (page: Page, key: string, language = 'en') => page.getByRole('button', { name: text(language, key), exact: true });

/** Begins the device flow (RFC 8628 §3.1). Returns the codes and a function that requests the tokens, as the device does. */
async function beginOnDevice() {
  const { json } = await party.post('/oauth/device/authorize', { client_id: party.clientId, scope: 'openid email' });
  const { device_code } = json;
  const poll = () => party.post('/oauth/token', { grant_type: 'urn:ietf:params:oauth:grant-type:device_code', device_code });
  return {
    userCode: json.user_code as string,
    uri: json.verification_uri as string,
    complete: json.verification_uri_complete as string,
    poll,
  };
}

test('connects a device by the code that it shows, after a sign-in and consent', async () => {
  const language = 'ru';
  const { userCode, uri, poll } = await beginOnDevice();
  const [page, email] = [await (await scene.newBrowser()).newPage(), freshAddress()];
  await page.goto(uri);
  await page.getByLabel(text('en', 'language_label')).selectOption(language);
  await heading(page, text(language, 'oidc_device_title'));
  const field = page.getByLabel(text(language, 'oidc_device_label'));
  await field.fill('wrongcode');
  await page.keyboard.press('Enter');
  await page.getByRole('alert').getByText(text(language, 'oidc_device_wrong')).waitFor();
  await evaluates(page, 'document.activeElement.name', 'user_code');
  await field.fill(userCode.toLowerCase());
  await button(page, 'oidc_continue', language).click();
  await heading(page, text(language, 'oidc_device_confirm_title'));
  await page.getByText(userCode, { exact: true }).waitFor();
  expect((await poll()).json.error).toBe('authorization_pending');
  await button(page, 'oidc_device_yes', language).click();
  await requestEmail(page, email, language);
  await page.goto((await scene.stage.mailbox.waitFor(email)).link);
  await page.getByRole('heading', { name: email }).waitFor();
  await button(page, 'oidc_continue', language).click();
  await heading(page, text(language, 'oidc_device_done_title'));
  await expect.poll(async () => (await poll()).status).toBe(200);
});

test('connects a program on a machine without a browser with a passkey, on another device and without an email', async () => {
  const device = await openDevice(scene);
  const { page, cdp, authenticatorId } = device;
  const email = freshAddress();
  await page.goto(scene.shop.signInUrl('en', { require: 'passkey' }));
  await requestEmail(page, email);
  await page.goto((await scene.stage.mailbox.waitFor(email)).link);
  await button(page, 'passkey_create_button').click();
  await heading(page, `Hello ${email}`);
  const emails = "select 1 from audit_log where email = $1 and action = 'sign_in_requested'";
  const before = (await scene.stage.query(emails, [email])).length;

  // The program prints the address and the code; nothing on its machine opens a page.
  const { userCode, complete, poll } = await beginOnDevice();
  await cdp.send('WebAuthn.setAutomaticPresenceSimulation', { authenticatorId, enabled: false });
  await page.goto(complete);
  await page.getByText(userCode, { exact: true }).waitFor();
  await button(page, 'oidc_device_yes').click();
  await page.getByLabel(text('en', 'email_label')).waitFor();
  expect((await poll()).json.error).toBe('authorization_pending');
  await cdp.send('WebAuthn.setAutomaticPresenceSimulation', { authenticatorId, enabled: true });
  await button(page, 'passkey_button').click();
  await page.getByRole('heading', { name: email }).waitFor();
  await button(page, 'oidc_continue').click();
  await heading(page, text('en', 'oidc_device_done_title'));
  let tokens = await poll();
  const polled = async () => {
    if (tokens.status !== 200) tokens = await poll();
    return tokens.status;
  };
  await expect.poll(polled).toBe(200);
  const claims = JSON.parse(Buffer.from(tokens.json.id_token.split('.')[1], 'base64url').toString());
  expect(claims).toMatchObject({ email, amr: expect.arrayContaining(['user']) });
  expect(claims.amr.some((method: string) => ['hwk', 'swk'].includes(method))).toBe(true);
  expect(await scene.stage.query(emails, [email])).toHaveLength(before);
});

test('refuses a device with Cancel, by keyboard, on the page that the link of the device opens', async () => {
  const { userCode, complete, poll } = await beginOnDevice();
  const page = await (await scene.newBrowser()).newPage();
  await page.goto(complete);
  await heading(page, text('en', 'oidc_device_confirm_title'));
  await page.getByText(userCode, { exact: true }).waitFor();
  const cancel = button(page, 'cancel');
  while ((await cancel.and(page.locator(':focus')).count()) === 0) await page.keyboard.press('Tab');
  await page.keyboard.press('Enter');
  await heading(page, text('en', 'oidc_device_cancelled_title'));
  expect((await poll()).json.error).toBe('access_denied');
});

test('asks for the code of the device again when none was entered', async () => {
  const page = await (await scene.newBrowser()).newPage();
  await page.goto(`${scene.service.url}/oauth/device`);
  await button(page, 'oidc_continue').click();
  await page.getByRole('alert').getByText(text('en', 'oidc_device_wrong')).waitFor();
  await evaluates(page, 'document.activeElement.name', 'user_code');
  expect(await page.getByLabel(text('en', 'oidc_device_label')).getAttribute('aria-invalid')).toBe('true');
});
