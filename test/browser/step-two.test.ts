import type { Page } from 'playwright';
import { describe, expect, test } from 'vitest';
import { begin as beginAuthorization } from '../support/oidc-client.ts';
import { freshAddress, signInDeveloper } from '../support/sign-ins.ts';
import { heading, requestEmail, signIn, text, useScene } from './scene.ts';

const scene = await useScene();

const mailFor = (email: string) => scene.stage.mailbox.waitFor(email);
const welcomed = (page: Page, email: string) => heading(page, `Hello ${email}`);
const stepOf = (page: Page) => new URL(page.url()).searchParams.get('step');

/** Opens a sign-in page in a new browser and proceeds to step 2. */
async function begin({ url = scene.shop.signInUrl(), portal = false } = {}) {
  const [context, email] = [await scene.newBrowser(), freshAddress()];
  const page = await context.newPage();
  await page.goto(url);
  await requestEmail(page, email, 'en', portal);
  return { context, page, email, mail: await mailFor(email) };
}

const enterCode = (page: Page, code: string) => page.getByLabel(text('en', 'code_label')).fill(code);

describe('step 2', () => {
  test('has its own URL, and the back button returns to step 1 with the address', async () => {
    const { page, email, mail } = await begin();
    expect(stepOf(page)).toBe('code');
    await page.goBack();
    await heading(page, text('en', 'welcome'));
    expect(await page.getByLabel(text('en', 'email_label')).inputValue()).toBe(email);
    await page.goForward();
    await heading(page, text('en', 'check_email'));
    await enterCode(page, mail.code);
    await welcomed(page, email);
  });

  test('survives a reload and a restart of the browser, and is in every tab', async () => {
    const { context, page, email, mail } = await begin();
    await page.reload();
    await heading(page, text('en', 'check_email'));
    const restarted = await scene.newBrowser();
    await restarted.addCookies((await context.cookies()).filter(({ expires }) => expires > 0));
    const tab = await restarted.newPage();
    await tab.goto(page.url());
    await tab.getByText(email).first().waitFor();
    await enterCode(tab, mail.code);
    await welcomed(tab, email);
    await page
      .getByText(text('en', 'opened_elsewhere_title'))
      .or(page.getByText(text('en', 'signed_in_title', { email })))
      .waitFor();
  });

  test('has the focus in the code field of a computer, and takes a code that is pasted anywhere', async () => {
    const { page, email, mail } = await begin();
    const field = page.getByLabel(text('en', 'code_label'));
    const focused = () => field.and(page.locator(':focus')).count();
    await expect.poll(focused).toBe(1);
    await page.reload();
    await expect.poll(focused).toBe(1);
    await page.getByRole('heading', { name: text('en', 'check_email') }).click();
    await page.evaluate(`{
      const clipboardData = new DataTransfer();
      clipboardData.setData('text', 'Code: ${mail.code}');
      document.body.dispatchEvent(new ClipboardEvent('paste', { clipboardData, bubbles: true }));
    }`);
    await welcomed(page, email);
  });

  test.each([
    ['to a website', false],
    ['to the portal', true],
  ])('says after the back button that the person is signed in, with the way on (%s)', async (_, portal) => {
    const { page, email, mail } = await begin(portal ? { url: `${scene.service.url}/auth`, portal } : {});
    await enterCode(page, mail.code);
    await page.waitForURL(portal ? `${scene.service.url}/developer` : `${scene.shop.url}/**`);
    await page.goBack();
    await heading(page, text('en', 'signed_in_title', { email }));
    const host = new URL(scene.shop.url).hostname;
    await page.getByRole('link', { name: portal ? text('en', 'continue_to_portal') : text('en', 'leaving_link_host', { host }) }).click();
    await page.waitForURL(portal ? `${scene.service.url}/developer` : `${scene.shop.url}/**`);
  });

  test('keeps the language that was chosen on it, after the back button too', async () => {
    const { page } = await begin();
    await page.getByLabel(text('en', 'language_label')).selectOption('lt');
    await heading(page, text('lt', 'check_email'));
    await page.goBack();
    const email = freshAddress();
    await requestEmail(page, email, 'lt');
    expect((await mailFor(email)).html).toContain('lang="lt"');
    expect(new URL(page.url()).searchParams.get('language')).toBe('lt');
    await page.reload();
    await heading(page, text('lt', 'check_email'));
  });

  test('leaves a person at step 1 who went there before the response to a wrong code', async () => {
    const { page, mail } = await begin();
    let respond = () => {};
    const held = new Promise<void>((resolve) => {
      respond = resolve;
    });
    await page.route('**/api/auth/email-code', async (route) => {
      const response = await route.fetch();
      await held;
      await route.fulfill({ response });
    });
    const responded = page.waitForResponse('**/api/auth/email-code');
    await enterCode(page, String((Number(mail.code) + 1) % 1_000_000).padStart(6, '0'));
    await page.getByRole('link', { name: text('en', 'use_different_email') }).click();
    await page.getByLabel(text('en', 'email_label')).fill('someone@');
    respond();
    await (await responded).finished();
    await page.evaluate('new Promise((resolve) => requestAnimationFrame(() => requestAnimationFrame(resolve)))');
    expect(await page.getByLabel(text('en', 'email_label')).inputValue()).toBe('someone@');
    expect(stepOf(page)).toBe('address');
  });

  test('waits as long as a refused request for another email says', async () => {
    const { page, email } = await begin();
    await scene.stage.query(
      `insert into rate_limits select kind || ' ' || $1, 100000, now() + interval '1 hour' from unnest(array['mailbox', 'reserve']) kind
       on conflict (key) do update set hits = 100000, resets_at = now() + interval '1 hour'`,
      [email],
    );
    // As half a minute after the email.
    await scene.stage.query("update sign_in_attempts set expires_at = expires_at - interval '31 seconds' where email = $1", [email]);
    await page.reload();
    await page.getByRole('button', { name: text('en', 'resend') }).click();
    await page.getByRole('button', { name: /^Send again in [1-6]\d:/ }).waitFor();
  });

  test('goes on where the response to a code has no page, as that of an older instance', async () => {
    const { page, email, mail } = await begin();
    await page.route('**/api/auth/email-code', async (route) => {
      const { prefer: _, ...headers } = route.request().headers();
      await route.continue({ headers });
    });
    await enterCode(page, mail.code);
    await welcomed(page, email);
  });

  test('begins again with a notice in a browser without an attempt', async () => {
    const { page } = await begin();
    const other = await (await scene.newBrowser()).newPage();
    await other.goto(page.url());
    await other.getByText(text('en', 'attempt_missing')).waitFor();
    const email = freshAddress();
    await requestEmail(other, email);
    await enterCode(other, (await mailFor(email)).code);
    await welcomed(other, email);
  });

  test('is offered by a new visit of the page', async () => {
    const { page, email, mail } = await begin();
    await page.goto(scene.shop.signInUrl());
    await page.getByRole('link', { name: text('en', 'enter_code_sent', { email }) }).click();
    await enterCode(page, mail.code);
    await welcomed(page, email);
  });

  test('says that the link was used in another browser, and signs in with the code of a new email', async () => {
    const { page, email, mail } = await begin();
    const other = await (await scene.newBrowser()).newPage();
    await other.goto(mail.link);
    await other.getByLabel(text('en', 'email_label')).fill(email);
    await other.getByRole('button', { name: text('en', 'confirm_button', { host: 'localhost' }) }).click();
    await welcomed(other, email);
    await page.getByText(text('en', 'opened_elsewhere_title')).waitFor();
    await page.getByText(email).first().waitFor();
    await page.getByRole('button', { name: text('en', 'send_code_here') }).click();
    const { code } = await mailFor(email);
    await page.getByText(text('en', 'opened_elsewhere_title')).waitFor({ state: 'detached' });
    expect(await page.evaluate('document.activeElement.name')).toBe('code');
    await enterCode(page, code);
    await welcomed(page, email);
  });

  test('of the portal finds its verifier again after a reload', async () => {
    const { page, email, mail } = await begin({ url: `${scene.service.url}/auth`, portal: true });
    await page.reload();
    await heading(page, text('en', 'check_email'));
    await enterCode(page, mail.code);
    await page.waitForURL(`${scene.service.url}/developer`);
    await page.getByRole('button', { name: email }).waitFor();
  });

  test('of the portal takes the code of an email that was requested without a script', async () => {
    const [context, email] = [await scene.newBrowser({ script: false }), freshAddress('dev')];
    const page = await context.newPage();
    await page.goto(`${scene.service.url}/auth`);
    await requestEmail(page, email, 'en', true);
    const scripted = await scene.newBrowser();
    await scripted.addCookies(await context.cookies());
    const tab = await scripted.newPage();
    await tab.goto(page.url());
    await enterCode(tab, (await mailFor(email)).code);
    await tab.waitForURL(`${scene.service.url}/developer`);
    await tab.getByRole('button', { name: email }).waitFor();
  });

  test('of an application survives a reload', async () => {
    const { client } = await signInDeveloper(scene.stage, scene.service);
    const redirectUri = `${scene.shop.url}/callback`;
    const { clientId } = (await client.post('/api/clients', { name: 'Notes', redirectUris: [redirectUri] })).json;
    const { query } = await beginAuthorization(scene.service.client(), { clientId, redirectUri });
    const { page, mail } = await begin({ url: `${scene.service.url}/oauth/authorize?${query}` });
    expect(stepOf(page)).toBe('code');
    await page.reload();
    await heading(page, text('en', 'check_email'));
    await enterCode(page, mail.code);
    await page.getByRole('button', { name: text('en', 'oidc_continue'), exact: true }).click();
    await page.waitForURL((url) => url.href.startsWith(`${redirectUri}?code=`));
  });
});

