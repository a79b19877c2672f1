import type { Page } from 'playwright';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { openHome } from '../cli/command.ts';
import { openTerminal } from '../cli/terminal.ts';
import { freshAddress } from '../support/sign-ins.ts';
import { openTestWebsite, type TestWebsite } from '../support/test-website.ts';
import { addAuthenticator, credentialsOf, type Device, openDevice } from './authenticator.ts';
import { isAccessibleInBothThemes } from './axe.ts';
import { evaluates, heading, requestEmail, signIn, text, useScene } from './scene.ts';

const scene = await useScene();
let market: TestWebsite;
beforeAll(async () => {
  market = await openTestWebsite(scene.service.url);
});
afterAll(() => market.close());

const welcomed = (page: Page, email: string) => heading(page, `Hello ${email}`);
const passkeysOf = (email: string) => scene.stage.query('select * from passkeys where email = $1 order by created_at', [email]);
const mailsTo = async (email: string) =>
  (await scene.stage.query("select count(*)::int as count from audit_log where email = $1 and action = 'sign_in_requested'", [email]))[0]
    .count;

/** Opens a sign-in page and waits until the service knows by a cookie that the device has an authenticator. */
async function openSignIn({ context, page }: Pick<Device, 'context' | 'page'>, url: string): Promise<void> {
  await page.goto(url);
  await expect.poll(async () => (await context.cookies()).some(({ name }) => name === 'passkey_ready')).toBe(true);
}

/** Signs in to the shop with the link of an email, up to the offer of a passkey. */
async function reachOffer(device: Device, email = freshAddress()): Promise<string> {
  await openSignIn(device, scene.shop.signInUrl('en'));
  await requestEmail(device.page, email);
  await device.page.goto((await scene.stage.mailbox.waitFor(email)).link);
  await heading(device.page, text('en', 'passkey_offer_title'));
  return email;
}

/** Signs in with an email and creates a passkey. */
async function createPasskey(device: Device, email?: string): Promise<string> {
  const address = await reachOffer(device, email);
  await device.page.getByRole('button', { name: text('en', 'passkey_create_button') }).click();
  await welcomed(device.page, address);
  return address;
}

describe('the offer of a passkey after a sign-in by email', () => {
  test('creates a passkey, tells its address, and goes on to the website', async () => {
    const device = await openDevice(scene);
    const email = await reachOffer(device);
    await isAccessibleInBothThemes(device.page);
    await device.page.getByRole('button', { name: text('en', 'passkey_create_button') }).press('Enter');
    await welcomed(device.page, email);
    const rows = await passkeysOf(email);
    expect(rows).toHaveLength(1);
    const [created] = await credentialsOf(device);
    expect(created.rpId).toBe('localhost');
    expect(Buffer.from(created.userHandle ?? '', 'base64')).toEqual(rows[0].user_handle);
    const notice = await scene.stage.mailbox.waitFor(email);
    expect(notice.subject).toBe('A passkey was added');
    expect(notice.text).toContain(`${scene.service.url}/passkeys`);
  });

  test('goes on without one after "Not now", and is not repeated in this browser', async () => {
    const device = await openDevice(scene);
    const email = await reachOffer(device);
    await device.page.getByRole('link', { name: text('en', 'passkey_later_button') }).click();
    await welcomed(device.page, email);
    await device.page.goto(scene.shop.signInUrl('en'));
    const other = freshAddress();
    await requestEmail(device.page, other);
    await device.page.goto((await scene.stage.mailbox.waitFor(other)).link);
    await welcomed(device.page, other);
    expect(await passkeysOf(email)).toEqual([]);
  });

  test('says after a reload that the person is signed in, with the way on to the website', async () => {
    const device = await openDevice(scene);
    const { page } = device;
    const email = await reachOffer(device);
    await scene.stage.query("update sign_in_attempts set consumed_at = consumed_at - interval '10 seconds' where email = $1", [email]);
    await page.reload();
    await heading(page, text('en', 'signed_in_title', { email }));
    await page.getByRole('link', { name: text('en', 'leaving_link_host', { host: 'localhost' }) }).click();
    const before = await mailsTo(email);
    await page.getByRole('button', { name: email }).first().click();
    await welcomed(page, email);
    expect(await mailsTo(email)).toBe(before);
  });

  test('goes on after it has expired, and is repeated at the next sign-in by email', async () => {
    const device = await openDevice(scene);
    const email = await reachOffer(device);
    // The challenge of another browser counts as one that has expired.
    await device.context.clearCookies({ name: 'passkey_browser' });
    await device.page.getByRole('button', { name: text('en', 'passkey_create_button') }).click();
    await welcomed(device.page, email);
    expect(await passkeysOf(email)).toEqual([]);
    await device.cdp.send('WebAuthn.clearCredentials', { authenticatorId: device.authenticatorId });
    await reachOffer(device);
  });

  test('goes on when the device refuses to create one', async () => {
    const device = await openDevice(scene);
    const email = await reachOffer(device);
    await device.cdp.send('WebAuthn.setUserVerified', { authenticatorId: device.authenticatorId, isUserVerified: false });
    await device.page.getByRole('button', { name: text('en', 'passkey_create_button') }).click();
    await welcomed(device.page, email);
    expect(await passkeysOf(email)).toEqual([]);
  });

  test('is made after a code, and not in a browser without an authenticator', async () => {
    const device = await openDevice(scene);
    const email = freshAddress();
    await openSignIn(device, scene.shop.signInUrl('lt'));
    await requestEmail(device.page, email, 'lt');
    await device.page.getByLabel(text('lt', 'code_label')).pressSequentially((await scene.stage.mailbox.waitFor(email)).code);
    await heading(device.page, text('lt', 'passkey_offer_title'));
    await device.page.getByRole('button', { name: text('lt', 'passkey_create_button') }).click();
    await welcomed(device.page, email);
    expect(await passkeysOf(email)).toHaveLength(1);

    const page = await (await scene.newBrowser()).newPage();
    await page.goto(scene.shop.signInUrl('en'));
    const other = freshAddress();
    await requestEmail(page, other);
    await page.goto((await scene.stage.mailbox.waitFor(other)).link);
    await welcomed(page, other);
  });
});

