import type { Page } from 'playwright';
import { describe, expect, test } from 'vitest';
import { begin as beginAuthorization } from '../support/oidc-client.ts';
import { freshAddress, signInDeveloper, tokenOf } from '../support/sign-ins.ts';
import { heading, requestEmail, text, useScene } from './scene.ts';

const scene = await useScene();

const mailFor = (email: string) => scene.stage.mailbox.waitFor(email);
const welcomed = (page: Page, email: string) => heading(page, `Hello ${email}`);
const wrong = (code: string) => String((Number(code) + 1) % 1_000_000).padStart(6, '0');
const newPage = async () => (await scene.newBrowser({ script: false })).newPage();

/** Opens the shop's sign-in page in a new browser without scripts and proceeds to step 2. */
async function begin(language = 'en') {
  const [context, email] = [await scene.newBrowser({ script: false }), freshAddress()];
  const page = await context.newPage();
  await page.goto(scene.shop.signInUrl(language));
  await requestEmail(page, email, language);
  return { context, page, email, mail: await mailFor(email) };
}

async function enterCode(page: Page, code: string, language = 'en') {
  await page.getByLabel(text(language, 'code_label')).fill(code);
  await page.getByRole('button', { name: text(language, 'code_submit') }).click();
}

describe('without a script, a visitor signs in', () => {
  test('by the link, in the same browser', async () => {
    const language = 'lt';
    const { page, email, mail } = await begin(language);
    expect(new URL(page.url()).searchParams.get('step')).toBe('code');
    await page.goto(mail.link);
    await welcomed(page, email);
    expect(page.url().startsWith(`${scene.shop.url}/welcome?from=shop&token=`)).toBe(true);
    expect(await page.locator('#referrer').textContent()).toBe('no referrer');
  });

  test('by the code, after a wrong one', async () => {
    const language = 'uk';
    const { page, email, mail } = await begin(language);
    await enterCode(page, wrong(mail.code), language);
    await page.getByText(text(language, 'code_wrong')).waitFor();
    await page.getByText(email).first().waitFor();
    await enterCode(page, mail.code, language);
    await welcomed(page, email);
    expect(await page.locator('#referrer').textContent()).toBe('no referrer');
  });

  test('by the code of a second email', async () => {
    const language = 'ru';
    const { page, email } = await begin(language);
    await page.getByRole('button', { name: text(language, 'resend'), exact: true }).click();
    await heading(page, text(language, 'check_email'));
    const { code } = await mailFor(email);
    await enterCode(page, code, language);
    await welcomed(page, email);
  });

  test('after an address that was wrong, in a language that was chosen on the page', async () => {
    const [page, email] = [await newPage(), freshAddress()];
    await page.goto(scene.shop.signInUrl('en'));
    await page.getByLabel(text('en', 'language_label')).selectOption('lv');
    await page.getByRole('button', { name: text('en', 'language_apply') }).click();
    await page.getByLabel(text('lv', 'email_label')).fill('ann@nowhere');
    await page.getByRole('button', { name: text('lv', 'send_magic_link') }).click();
    await page.getByText(text('lv', 'error_email')).waitFor();
    expect(await page.getByLabel(text('lv', 'email_label')).inputValue()).toBe('ann@nowhere');
    await requestEmail(page, email, 'lv');
    await enterCode(page, (await mailFor(email)).code, 'lv');
    await welcomed(page, email);
  });

  test('by the link in another browser, after a wrong address; the first one can send a new code', async () => {
    const { page, email, mail } = await begin();
    const other = await newPage();
    await other.goto(mail.link);
    const confirm = async (address: string) => {
      await other.getByLabel(text('en', 'email_label')).fill(address);
      await other.getByRole('button', { name: text('en', 'confirm_button', { host: 'localhost' }) }).click();
    };
    await confirm('eve@mail.example');
    await other.getByText(text('en', 'confirm_wrong_email')).waitFor();
    await confirm(email);
    await welcomed(other, email);
    await page.reload();
    await page.getByText(text('en', 'opened_elsewhere_title')).waitFor();
    await page.getByRole('button', { name: text('en', 'send_code_here') }).click();
    await enterCode(page, (await mailFor(email)).code);
    await welcomed(page, email);
  });

  test('again as a remembered account, and removes it', async () => {
    const { page, email, mail } = await begin();
    await page.goto(mail.link);
    await welcomed(page, email);
    await page.goto(scene.shop.signInUrl());
    await page.getByRole('button', { name: email }).first().click();
    await welcomed(page, email);
    await page.goto(scene.shop.signInUrl());
    await page.getByRole('button', { name: text('en', 'remove_account', { email }) }).click();
    await heading(page, text('en', 'welcome'));
    expect(await page.getByRole('button', { name: email }).count()).toBe(0);
  });
});