test('a refused form is shown with its error, and a reload does not post it again', async () => {
  const context = await scene.newBrowser();
  const page = await context.newPage();
  await page.route('**/*.js', (route) => route.abort());
  await page.goto(scene.shop.signInUrl());
  await page.getByLabel(text('en', 'email_label')).fill('ann@nowhere');
  await page.unroute('**/*.js');
  await page.getByRole('button', { name: text('en', 'send_magic_link') }).click();
  await page.getByText(text('en', 'error_email')).waitFor();
  // Rendered by the effect that replaces the history entry; the script counts as running before.
  await page.getByRole('button', { name: text('en', 'theme_dark'), exact: true }).waitFor();
  await page.reload();
  await heading(page, text('en', 'welcome'));
  expect(await page.getByText(text('en', 'error_email')).count()).toBe(0);
});

test('what was typed before the script ran is kept', async () => {
  const context = await scene.newBrowser();
  const page = await context.newPage();
  let run = () => {};
  const held = new Promise<void>((resolve) => {
    run = resolve;
  });
  await page.route('**/*.js', (route) => held.then(() => route.continue()));
  await page.goto(scene.shop.signInUrl(), { waitUntil: 'commit' });
  const [field, email] = [page.getByLabel(text('en', 'email_label')), freshAddress()];
  await field.fill(email);
  run();
  await expect.poll(() => page.evaluate('document.documentElement.dataset.script')).toBe('running');
  expect(await field.inputValue()).toBe(email);
  await page.getByRole('button', { name: text('en', 'send_magic_link') }).click();
  await heading(page, text('en', 'check_email'));
});

