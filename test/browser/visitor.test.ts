import type { Page } from 'playwright';
import { describe, expect, test } from 'vitest';
import { freshAddress, freshDomain, signInDeveloper } from '../support/sign-ins.ts';
import { isAccessibleInBothThemes } from './axe.ts';
import { heading, holdRequests, requestEmail, type Scene, text, useScene } from './scene.ts';

const scene = await useScene();

const accountsWith = (...emails: string[]) => JSON.stringify(emails.map((email) => ({ email, key: '', timestamp: Date.now() })));
const UKRAINIAN = '**/api/translations/uk/auth';
const mailFor = (email: string) => scene.stage.mailbox.waitFor(email);
const welcomed = (page: Page, email: string) => heading(page, `Hello ${email}`);

/** Opens the shop's sign-in page in a new browser and proceeds to step 2. */
async function begin(language: string) {
  const [context, email] = [await scene.newBrowser(), freshAddress()];
  const page = await context.newPage();
  await page.goto(scene.shop.signInUrl(language));
  expect(await page.locator('html').getAttribute('lang')).toBe(language);
  await requestEmail(page, email, language);
  return { context, page, email, mail: await mailFor(email) };
}

describe('a visitor of a website', () => {
  test('opens the link in the same tab and returns to the website without a click', async () => {
    const language = 'lt';
    const { page, email, mail } = await begin(language);
    await page.goto(mail.link);
    await welcomed(page, email);
    expect(page.url().startsWith(`${scene.shop.url}/welcome?from=shop&token=`)).toBe(true);
    expect(await page.locator('#referrer').textContent()).toBe('no referrer');
  });

  test('opens the link in a new tab and is signed in there, which the first tab shows', async () => {
    const language = 'lv';
    const { context, page, email, mail } = await begin(language);
    const tab = await context.newPage();
    await tab.goto(mail.link);
    await welcomed(tab, email);
    await heading(page, text(language, 'signed_in_title', { email }));
  });

  test('opens the link in another browser, which requires the address and does not sign the first one in', async () => {
    const language = 'uk';
    const { page, email, mail } = await begin(language);
    const other = await (await scene.newBrowser()).newPage();
    await other.goto(mail.link);
    await heading(other, text(language, 'confirm_title'));
    expect(await other.content()).not.toContain(email);
    const field = other.getByLabel(text(language, 'email_label'));
    const button = other.getByRole('button', { name: text(language, 'confirm_button', { host: 'localhost' }) });
    await field.fill(freshAddress('eve'));
    await button.click();
    await other.getByText(text(language, 'confirm_wrong_email')).waitFor();
    await field.fill(email);
    await button.click();
    await welcomed(other, email);
    await page.getByText(text(language, 'opened_elsewhere_title'), { exact: true }).waitFor();
    expect(page.url()).toContain(`${scene.service.url}/auth`);
  });

  test('types a wrong code and then the right one in the first window', async () => {
    const language = 'ru';
    const { page, email, mail } = await begin(language);
    const field = page.getByLabel(text(language, 'code_label'));
    await field.fill(String((Number(mail.code) + 1) % 1_000_000).padStart(6, '0'));
    await page.getByText(text(language, 'code_wrong')).waitFor();
    await field.pressSequentially(mail.code);
    await welcomed(page, email);
  });

  test('opens a used link and gets only a message', async () => {
    const language = 'lt';
    const { context, page, email, mail } = await begin(language);
    await page.goto(mail.link);
    await welcomed(page, email);
    const [same, other] = [await context.newPage(), await (await scene.newBrowser()).newPage()];
    await other.goto(mail.link);
    await heading(other, text(language, 'link_used'));
    await same.goto(mail.link);
    await heading(same, text(language, 'signed_in_title', { email }));
    await same.getByRole('link', { name: text(language, 'leaving_link_host', { host: 'localhost' }) }).waitFor();
    await isAccessibleInBothThemes(same);
  });

  test('clicks the link twice, where the second click aborts the first one after it has reached the service', async () => {
    const { context, email, mail } = await begin('en');
    // The browser does not see this response.
    const aborted = scene.service.client();
    for (const { name, value } of await context.cookies()) aborted.cookies.set(name, value);
    expect((await aborted.get(mail.link)).status).toBe(303);
    const tab = await context.newPage();
    await tab.goto(mail.link);
    await welcomed(tab, email);
  });

  test('opens an expired link and gets a message, also in the first window', async () => {
    const language = 'lv';
    const { page, email, mail } = await begin(language);
    await scene.stage.query("update sign_in_attempts set expires_at = now() - interval '1 second' where email = $1", [email]);
    await page.getByText(text(language, 'mail_expired')).waitFor();
    await page.goto(mail.link);
    await heading(page, text(language, 'link_expired'));
  });

  test('opens a link of a deleted website and gets a message with a link back', async () => {
    const language = 'ru';
    const { email } = await signInDeveloper(scene.stage, scene.service);
    const domain = freshDomain();
    const inserted = 'insert into websites (id, domain, email, claimed_at) values (gen_random_uuid(), $1, $2, now())';
    await scene.stage.query(inserted, [domain, email]);
    const visitor = freshAddress();
    await scene.service.client().post('/api/auth/domain-auth', { email: visitor, forward_url: `https://${domain}/welcome`, language });
    const { link } = await mailFor(visitor);
    await scene.stage.query('delete from websites where domain = $1', [domain]);
    const page = await (await scene.newBrowser()).newPage();
    await page.goto(link);
    await heading(page, text(language, 'link_gone'));
    await page.getByText(text(language, 'link_gone_text', { host: domain })).waitFor();
    const back = page.getByRole('link', { name: text(language, 'start_again') });
    expect(await back.getAttribute('href')).toBe(`https://${domain}`);
    await scene.stage.query(inserted, [domain, email]);
    await page.reload();
    await heading(page, text(language, 'link_gone'));
    await back.click();
    await page.getByLabel(text(language, 'email_label')).waitFor();
  });

  test('is rejected when the domain is not registered', async () => {
    const language = 'uk';
    const page = await (await scene.newBrowser()).newPage();
    const forward = encodeURIComponent('https://nobody-registered.example/');
    await page.goto(`${scene.service.url}/auth?forward_url=${forward}&language=${language}`);
    await heading(page, text(language, 'not_supported_title'));
    await page.getByText(text(language, 'not_supported_text', { domain: 'nobody-registered.example' })).waitFor();
    expect(await page.getByRole('textbox').count()).toBe(0);
  });

  test('changes the language of the page, its URL and the email', async () => {
    const [page, email] = [await (await scene.newBrowser()).newPage(), freshAddress()];
    await page.goto(scene.shop.signInUrl('en'));
    await page.getByLabel(text('en', 'language_label')).selectOption('ru');
    await heading(page, text('ru', 'welcome'));
    expect(new URL(page.url()).searchParams.get('language')).toBe('ru');
    expect(new URL(page.url()).searchParams.get('forward_url')).toBe(`${scene.shop.url}/welcome?from=shop`);
    await requestEmail(page, email, 'ru');
    expect((await mailFor(email)).html).toContain('lang="ru"');
  });

  test.each([
    ['the sign-in page', (scene: Scene) => scene.shop.signInUrl('en'), 'welcome'],
    ['the page of passkeys', (scene: Scene) => `${scene.service.url}/passkeys?language=en`, 'passkeys_title'],
  ])('gets %s in the language that was chosen last, even if the texts of another one arrive later', async (_, urlOf, title) => {
    const page = await (await scene.newBrowser()).newPage();
    const requests = await holdRequests(page, UKRAINIAN);
    await page.goto(urlOf(scene));
    const languages = page.getByLabel(text('en', 'language_label'));
    await languages.selectOption('uk');
    await expect.poll(() => requests.count).toBe(1);
    await languages.selectOption('lv');
    await heading(page, text('lv', title));
    const response = page.waitForResponse(UKRAINIAN);
    requests.release();
    await (await response).finished();
    // A frame is drawn after the texts of the response were handled.
    await page.evaluate('new Promise((resolve) => requestAnimationFrame(() => setTimeout(resolve)))');
    expect(await page.locator('html').getAttribute('lang')).toBe('lv');
    expect(new URL(page.url()).searchParams.get('language')).toBe('lv');
    await heading(page, text('lv', title));
  });

  test('gets a message at the field for an invalid address, and no email is sent', async () => {
    const page = await (await scene.newBrowser()).newPage();
    await page.goto(scene.shop.signInUrl('lt'));
    await page.getByLabel(text('lt', 'email_label')).fill('not an address');
    await page.keyboard.press('Enter');
    await page
      .getByRole('alert')
      .filter({ hasText: text('lt', 'error_email') })
      .waitFor();
  });
});

