import type { Page } from 'playwright';
import { describe, expect, test } from 'vitest';
import { confirmLink, freshAddress } from '../support/sign-ins.ts';
import { isAccessibleInBothThemes } from './axe.ts';
import { evaluates, heading, requestEmail, text, useScene } from './scene.ts';

const scene = await useScene();

const wrong = (code: string) => String((Number(code) + 1) % 1_000_000).padStart(6, '0');
const link = (page: Page, name: string) => page.getByRole('link', { name, exact: true });
const focused = 'document.activeElement.tagName';

describe.each([
  ['with a script', true],
  ['without a script', false],
])('%s', (_, script) => {
  /** Requests an email in a new browser. @param returnTo the page of the website to which its callback leads */
  async function begin({ email = freshAddress(), language = 'en', returnTo = '' } = {}) {
    const context = await scene.newBrowser({ script });
    const page = await context.newPage();
    const forward_url = `${scene.shop.url}/welcome${returnTo && `?${new URLSearchParams({ return_to: returnTo })}`}`;
    await page.goto(`${scene.service.url}/auth?${new URLSearchParams({ forward_url, language })}`);
    await requestEmail(page, email, language);
    return { context, page, email, mail: await scene.stage.mailbox.waitFor(email) };
  }

  /** Waits until a page shows the present state of its email: without a script when it is loaded again. */
  async function showsState(page: Page, title: string) {
    if (!script) await page.reload();
    await heading(page, title);
    expect(await page.title()).toBe(`${title} · Email Auth`);
    expect(await page.getByRole('heading', { level: 1 }).count()).toBe(1);
    if (script) await evaluates(page, focused, 'H1');
  }

  const enterCode = async (page: Page, code: string, language = 'en') => {
    await page.getByLabel(text(language, 'code_label')).fill(code);
    if (!script) await page.getByRole('button', { name: text(language, 'code_submit') }).click();
  };

  describe('the heading of step 2', () => {
    test.each<[string, string, (email: string) => Promise<unknown>]>([
      [
        'says that the link has expired',
        'link_expired',
        (email) => scene.stage.query("update sign_in_attempts set expires_at = now() - interval '1 second' where email = $1", [email]),
      ],
      [
        'says that the email was not delivered',
        'mail_failed_title',
        (email) => scene.stage.query('update sign_in_attempts set mail_failed = true where email = $1', [email]),
      ],
    ])('%s', async (_, title, change) => {
      const language = 'lv';
      const { page, email } = await begin({ language });
      expect(await page.title()).toBe(`${text(language, 'check_email')} · Email Auth`);
      await change(email);
      await showsState(page, text(language, title));
      await page.getByText(email, { exact: true }).waitFor();
      expect(await page.getByText(text(language, 'magic_link_sent', { email })).count()).toBe(0);
    });

    test('says that the link was opened in another browser', async () => {
      const { page, email, mail } = await begin();
      await confirmLink(scene.service.client(), mail, email);
      await showsState(page, text('en', 'opened_elsewhere_title'));
      await page.getByText(email, { exact: true }).waitFor();
      expect(await page.getByText(text('en', 'magic_link_sent', { email })).count()).toBe(0);
    });

    test('says who is signed in, once another tab has opened the link, with the way to the page of the website', async () => {
      const { context, page, email, mail } = await begin({ returnTo: '/cart?id=1' });
      const tab = await context.newPage();
      await tab.goto(mail.link);
      await heading(tab, `Hello ${email}`);
      await showsState(page, text('en', 'signed_in_title', { email }));
      if (script) await isAccessibleInBothThemes(page);
      await link(page, text('en', 'leaving_link_host', { host: 'localhost' })).click();
      await page.waitForURL(`${scene.shop.url}/cart?id=1`);
    });

    test('says who is signed in after the back button', async () => {
      const language = 'ru';
      const { page, email, mail } = await begin({ language });
      await enterCode(page, mail.code, language);
      await heading(page, `Hello ${email}`);
      await page.goBack();
      // Without a script, a page leads on from the form, which the browser goes back to.
      if (!script)
        await page.goto(
          `${scene.service.url}/auth?${new URLSearchParams({ forward_url: `${scene.shop.url}/welcome`, language, step: 'code' })}`,
        );
      await heading(page, text(language, 'signed_in_title', { email }));
      await link(page, text(language, 'leaving_link_host', { host: 'localhost' })).click();
      await page.waitForURL(`${scene.shop.url}/`);
    });
  });

  test('a link that was used elsewhere leads to another email, or back to the sign-in with the address', async () => {
    const language = 'uk';
    const { context, page, email, mail } = await begin({ language });
    await confirmLink(scene.service.client(), mail, email);
    const tab = await context.newPage();
    await tab.goto(mail.link);
    await heading(tab, text(language, 'link_used'));
    if (script) await isAccessibleInBothThemes(tab);
    await link(tab, text(language, 'start_again')).click();
    await heading(tab, text(language, 'welcome'));
    expect(await tab.getByLabel(text(language, 'email_label')).inputValue()).toBe(email);
    await tab.goto(mail.link);
    await tab.getByRole('button', { name: text(language, 'send_new_link', { email: 'a•••@mail.example' }) }).click();
    await heading(tab, text(language, 'check_email'));
    await enterCode(tab, (await scene.stage.mailbox.waitFor(email)).code, language);
    await heading(tab, `Hello ${email}`);
    await page.close();
  });

  test('a link that has expired says why another email is refused, with the address', async () => {
    const { context, page, email, mail } = await begin();
    await scene.stage.query("update sign_in_attempts set expires_at = now() - interval '1 second' where email = $1", [email]);
    await scene.stage.query(
      `insert into rate_limits select kind || ' ' || $1, 100000, now() + interval '1 hour' from unnest(array['mailbox', 'reserve']) kind
       on conflict (key) do update set hits = excluded.hits`,
      [email],
    );
    // As after the ten minutes of an attempt.
    await context.clearCookies({ name: 'attempt' });
    await page.goto(mail.link);
    await heading(page, text('en', 'link_expired'));
    await page.getByRole('button', { name: text('en', 'send_new_link', { email: 'a•••@mail.example' }) }).click();
    await page.getByText(text('en', 'error_mailbox').split('{when}')[0]).waitFor();
    expect(await page.getByLabel(text('en', 'email_label')).inputValue()).toBe(email);
  });

  test('after five wrong codes the page leads to the inbox and says that the link works, until it was used in another browser', async () => {
    const { page, email, mail } = await begin({ email: freshAddress().replace('@mail.example', '@gmail.com') });
    const spent = page.getByText(text('en', 'code_spent'));
    for (let tries = 1; tries <= 5; tries += 1) {
      await enterCode(page, wrong(mail.code));
      await (tries < 5 ? page.getByText(text('en', 'code_wrong')) : spent).waitFor();
      if (script) await expect.poll(() => page.getByLabel(text('en', 'code_label')).inputValue()).toBe('');
    }
    await heading(page, text('en', 'check_email'));
    await link(page, text('en', 'open_mail', { name: 'Gmail' })).waitFor();
    await confirmLink(scene.service.client(), mail, email);
    await showsState(page, text('en', 'opened_elsewhere_title'));
    expect(await spent.count()).toBe(0);
    expect(await link(page, text('en', 'open_mail', { name: 'Gmail' })).count()).toBe(0);
  });
});