test('login_hint fills in the address', async () => {
  const page = await (await scene.newBrowser()).newPage();
  await page.goto(`${scene.shop.signInUrl()}&login_hint=ann%40mail.example`);
  await heading(page, text('en', 'welcome'));
  expect(await page.getByLabel(text('en', 'email_label')).inputValue()).toBe('ann@mail.example');
});

test('a signed-in developer is told so at /auth and continues without an email', async () => {
  const [page, email] = [await (await scene.newBrowser()).newPage(), freshAddress('dev')];
  await signIn(scene, page, email);
  await page.goto(`${scene.service.url}/auth`);
  await heading(page, text('en', 'signed_in_title', { email }));
  await page.getByRole('link', { name: text('en', 'continue_to_portal') }).click();
  await page.getByRole('button', { name: email }).waitFor();
});

test('a page that is not supported leads back to the website', async () => {
  const page = await (await scene.newBrowser()).newPage();
  const open = (forward_url: string) => page.goto(`${scene.service.url}/auth?${new URLSearchParams({ forward_url })}`);
  await open('https://nobody-registered.example/a?b');
  const back = page.getByRole('link', { name: text('en', 'back_to_site', { url: 'https://nobody-registered.example' }) });
  expect([await back.getAttribute('href'), await back.getAttribute('rel')]).toEqual([
    'https://nobody-registered.example',
    'noopener noreferrer',
  ]);
  await page.getByRole('link', { name: text('en', 'register_domain', { domain: 'nobody-registered.example' }) }).click();
  await expect.poll(() => page.getByLabel('Domain').inputValue()).toBe('nobody-registered.example');
  await page.goto(`${scene.shop.url}/`);
  await open('http://nobody-registered.example/');
  await page.getByText(text('en', 'forward_url_not_https')).waitFor();
  await page.getByRole('button', { name: text('en', 'go_back') }).click();
  await page.waitForURL(`${scene.shop.url}/`);
});
