import type { Page } from 'playwright';
import { describe, expect, test } from 'vitest';
import { freshAddress } from '../support/sign-ins.ts';
import { openDevice } from './authenticator.ts';
import { isAccessible } from './axe.ts';
import { heading, requestEmail, text, useScene } from './scene.ts';

const scene = await useScene();

const mailFor = (email: string) => scene.stage.mailbox.waitFor(email);

/** Waits until the website has welcomed the visitor, and returns the method that it was told. */
async function methodOf(page: Page, email: string): Promise<string | null> {
  await heading(page, `Hello ${email}`);
  return page.locator('#method').textContent();
}

/** Makes what was proven older, as time does. */
const age = (email: string) =>
  scene.stage.query("update remembered_keys set expires_at = expires_at - interval '2 days' where email = $1", [email]);

const conditionsIn = (page: Page) => {
  const { searchParams } = new URL(page.url());
  return { max_age: searchParams.get('max_age'), require: searchParams.get('require') };
};

describe('a website with max_age', () => {
  test('gets a new email from an account that was proven before, and a click from one that was proven since', async () => {
    const page = await (await scene.newBrowser()).newPage();
    const email = freshAddress();
    await page.goto(scene.shop.signInUrl('en'));
    await requestEmail(page, email);
    await page.goto((await mailFor(email)).link);
    expect(await methodOf(page, email)).toBe('link');
    await page.goto(scene.shop.signInUrl('en', { max_age: '3600' }));
    await page.getByRole('button', { name: email }).first().click();
    expect(await methodOf(page, email)).toBe('remembered');

    await age(email);
    await page.goto(scene.shop.signInUrl('en', { max_age: '3600' }));
    const account = page.getByRole('button', { name: email }).first();
    expect(await account.textContent()).toContain(text('en', 'needs_new_proof'));
    await account.click();
    await expect.poll(() => page.getByLabel(text('en', 'email_label')).inputValue()).toBe(email);
    await page.getByRole('button', { name: text('en', 'send_magic_link') }).click();
    await heading(page, text('en', 'check_email'));
    expect(conditionsIn(page)).toEqual({ max_age: '3600', require: null });
    await page.reload();
    expect(conditionsIn(page)).toEqual({ max_age: '3600', require: null });
    await page.goto((await mailFor(email)).link);
    expect(await methodOf(page, email)).toBe('link');
  });

  test('is told so when an account gets too old on an open page', async () => {
    const page = await (await scene.newBrowser()).newPage();
    const email = freshAddress();
    await page.goto(scene.shop.signInUrl('lt'));
    await requestEmail(page, email, 'lt');
    await page.goto((await mailFor(email)).link);
    await page.goto(scene.shop.signInUrl('lt', { max_age: '3600' }));
    await age(email);
    await page.getByRole('button', { name: email }).first().click();
    await page.getByText(text('lt', 'sign_in_too_old')).waitFor();
    await expect.poll(() => page.getByLabel(text('lt', 'email_label')).inputValue()).toBe(email);
  });
});