test('without a script, step 2 survives a reload, the back button and a second tab', async () => {
  const { context, page, email } = await begin();
  await page.reload();
  await heading(page, text('en', 'check_email'));
  const tab = await context.newPage();
  await tab.goto(page.url());
  await tab.getByText(email).first().waitFor();
  await page.goBack();
  expect(await page.getByLabel(text('en', 'email_label')).inputValue()).toBe(email);
  await page.goto(scene.shop.signInUrl());
  await page.getByRole('link', { name: text('en', 'enter_code_sent', { email }) }).click();
  await heading(page, text('en', 'check_email'));
  await page.getByRole('link', { name: text('en', 'use_different_email') }).click();
  await heading(page, text('en', 'welcome'));
});

test('without a script, a developer reaches the portal with a token of the portal', async () => {
  const [page, email] = [await newPage(), freshAddress('dev')];
  await page.goto(`${scene.service.url}/auth`);
  await requestEmail(page, email, 'en', true);
  await enterCode(page, (await mailFor(email)).code);
  await page.waitForURL(/\/developer\?token=/);
  const login = await page.request.post(`${scene.service.url}/api/auth/token-login`, { data: { token: tokenOf(page.url()) } });
  expect(await login.json()).toMatchObject({ success: true, email });
});

test('without a script, a person signs in to an application, agrees and signs out', async () => {
  const { client } = await signInDeveloper(scene.stage, scene.service);
  const settings = { name: 'Notes', redirectUris: [`${scene.shop.url}/callback`], logoutUris: [`${scene.shop.url}/bye`] };
  const { clientId } = (await client.post('/api/clients', settings)).json;
  const { query } = await beginAuthorization(scene.service.client(), { clientId, redirectUri: settings.redirectUris[0] });
  const [page, email] = [await newPage(), freshAddress()];
  await page.goto(`${scene.service.url}/oauth/authorize?${query}`);
  await requestEmail(page, email);
  await enterCode(page, (await mailFor(email)).code);
  await page.getByRole('button', { name: text('en', 'oidc_continue'), exact: true }).click();
  await page.waitForURL((url) => url.href.startsWith(`${settings.redirectUris[0]}?code=`));
  await page.goto(
    `${scene.service.url}/oauth/logout?${new URLSearchParams({ client_id: clientId, post_logout_redirect_uri: settings.logoutUris[0] })}`,
  );
  await page.getByRole('button', { name: text('en', 'oidc_logout_button'), exact: true }).click();
  await page.waitForURL(settings.logoutUris[0]);
});

test("a form of another website signs nobody in in the victim's browser", async () => {
  const [context, attacker] = [await scene.newBrowser({ script: false }), freshAddress('eve')];
  const page = await context.newPage();
  const action = `${scene.service.url}/auth?${new URLSearchParams({ forward_url: `${scene.shop.url}/welcome` })}`;
  await page.route('https://evil.example/', (route) =>
    route.fulfill({
      contentType: 'text/html',
      body: `<form method="post" action="${action.replaceAll('&', '&amp;')}"><input name="email" value="${attacker}"><button>Win</button></form>`,
    }),
  );
  await page.goto('https://evil.example/');
  await page.getByRole('button', { name: 'Win' }).click();
  await page.getByText(text('en', 'error_foreign_form')).waitFor();
  await page.getByRole('link', { name: text('en', 'start_again'), exact: true }).click();
  expect(await page.getByLabel(text('en', 'email_label')).inputValue()).toBe('');
  await page.getByText('localhost', { exact: true }).first().waitFor();
  expect((await context.cookies(scene.service.url)).map(({ name }) => name)).toEqual(['passkey_browser']);
  expect(await scene.stage.query('select from sign_in_attempts where email = $1', [attacker])).toEqual([]);
});
