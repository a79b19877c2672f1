import type { BrowserContext, Page } from 'playwright';
import { beforeAll, expect, test } from 'vitest';
import { freshAddress } from '../support/sign-ins.ts';
import { emailOf, openRelyingParty, type RelyingParty } from './relying-party.ts';
import { evaluates, heading, requestEmail, text, useScene } from './scene.ts';

const scene = await useScene();
let party: RelyingParty;
beforeAll(async () => {
  party = await openRelyingParty(scene);
});

const mailFor = (email: string) => scene.stage.mailbox.waitFor(email);
const button = (page: Page, key: string, language = 'en') => page.getByRole('button', { name: text(language, key), exact: true });
const consentFor = (email: string, language = 'en') => text(language, 'oidc_consent_title', { email, host: 'localhost' });

/** Signs a new person in to the application and allows it. */
async function signIn(context: BrowserContext) {
  const [page, email] = [await context.newPage(), freshAddress()];
  await page.goto(await party.requestUrl());
  await requestEmail(page, email);
  await page.goto((await mailFor(email)).link);
  await heading(page, consentFor(email));
  await button(page, 'oidc_continue').click();
  const code = (await party.returned(page)).get('code');
  return { page, email, code };
}

test('signs a person in to a confidential application after consent, which is remembered', async () => {
  const { page, email, code } = await signIn(await scene.newBrowser());
  expect(emailOf(await party.exchange(code))).toBe(email);
  await page.goto(await party.requestUrl());
  expect(emailOf(await party.exchange((await party.returned(page)).get('code')))).toBe(email);
});

test('shows name and host of the application, and what it requests in words', async () => {
  const [page, email] = [await (await scene.newBrowser()).newPage(), freshAddress()];
  await page.goto(await party.requestUrl({ scope: 'openid email profile', ui_locales: 'lv-LV en' }));
  await heading(page, text('lv', 'welcome'));
  await page.getByText('Team notes', { exact: true }).waitFor();
  await page.getByText('localhost', { exact: true }).waitFor();
  await requestEmail(page, email, 'lv');
  await page.goto((await mailFor(email)).link);
  await heading(page, consentFor(email, 'lv'));
  const scopes = ['openid', 'email', 'profile'].map((scope) => text('lv', `oidc_scope_${scope}`));
  expect(await page.getByRole('main').getByRole('listitem').allTextContents()).toEqual(scopes);
});

test('is completed by keyboard, with the code in the first window while the link is open in another browser', async () => {
  const [page, email] = [await (await scene.newBrowser()).newPage(), freshAddress()];
  await page.goto(await party.requestUrl());
  await evaluates(page, 'document.activeElement.name', 'email');
  await page.keyboard.type(email);
  await page.keyboard.press('Enter');
  await heading(page, text('en', 'check_email'));
  await evaluates(page, 'document.activeElement.name', 'code');
  const { link, code } = await mailFor(email);
  const other = await (await scene.newBrowser()).newPage();
  await other.goto(link);
  await heading(other, text('en', 'oidc_link_title'));
  expect(await other.getByRole('textbox').count()).toBe(0);
  await page.keyboard.type(code);
  await heading(page, consentFor(email));
  const allow = button(page, 'oidc_continue');
  while ((await allow.and(page.locator(':focus')).count()) === 0) await page.keyboard.press('Tab');
  await page.keyboard.press('Enter');
  expect(emailOf(await party.exchange((await party.returned(page)).get('code')))).toBe(email);
});

test('returns access_denied after Cancel, and asks again at the next request', async () => {
  const [page, email] = [await (await scene.newBrowser()).newPage(), freshAddress()];
  await page.goto(await party.requestUrl());
  await requestEmail(page, email);
  await page.goto((await mailFor(email)).link);
  await heading(page, consentFor(email));
  await button(page, 'cancel').click();
  expect((await party.returned(page)).get('error')).toBe('access_denied');
  await page.goto(await party.requestUrl());
  await heading(page, consentFor(email));
});