describe('an error goes when its cause is gone', () => {
  test('of a wrong code, when another one is typed', async () => {
    const [page, email] = [await (await scene.newBrowser()).newPage(), freshAddress()];
    await page.goto(scene.shop.signInUrl());
    await requestEmail(page, email);
    const { code } = await scene.stage.mailbox.waitFor(email);
    const field = page.getByLabel(text('en', 'code_label'));
    await field.fill(wrong(code));
    await page.getByText(text('en', 'code_wrong')).waitFor();
    await field.pressSequentially(code.slice(0, 1));
    await page.getByText(text('en', 'code_wrong')).waitFor({ state: 'detached' });
  });

  test('of a form that was posted before the script ran, when another address is typed', async () => {
    const context = await scene.newBrowser();
    const page = await context.newPage();
    const email = freshAddress();
    await scene.stage.query(
      `insert into rate_limits select kind || ' ' || $1, 100000, now() + interval '1 hour' from unnest(array['mailbox', 'reserve']) kind`,
      [email],
    );
    await page.route('**/*.js', (route) => route.abort());
    await page.goto(scene.shop.signInUrl());
    await page.getByLabel(text('en', 'email_label')).fill(email);
    await page.unroute('**/*.js');
    await page.getByRole('button', { name: text('en', 'send_magic_link') }).click();
    const error = page.getByText(text('en', 'error_mailbox').split('{when}')[0]);
    await error.waitFor();
    await page.getByRole('button', { name: text('en', 'theme_dark'), exact: true }).waitFor();
    await page.getByLabel(text('en', 'email_label')).fill(freshAddress());
    await error.waitFor({ state: 'detached' });
  });
});