describe('a website that accepts only a passkey', () => {
  test('lets a visitor without one create it after an email, and use it from then on', async () => {
    const language = 'lv';
    const device = await openDevice(scene);
    const { page } = device;
    const email = freshAddress();
    await page.goto(scene.shop.signInUrl(language, { require: 'passkey' }));
    await page.getByText(text(language, 'passkey_only_text')).waitFor();
    await isAccessible(page);
    await requestEmail(page, email, language);
    await page.reload();
    expect(conditionsIn(page).require).toBe('passkey');
    await page.goto((await mailFor(email)).link);
    await heading(page, text(language, 'passkey_required_title'));
    await isAccessible(page);
    await page.getByRole('button', { name: text(language, 'passkey_create_button') }).click();
    expect(await methodOf(page, email)).toBe('passkey');
    expect((await mailFor(email)).text).toContain('/passkeys');

    await device.cdp.send('WebAuthn.setAutomaticPresenceSimulation', { authenticatorId: device.authenticatorId, enabled: false });
    await page.goto(scene.shop.signInUrl(language, { require: 'passkey' }));
    await page.getByRole('heading', { name: text(language, 'previous_emails') }).waitFor();
    await device.cdp.send('WebAuthn.setAutomaticPresenceSimulation', { authenticatorId: device.authenticatorId, enabled: true });
    await page.getByRole('button', { name: text(language, 'passkey_button') }).click();
    expect(await methodOf(page, email)).toBe('passkey');
  });

  test('a code leads there too; a refusal of the device is explained, and the next try signs in', async () => {
    const device = await openDevice(scene);
    const { page, cdp, authenticatorId } = device;
    const email = freshAddress();
    await page.goto(scene.shop.signInUrl('ru', { require: 'passkey' }));
    await requestEmail(page, email, 'ru');
    await page.getByLabel(text('ru', 'code_label')).pressSequentially((await mailFor(email)).code);
    await heading(page, text('ru', 'passkey_required_title'));
    await cdp.send('WebAuthn.setUserVerified', { authenticatorId, isUserVerified: false });
    await page.getByRole('button', { name: text('ru', 'passkey_create_button') }).click();
    await page.getByText(text('ru', 'passkey_not_created')).waitFor();
    expect(await scene.stage.query('select 1 from tokens where email = $1', [email])).toEqual([]);
    await cdp.send('WebAuthn.setUserVerified', { authenticatorId, isUserVerified: true });
    await page.getByRole('button', { name: text('ru', 'passkey_create_button') }).click();
    expect(await methodOf(page, email)).toBe('passkey');
  });

  test('the link in another browser creates the passkey there, after the address was entered', async () => {
    const page = await (await scene.newBrowser()).newPage();
    const email = freshAddress();
    await page.goto(scene.shop.signInUrl('uk', { require: 'passkey' }));
    await requestEmail(page, email, 'uk');
    const phone = await openDevice(scene);
    await phone.page.goto((await mailFor(email)).link);
    await heading(phone.page, text('uk', 'confirm_title'));
    await phone.page.getByLabel(text('uk', 'email_label')).fill(email);
    await phone.page.getByRole('button', { name: text('uk', 'confirm_button', { host: 'localhost' }) }).click();
    await heading(phone.page, text('uk', 'passkey_required_title'));
    await phone.page.getByRole('button', { name: text('uk', 'passkey_create_button') }).click();
    expect(await methodOf(phone.page, email)).toBe('passkey');
  });

  test('a browser without passkeys, and one without a script, explain what they lack', async () => {
    const context = await scene.newBrowser();
    await context.addInitScript('delete window.PublicKeyCredential');
    const page = await context.newPage();
    await page.goto(scene.shop.signInUrl('lt', { require: 'passkey' }));
    await page.getByText(text('lt', 'passkey_unsupported')).waitFor();
    expect(await page.getByRole('button', { name: text('lt', 'passkey_button') }).count()).toBe(0);

    const plain = await (await scene.newBrowser({ script: false })).newPage();
    const email = freshAddress();
    await plain.goto(scene.shop.signInUrl('lt', { require: 'passkey' }));
    await plain.getByText(text('lt', 'passkey_needs_script')).waitFor();
    await plain.getByLabel(text('lt', 'email_label')).fill(email);
    await plain.getByRole('button', { name: text('lt', 'send_magic_link') }).click();
    await plain.getByLabel(text('lt', 'code_label')).fill((await mailFor(email)).code);
    await plain.getByLabel(text('lt', 'code_label')).press('Enter');
    await heading(plain, text('lt', 'passkey_required_title'));
    await plain.getByText(text('lt', 'passkey_needs_script')).waitFor();
    await plain.getByRole('link', { name: text('lt', 'start_again') }).click();
    await plain.getByText(text('lt', 'passkey_only_text')).waitFor();
    expect(conditionsIn(plain).require).toBe('passkey');
  });
});