test('signs a remembered account in by a click, and offers the choice of account that the application requests', async () => {
  const context = await scene.newBrowser();
  const { page, email } = await signIn(context);
  await page.goto(await party.requestUrl({ prompt: 'select_account' }));
  await heading(page, text('en', 'oidc_choose_title'));
  expect(await page.getByRole('textbox').count()).toBe(0);
  await button(page, 'oidc_other_address').click();
  await evaluates(page, 'document.activeElement.name', 'email');
  await page.reload();
  await page.getByRole('button', { name: email, exact: false }).first().click();
  expect((await party.returned(page)).get('code')).toBeTruthy();
});

test('requires an email when the application asks for a new sign-in: a remembered account fills in its address', async () => {
  const context = await scene.newBrowser();
  const { page, email } = await signIn(context);
  await page.goto(await party.requestUrl({ prompt: 'login' }));
  await page.getByRole('button', { name: email, exact: false }).first().click();
  await evaluates(page, 'document.activeElement.value', email);
  await page.keyboard.press('Enter');
  await heading(page, text('en', 'check_email'));
});

test('continues as somebody else from the question for consent', async () => {
  const [page, email, second] = [await (await scene.newBrowser()).newPage(), freshAddress(), freshAddress('bob')];
  await page.goto(await party.requestUrl());
  await requestEmail(page, email);
  await page.goto((await mailFor(email)).link);
  await heading(page, consentFor(email));
  await button(page, 'oidc_other_address').click();
  await heading(page, text('en', 'oidc_choose_title'));
  await button(page, 'oidc_other_address').click();
  await requestEmail(page, second);
  await page.goto((await mailFor(second)).link);
  await heading(page, consentFor(second));
  await button(page, 'oidc_continue').click();
  expect(emailOf(await party.exchange((await party.returned(page)).get('code')))).toBe(second);
});

test('reports a request that was decided in another tab, and one that was answered before a step back', async () => {
  const context = await scene.newBrowser();
  const [page, email] = [await context.newPage(), freshAddress()];
  await page.goto(await party.requestUrl());
  await requestEmail(page, email);
  await page.goto((await mailFor(email)).link);
  await heading(page, consentFor(email));
  const second = await context.newPage();
  await second.goto(page.url());
  await heading(second, consentFor(email));
  await button(page, 'oidc_continue').click();
  await party.returned(page);
  await button(second, 'oidc_continue').click();
  await heading(second, text('en', 'oidc_expired_title'));
  await page.goBack();
  await heading(page, text('en', 'oidc_expired_title'));
});

test('explains a request that cannot return to its application, and does not redirect', async () => {
  const language = 'uk';
  const page = await (await scene.newBrowser()).newPage();
  await page.goto(await party.requestUrl({ client_id: 'app_unknown', language }));
  await heading(page, text(language, 'oidc_error_title'));
  await page.getByText(text(language, 'oidc_fix_client')).waitFor();
  await page.goto(await party.requestUrl({ redirect_uri: 'https://evil.example/callback', language }));
  await heading(page, text(language, 'oidc_error_title'));
  await page.getByText(text(language, 'oidc_fix_redirect')).waitFor();
  expect(new URL(page.url()).pathname).toBe('/oauth/authorize');
});

test('requests nothing twice when the buttons are clicked twice on a slow network', async () => {
  const [page, email] = [await (await scene.newBrowser()).newPage(), freshAddress()];
  let decisions = 0;
  await page.route('**/decision', async (route) => {
    decisions += 1;
    await button(page, 'oidc_continue').click({ force: true });
    await route.continue();
  });
  await page.goto(await party.requestUrl());
  await requestEmail(page, email);
  await page.goto((await mailFor(email)).link);
  await button(page, 'oidc_continue').dblclick();
  await party.returned(page);
  expect(decisions).toBe(1);
});