describe('a remembered account', () => {
  async function remembered(language: string) {
    const begun = await begin(language);
    await begun.page.goto(begun.mail.link);
    await welcomed(begun.page, begun.email);
    await begun.page.goto(scene.shop.signInUrl(language));
    await begun.page.getByRole('heading', { name: text(language, 'previous_emails') }).waitFor();
    return begun;
  }

  test('signs in again by one click, never by a page load', async () => {
    const language = 'ru';
    const { page, email } = await remembered(language);
    const before = scene.stage.mailbox.mailsFor(email).length;
    await page.waitForLoadState('networkidle');
    expect(page.url().startsWith(scene.service.url)).toBe(true);
    await page.getByRole('button', { name: email }).first().click();
    await welcomed(page, email);
    expect(scene.stage.mailbox.mailsFor(email)).toHaveLength(before);
  });

  test('is removed from every store by its x', async () => {
    const language = 'lt';
    const { context, page, email } = await remembered(language);
    await page.getByRole('button', { name: text(language, 'remove_account', { email }) }).click();
    await page.getByRole('button', { name: email }).first().waitFor({ state: 'detached' });
    await page.reload();
    await page.getByLabel(text(language, 'email_label')).waitFor();
    expect(await page.content()).not.toContain(email);
    expect(await page.evaluate('JSON.stringify(localStorage)')).not.toContain(email);
    const cookies = (await context.cookies()).map(({ value }) => decodeURIComponent(value)).join();
    expect(cookies).not.toContain(email);
    const keyOf = () => scene.stage.query('select length(verifier) as length from remembered_keys where email = $1', [email]);
    await expect.poll(keyOf, { message: 'the service has voided the key' }).toEqual([{ length: 0 }]);
  });

  test('stays removed when the response to an earlier removal arrives late', async () => {
    const { context, page, email } = await remembered('en');
    const [first, second] = [freshAddress('first'), freshAddress('second')];
    const cookie = { name: 'remembered_accounts', url: scene.service.url };
    await context.addCookies([{ ...cookie, value: encodeURIComponent(accountsWith(email, first, second)) }]);
    await page.reload();
    const arrivals: (() => void)[] = [];
    let arrived = 0;
    await page.route('**/auth/forget?*', async (route) => {
      const response = await route.fetch({ maxRedirects: 0 });
      await new Promise<void>((resolve) => {
        arrivals.push(resolve);
      });
      // The browser stores the cookies of a response when it arrives.
      const set = response.headersArray().flatMap(({ value }) => /^remembered_accounts=([^;]*)/.exec(value)?.[1] ?? []);
      await context.addCookies(set.map((value) => ({ ...cookie, value })));
      await route.fulfill({ response });
      arrived += 1;
    });
    const x = (address: string) => page.getByRole('button', { name: text('en', 'remove_account', { email: address }) });
    for (const [i, address] of [first, second].entries()) {
      await x(address).click();
      await x(address).waitFor({ state: 'detached' });
      await expect.poll(() => arrivals.length).toBe(i + 1);
    }
    const shown = async () => decodeURIComponent(JSON.stringify(await context.cookies(scene.service.url)));
    arrivals[1]();
    await expect.poll(() => arrived).toBe(1);
    arrivals[0]();
    await expect.poll(() => arrived).toBe(2);
    await expect.poll(shown).not.toContain(second);
    await page.reload();
    await x(email).waitFor();
    expect(await x(second).count()).toBe(0);
  });

  test('is shown only if it is a valid address, not as other text planted in the browser’s stores', async () => {
    const { context, page, email } = await remembered('en');
    const planted = 'Your account is locked, call +1 900 555 0100';
    await context.addCookies(
      ['remembered_accounts', 'previous_auth', 'auth_email'].map((name) => ({
        name,
        value: encodeURIComponent(name === 'auth_email' ? planted : accountsWith(planted, `${name}@mail.example`)),
        url: scene.service.url,
      })),
    );
    await page.evaluate(`localStorage.setItem('rememberedAuth', ${JSON.stringify(accountsWith(planted, 'stored@mail.example'))})`);
    for (const path of [scene.shop.signInUrl(), `${scene.service.url}/auth`]) {
      await page.goto(path);
      for (const kept of ['remembered_accounts@mail.example', 'previous_auth@mail.example', 'stored@mail.example'])
        await page.getByRole('button', { name: kept }).first().waitFor();
      expect(await page.content()).not.toContain('account is locked');
    }
    for (const path of ['/', '/dashboard']) {
      await page.goto(scene.service.url + path);
      await page.getByRole('main').first().waitFor();
      expect(await page.content()).not.toContain('account is locked');
    }
    // The next sign-in rewrites the list without what was planted.
    await page.goto(scene.shop.signInUrl());
    await requestEmail(page, email);
    await page.goto((await mailFor(email)).link);
    await welcomed(page, email);
    const written = (await context.cookies()).map(({ name, value }) => [name, decodeURIComponent(value)]);
    expect(Object.fromEntries(written).remembered_accounts).toContain(email);
    expect(JSON.stringify(written)).not.toContain('account is locked');
  });

  test('with a revoked key gets a message and can request an email', async () => {
    const { page, email } = await remembered('lv');
    await scene.stage.query('delete from remembered_keys where email = $1', [email]);
    await page.getByRole('button', { name: email }).first().click();
    await page.getByText(text('lv', 'saved_login_failed'), { exact: true }).waitFor();
    await requestEmail(page, email, 'lv');
  });
});

describe('a scanner that clicks every control of the page', () => {
  test('does not use up the link', { timeout: 300_000 }, async () => {
    const language = 'uk';
    const { page, email, mail } = await begin(language);
    const robot = await (await scene.newBrowser()).newPage();
    await robot.goto(mail.link);
    await heading(robot, text(language, 'confirm_title'));
    const controls = 'button, a[href], input, select, [role=button], [tabindex]';
    const count = await robot.locator(controls).count();
    expect(count).toBeGreaterThan(1);
    for (let i = 0; i < count; i++) {
      await robot.goto(mail.link);
      await heading(robot, text(language, 'confirm_title'));
      const control = robot.locator(controls).nth(i);
      await control.click({ timeout: 2000, force: true }).catch(() => {});
      await robot.keyboard.press('Enter').catch(() => {});
      await robot.waitForLoadState('networkidle');
    }
    await robot.goto(mail.link);
    await robot.getByRole('textbox').fill(freshAddress('robot'));
    await robot.keyboard.press('Enter');
    await robot.getByText(text(language, 'confirm_wrong_email')).waitFor();
    await page.goto(mail.link);
    await welcomed(page, email);
  });
});