describe('a sign-in with a passkey', () => {
  test('needs no email at another website, and remembers the account', async () => {
    const device = await openDevice(scene);
    const email = await createPasskey(device);
    const before = await mailsTo(email);
    await device.page.goto(market.signInUrl('en'));
    await welcomed(device.page, email);
    expect(device.page.url().startsWith(`${market.url}/welcome`)).toBe(true);
    expect(await mailsTo(email)).toBe(before);
    const rows = await scene.stage.query("select action from audit_log where email = $1 and action = 'signed_in' and method = 'p'", [
      email,
    ]);
    expect(rows).toHaveLength(1);
    expect((await passkeysOf(email))[0].counter).toBe(String((await credentialsOf(device))[0].signCount));
  });

  test('does not sign in a typed address with the passkey of another one', async () => {
    const device = await openDevice(scene);
    const owner = await createPasskey(device);
    const typed = freshAddress('eve');
    await device.cdp.send('WebAuthn.setAutomaticPresenceSimulation', { authenticatorId: device.authenticatorId, enabled: false });
    await device.page.goto(market.signInUrl('en'));
    await device.page.getByLabel(text('en', 'email_label')).fill(typed);
    await device.cdp.send('WebAuthn.setAutomaticPresenceSimulation', { authenticatorId: device.authenticatorId, enabled: true });
    await device.page.getByRole('button', { name: text('en', 'passkey_button') }).click();
    await welcomed(device.page, owner);
    expect(await scene.stage.query('select 1 from tokens where email = $1', [typed])).toEqual([]);
  });

  test('works on a page that was open for longer than its challenge, which is replaced', async () => {
    const device = await openDevice(scene);
    const { page, cdp, authenticatorId } = device;
    const email = await createPasskey(device);
    await cdp.send('WebAuthn.setAutomaticPresenceSimulation', { authenticatorId, enabled: false });
    await page.clock.install();
    await page.goto(market.signInUrl('en'));
    const button = page.getByRole('button', { name: text('en', 'passkey_button') });
    await button.waitFor();
    const renewed = page.waitForResponse('**/api/auth/passkey/challenge');
    await page.clock.fastForward('04:30');
    const { challenge } = await (await renewed).json();
    await cdp.send('WebAuthn.setAutomaticPresenceSimulation', { authenticatorId, enabled: true });
    const sent = page.waitForRequest('**/api/auth/passkey');
    await button.click();
    const { clientDataJSON } = (await sent).postDataJSON().credential.response;
    expect(JSON.parse(Buffer.from(clientDataJSON, 'base64url').toString()).challenge).toBe(challenge);
    await welcomed(page, email);
  });

  test('is refused after the passkey was removed, which the page says', async () => {
    const device = await openDevice(scene);
    const email = await createPasskey(device);
    await scene.stage.query('delete from passkeys where email = $1', [email]);
    await device.page.goto(market.signInUrl('en'));
    await device.page.getByText(text('en', 'passkey_unknown')).waitFor();
    await requestEmail(device.page, email);
  });

  test('is refused for a copy of the passkey with an older counter, and the email still signs in', async () => {
    const device = await openDevice(scene);
    const email = await createPasskey(device);
    await device.page.goto(market.signInUrl('en'));
    await welcomed(device.page, email);
    const [original] = await credentialsOf(device);
    await device.cdp.send('WebAuthn.removeCredential', { authenticatorId: device.authenticatorId, credentialId: original.credentialId });
    await device.cdp.send('WebAuthn.addCredential', { authenticatorId: device.authenticatorId, credential: { ...original, signCount: 0 } });
    await device.page.goto(market.signInUrl('en'));
    await device.page.getByText(text('en', 'passkey_refused')).waitFor();
    const rows = await scene.stage.query("select 1 from audit_log where email = $1 and action = 'passkey_cloned'", [email]);
    expect(rows).toHaveLength(1);
    await requestEmail(device.page, email);
  });

  test('works in two tabs, each with its own challenge', async () => {
    const device = await openDevice(scene);
    const email = await createPasskey(device);
    const [credential] = await credentialsOf(device);
    const tab = await device.context.newPage();
    const other = await addAuthenticator(tab);
    await other.cdp.send('WebAuthn.addCredential', {
      authenticatorId: other.authenticatorId,
      credential: { ...credential, signCount: credential.signCount + 10 },
    });
    await device.page.goto(market.signInUrl('en'));
    await welcomed(device.page, email);
    await tab.goto(market.signInUrl('en'));
    await welcomed(tab, email);
  });

  test('opens the portal, where it was created after a sign-in with PKCE', async () => {
    const device = await openDevice(scene);
    const { page } = device;
    const email = freshAddress('dev');
    await openSignIn(device, `${scene.service.url}/auth?language=en`);
    await requestEmail(page, email, 'en', true);
    await page.goto((await scene.stage.mailbox.waitFor(email)).link);
    await heading(page, text('en', 'passkey_offer_title'));
    await page.getByRole('button', { name: text('en', 'passkey_create_button') }).click();
    await page.waitForURL('**/developer');
    await page.getByRole('button', { name: email }).waitFor();
    await device.context.clearCookies({ name: 'sid' });
    await page.goto(`${scene.service.url}/auth?language=en`);
    await page.waitForURL('**/developer');
    await page.getByRole('button', { name: email }).waitFor();
  });

  test('completes the login of the command line for its own address only', async () => {
    const home = await openHome(scene.service.url);
    const device = await openDevice(scene);
    const email = await createPasskey(device);
    const login = async (address: string) => {
      const terminal = openTerminal(home, ['login', '--email', address], { columns: 160 });
      await terminal.waitFor('Code:');
      await terminal.waitFor(/\/auth\?attempt=[\w-]{22}/);
      const [path] = /\/auth\?attempt=[\w-]{22}/.exec(terminal.text()) as RegExpExecArray;
      await device.page.goto(scene.service.url + path);
      await heading(device.page, text('en', 'passkey_program_title'));
      await device.page.getByRole('button', { name: text('en', 'passkey_button') }).click();
      return terminal;
    };
    const foreign = await login(freshAddress('eve'));
    await device.page.getByText(text('en', 'passkey_refused')).waitFor();
    foreign.type('\u001b');
    await foreign.exited;
    const terminal = await login(email);
    await device.page.waitForURL('http://127.0.0.1:*/callback?*');
    await terminal.waitFor(`Signed in as ${email}`);
    expect(await terminal.exited).toBe(0);
    await home.close();
  });
});

