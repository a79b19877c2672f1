import { describe, expect, test } from 'vitest';
import { freshAddress, freshDomain } from '../support/sign-ins.ts';
import { heading, requestEmail, signIn, signInToPortal, text, useScene } from './scene.ts';

const scene = await useScene();

const url = (path: string) => `${scene.service.url}${path}`;
const newPage = async () => (await scene.newBrowser()).newPage();

async function begin(language: string) {
  const [context, email] = [await scene.newBrowser(), freshAddress('dev')];
  const page = await context.newPage();
  await page.goto(url(`/auth?language=${language}`));
  await requestEmail(page, email, language, true);
  return { context, page, email, mail: await scene.stage.mailbox.waitFor(email) };
}

describe('a developer signs in to the portal', () => {
  test('by the link in the same tab', async () => {
    const language = 'lt';
    const { page, email, mail } = await begin(language);
    await page.goto(mail.link);
    await page.waitForURL(url('/developer'));
    await page.getByRole('button', { name: email }).waitFor();
    await page.getByText('Email Authentication Service').waitFor();
  });

  test('by the link in a new tab, which uses and deletes the copy in localStorage', async () => {
    const language = 'uk';
    const { context, page, email, mail } = await begin(language);
    const tab = await context.newPage();
    await tab.goto(mail.link);
    await tab.waitForURL(url('/developer'));
    await tab.getByRole('button', { name: email }).waitFor();
    await expect.poll(() => tab.evaluate('JSON.stringify({ ...localStorage })')).not.toMatch(/codeVerifier|code_verifier/);
    await heading(page, text(language, 'signed_in_title', { email }));
  });

  test('by the code, typed in the first window', async () => {
    const language = 'ru';
    const { page, email, mail } = await begin(language);
    await page.getByLabel(text(language, 'code_label')).fill(mail.code);
    await page.waitForURL(url('/developer'));
    await page.getByRole('button', { name: email }).waitFor();
  });

  test('by the code of the first email, after a request for another address was refused', async () => {
    const language = 'en';
    const { page, email, mail } = await begin(language);
    const refused = freshAddress('full');
    await scene.stage.query(
      `insert into rate_limits select kind || ' ' || $1, 100000, now() + interval '1 hour' from unnest(array['mailbox', 'reserve']) kind`,
      [refused],
    );
    await page.getByRole('link', { name: text(language, 'use_different_email') }).click();
    await page.getByLabel(text(language, 'email_label')).fill(refused);
    await page.getByRole('button', { name: text(language, 'send_magic_link_portal') }).click();
    await page
      .getByText(text(language, 'error_mailbox', { when: '' }).split('.')[0])
      .first()
      .waitFor();
    await page.goBack();
    await page.getByLabel(text(language, 'code_label')).fill(mail.code);
    await page.waitForURL(url('/developer'));
    await page.getByRole('button', { name: email }).waitFor();
  });

  test('but not by the link in another browser, after which the code still works', async () => {
    const language = 'lv';
    const { page, email, mail } = await begin(language);
    const other = await newPage();
    await other.goto(mail.link);
    await heading(other, text(language, 'oidc_link_title'));
    await other.getByText(text(language, 'callback_other_browser')).waitFor();
    await page.getByLabel(text(language, 'code_label')).fill(mail.code);
    await page.waitForURL(url('/developer'));
    await page.getByRole('button', { name: email }).waitFor();
  });

  test('but not with a wrong state', async () => {
    const language = 'lv';
    const { context, mail } = await begin(language);
    const link = new URL(mail.link);
    link.searchParams.set('state', 'x'.repeat(32));
    const tab = await context.newPage();
    await tab.goto(link.href);
    await heading(tab, text(language, 'callback_wrong_state'));
    await tab.goto(url('/developer'));
    await heading(tab, 'Not Logged In');
  });

  test.each([
    ['en', 'used', 'consumed_at = now()'],
    ['lt', 'used', 'consumed_at = now()'],
    ['ru', 'expired', "expires_at = now() - interval '1 second'"],
  ])('but not by a link that has ended, which leads back to the start (%s, %s)', async (language, state, change) => {
    const { page, context, email, mail } = await begin(language);
    await scene.stage.query(`update sign_in_attempts set ${change} where email = $1`, [email]);
    const tab = await context.newPage();
    await tab.goto(mail.link);
    await heading(tab, text(language, `link_${state}`));
    await tab.getByRole('link', { name: text(language, 'start_again') }).click();
    await heading(tab, text(language, 'portal_welcome'));
    await page.close();
  });

  test('but not when the exchange fails, which leads back to the start with a message', async () => {
    const { context, page, mail } = await begin('en');
    const tab = await context.newPage();
    await tab.route('**/api/auth/token', (route) => route.abort());
    await tab.goto(mail.link);
    await tab.getByText(text('en', 'callback_failed'), { exact: true }).waitFor();
    await heading(tab, text('en', 'portal_welcome'));
    await page.close();
  });

  test('and is redirected from / to /developer', async () => {
    const page = await newPage();
    await signIn(scene, page, freshAddress('dev'));
    await page.goto(url('/'));
    await page.waitForURL(url('/developer'));
  });

  test('with one click as a remembered developer, in Latvian', async () => {
    const [page, email] = [await newPage(), freshAddress('dev')];
    await signIn(scene, page, email);
    await page.goto(url('/auth?language=lv'));
    await heading(page, text('lv', 'signed_in_title', { email }));
    await page.getByRole('link', { name: text('lv', 'use_another_address') }).click();
    await page.getByRole('button', { name: email }).first().click();
    await page.waitForURL(url('/developer'));
    await page.getByRole('button', { name: email }).waitFor();
  });
});

test('logout ends the session and keeps the address without its key', async () => {
  const language = 'ru';
  const [page, email] = [await newPage(), freshAddress('dev')];
  await signInToPortal(scene, page, email);
  await page.getByRole('button', { name: email }).click();
  await page.getByText('Logout', { exact: true }).click();
  await page.waitForURL(url('/'));
  expect(await page.evaluate(async () => (await fetch('/api/user/me')).status)).toBe(401);
  await page.goto(url(`/auth?language=${language}`));
  await page.getByRole('button', { name: email }).first().click();
  await page.getByText(text(language, 'no_saved_login')).waitFor();
  await page.goto(url('/developer'));
  await heading(page, 'Not Logged In');
});

describe('a website', () => {
  test('is registered, and its page shows the three steps', async () => {
    const [page, domain, email] = [await newPage(), freshDomain(), freshAddress('owner')];
    await page.goto(url('/webservices/email-auth/register'));
    await page.getByRole('button', { name: 'Register Domain' }).click();
    await page.getByText('Domain is required').waitFor();
    await page.getByLabel('Domain').fill(domain);
    await page.getByLabel('Email Address').fill(email);
    await page.getByRole('button', { name: 'Register Domain' }).click();
    await page.getByText('Domain registered successfully').waitFor();
    await heading(page, 'Registration Successful!');
    expect(new URL(page.url()).pathname).toBe('/webservices/email-auth/register/success');
    expect(await page.locator('body').textContent()).toContain(domain);
    expect((await scene.stage.mailbox.waitFor(email)).text).toContain(domain);

    await page.goto(url('/webservices/email-auth/register'));
    await page.getByLabel('Domain').fill(domain);
    await page.getByLabel('Email Address').fill(freshAddress('rival'));
    await page.getByRole('button', { name: 'Register Domain' }).click();
    await page.getByText('This domain is already registered.').waitFor();
  });

  test('has a snippet that can be copied', async () => {
    const context = await scene.newBrowser();
    await context.grantPermissions(['clipboard-read', 'clipboard-write'], { origin: scene.service.url });
    const page = await context.newPage();
    await page.goto(url('/webservices/email-auth/register/success?domain=shop.example'));
    await page.getByText('On shop.example', { exact: true }).click();
    await page.getByText('SITE_URL=https://shop.example').first().waitFor();
    await page.getByRole('button', { name: 'Copy .env' }).click();
    await page.getByText('Copied to clipboard').waitFor();
    await expect.poll(() => page.evaluate('navigator.clipboard.readText()')).toContain('shop.example');
  });

  test('is added, changed and deleted under My Websites', async () => {
    const [page, first, second] = [await newPage(), freshDomain(), freshDomain()];
    await signInToPortal(scene, page, freshAddress('dev'));
    await page.getByRole('link', { name: /Email Authentication Service/ }).click();
    await heading(page, 'No Websites Added');
    await page.getByRole('button', { name: 'Add Your First Website' }).click();
    const dialog = page.getByRole('dialog');
    await dialog.getByRole('button', { name: 'Save' }).click();
    await dialog.getByText('Domain is required').waitFor();
    await dialog.getByLabel('Domain').fill('shop example');
    await dialog.getByRole('button', { name: 'Save' }).click();
    await dialog.getByRole('alert').first().waitFor();
    await dialog.getByLabel('Domain').fill(first);
    await dialog.getByRole('button', { name: 'Save' }).click();
    await page.getByText('Website added successfully').waitFor();
    await page.waitForURL(`**/dashboard/websites/${first}/setup`);
    await heading(page, first);
    await page.getByRole('tab', { name: 'auth.mjs' }).waitFor();
    await page.getByRole('link', { name: 'Websites' }).last().click();

    await page.getByRole('button', { name: `Edit ${first}` }).click();
    await dialog.getByLabel('Domain').fill(second);
    await dialog.getByRole('button', { name: 'Save' }).click();
    await dialog.getByText(`When the website moves, this ends at once for ${first}:`).waitFor();
    await dialog.getByRole('button', { name: 'Move website' }).click();
    await page.getByText('Website updated successfully').waitFor();
    await page.getByRole('rowheader', { name: second }).waitFor();

    await page.reload();
    await page.getByRole('button', { name: `Delete ${second}` }).click();
    await dialog.getByText('Are you sure you want to delete this website?').waitFor();
    await dialog.getByLabel(`Type ${second} to confirm`).fill(second);
    await dialog.getByRole('button', { name: 'Delete website' }).click();
    await heading(page, 'No Websites Added');
  });
});

test('an unknown address shows the 404 page', async () => {
  const page = await newPage();
  const response = await page.goto(url('/no-such-page'));
  expect(response?.status()).toBe(404);
  await page.getByText('404 Page Not Found').waitFor();
  await page.getByText('Did you forget to add the page to the router?').waitFor();
});