test('a page without passkeys makes no request for them', async () => {
  const page = await (await scene.newBrowser()).newPage();
  const calls: string[] = [];
  page.on('request', (request) => void calls.push(new URL(request.url()).pathname));
  await page.goto(scene.shop.signInUrl('en'));
  await requestEmail(page, freshAddress());
  expect(calls.filter((path) => path.includes('passkey'))).toEqual([]);
});

describe('the page of the passkeys', () => {
  const press = (page: Page, language: string, key: string) => page.getByRole('button', { name: text(language, key), exact: true }).click();

  /** Opens the page and signs in there by email. */
  async function openPage(page: Page, email: string, language: string): Promise<void> {
    await page.goto(`${scene.service.url}/passkeys?language=${language}`);
    await heading(page, text(language, 'passkeys_title'));
    await page.getByRole('link', { name: text(language, 'passkeys_sign_in_button'), exact: true }).click();
    await requestEmail(page, email, language, true);
    await page.goto((await scene.stage.mailbox.waitFor(email)).link);
  }

  /** Opens the page with an authenticator, after the sign-in whose offer of a passkey is declined. */
  async function openPageOn(device: Device, language: string): Promise<string> {
    const email = freshAddress();
    await openPage(device.page, email, language);
    await device.page.getByRole('link', { name: text(language, 'passkey_later_button') }).click();
    await device.page.getByText(text(language, 'passkeys_none_title')).waitFor();
    return email;
  }

  test('renames and removes a passkey, which the browser forgets, in the language of the visitor', async () => {
    const device = await openDevice(scene);
    const email = await createPasskey(device);
    expect((await scene.stage.mailbox.waitFor(email)).subject).toBe('A passkey was added');
    const page = await (await scene.newBrowser()).newPage();
    await openPage(page, email, 'lt');
    await heading(page, text('lt', 'passkeys_title'));
    await evaluates(page, 'document.documentElement.lang', 'lt');
    await page.getByText(text('lt', 'passkeys_unused')).waitFor();
    const [{ name }] = await passkeysOf(email);
    await page.getByRole('button', { name: text('lt', 'passkeys_rename_of', { name: String(name) }) }).click();
    const dialog = page.getByRole('dialog');
    await dialog.getByRole('textbox').fill(' ');
    await dialog.getByRole('button', { name: text('lt', 'passkeys_rename_button') }).click();
    await dialog.getByText(text('lt', 'passkeys_name_missing')).waitFor();
    await dialog.getByRole('textbox').fill('Mėlynas nešiojamasis');
    await dialog.getByRole('button', { name: text('lt', 'passkeys_rename_button') }).click();
    await page.getByText('Mėlynas nešiojamasis').waitFor();
    await isAccessibleInBothThemes(page);

    await page.getByLabel(text('lt', 'language_label')).selectOption('uk');
    await heading(page, text('uk', 'passkeys_title'));
    await page.reload();
    await heading(page, text('uk', 'passkeys_title'));
    await page.getByRole('button', { name: text('uk', 'passkeys_remove_of', { name: 'Mėlynas nešiojamasis' }) }).click();
    await isAccessibleInBothThemes(page);
    await dialog.getByRole('button', { name: text('uk', 'passkeys_remove_button') }).click();
    await page.getByText(text('uk', 'passkeys_none_title')).waitFor();
    await page.getByText(text('uk', 'passkeys_removed'), { exact: true }).waitFor();
    expect(await passkeysOf(email)).toEqual([]);

    await press(page, 'uk', 'oidc_logout_button');
    await page.getByText(text('uk', 'passkeys_sign_in_text')).waitFor();
    // Without a choice, the page has the language of the browser.
    const other = await (await scene.newBrowser()).newPage();
    await other.goto(`${scene.service.url}/passkeys`);
    await other.getByText(text('en', 'passkeys_sign_in_text')).waitFor();
  });

  test('adds a passkey, which then signs in at a website, after a cancelled try and one without a network', async () => {
    const device = await openDevice(scene);
    const { page, cdp, authenticatorId } = device;
    const email = await openPageOn(device, 'lv');
    await press(page, 'lv', 'passkeys_add_button');
    await cdp.send('WebAuthn.setUserVerified', { authenticatorId, isUserVerified: false });
    await press(page, 'lv', 'passkey_create_button');
    await page.getByRole('alert').getByText(text('lv', 'passkeys_cancelled')).waitFor();
    await isAccessibleInBothThemes(page);
    await cdp.send('WebAuthn.setUserVerified', { authenticatorId, isUserVerified: true });
    await page.route('**/api/auth/passkey/registration', (route) => route.abort('internetdisconnected'));
    await press(page, 'lv', 'passkey_create_button');
    await page.getByRole('alert').getByText(text('lv', 'error_offline')).waitFor();
    expect(await passkeysOf(email)).toEqual([]);
    await page.unrouteAll();
    await cdp.send('WebAuthn.clearCredentials', { authenticatorId });
    await press(page, 'lv', 'passkey_create_button');
    await page.getByText(text('lv', 'passkeys_added'), { exact: true }).waitFor();
    await page.getByText(text('lv', 'passkeys_unused')).waitFor();
    expect((await scene.stage.mailbox.waitFor(email)).subject).toBe('Pievienota piekļuves atslēga');

    await press(page, 'lv', 'passkeys_add_button');
    await press(page, 'lv', 'passkey_create_button');
    await page.getByRole('alert').getByText(text('lv', 'passkeys_duplicate')).waitFor();
    expect(await passkeysOf(email)).toHaveLength(1);

    await page.goto(market.signInUrl('en'));
    await welcomed(page, email);
    const rows = await scene.stage.query("select action from audit_log where email = $1 and action = 'signed_in' and method = 'p'", [
      email,
    ]);
    expect(rows).toHaveLength(1);
  });

  test('leads through a sign-in when the address was proven too long ago, and back', async () => {
    const device = await openDevice(scene);
    const { page } = device;
    const email = await openPageOn(device, 'ru');
    await scene.stage.query("update remembered_keys set expires_at = expires_at - interval '11 minutes' where email = $1", [email]);
    await press(page, 'ru', 'passkeys_add_button');
    await heading(page, text('ru', 'passkeys_proof_title'));
    await isAccessibleInBothThemes(page);
    await page.getByRole('link', { name: text('ru', 'passkeys_sign_in_button'), exact: true }).click();
    await expect.poll(() => page.getByLabel(text('ru', 'email_label')).inputValue()).toBe(email);
    await requestEmail(page, email, 'ru', true);
    await page.goto((await scene.stage.mailbox.waitFor(email)).link);
    await page
      .getByRole('dialog')
      .getByText(text('ru', 'passkeys_add_text', { email }))
      .waitFor();
    await press(page, 'ru', 'passkey_create_button');
    await page.getByText(text('ru', 'passkeys_added'), { exact: true }).waitFor();
    expect(await passkeysOf(email)).toHaveLength(1);
  });

  test('says when the browser has no passkeys, and when the address has too many', async () => {
    const device = await openDevice(scene);
    const email = await createPasskey(device);
    expect((await scene.stage.mailbox.waitFor(email)).subject).toBe('A passkey was added');
    await scene.stage.query(
      `insert into passkeys (id, credential_id, email, user_handle, public_key, counter, device_type, backed_up, transports, aaguid, name)
       select gen_random_uuid(), credential_id || n, email, user_handle, public_key, counter, device_type, backed_up, transports, aaguid, name
       from passkeys, generate_series(1, 19) n where email = $1`,
      [email],
    );
    const page = await (await scene.newBrowser()).newPage();
    await openPage(page, email, 'en');
    await press(page, 'en', 'passkeys_add_button');
    await page.getByText(text('en', 'passkeys_too_many', { count: '20' })).waitFor();
    await page.addInitScript('delete window.PublicKeyCredential');
    await page.reload();
    await press(page, 'en', 'passkeys_add_button');
    await page.getByText(text('en', 'passkeys_unsupported')).waitFor();
  });

  test('is a part of the settings of a developer', async () => {
    const device = await openDevice(scene);
    const email = freshAddress('dev');
    await signIn(scene, device.page, email);
    await device.page.goto(`${scene.service.url}/dashboard/settings/security`);
    await press(device.page, 'en', 'passkeys_add_button');
    await press(device.page, 'en', 'passkey_create_button');
    await device.page.getByText(text('en', 'passkeys_unused')).waitFor();
    expect(await passkeysOf(email)).toHaveLength(1);
  });
});
