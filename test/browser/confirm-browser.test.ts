import { describe, expect, test } from 'vitest';
import { authorize, freshAddress } from '../support/sign-ins.ts';
import { heading, text, useScene } from './scene.ts';

const scene = await useScene();

/** Makes the limit of a mailbox refuse the next request of an unknown browser. */
const useUpEmails = (email: string) =>
  scene.stage.query(
    `insert into rate_limits select kind || ' ' || $1, 100000, now() + interval '1 hour' from unnest(array['mailbox', 'reserve']) kind
     on conflict (key) do update set hits = excluded.hits`,
    [email],
  );

describe.each([
  ['with', true],
  ['without', false],
])('%s a script', (_script, script) => {
  test.each([
    [
      'en',
      'a website',
      (email: string) => scene.service.client().post('/api/auth/domain-auth', { email, forward_url: `${scene.shop.url}/` }),
    ],
    ['ru', 'the portal', async (email: string) => (await authorize(scene.service.client(), email)).response],
  ])(
    'a rejected browser (%s) confirms itself by an email that somebody else requested for %s, and requests again',
    async (language, _, ask) => {
      const email = freshAddress();
      expect((await ask(email)).status).toBe(200);
      const mail = await scene.stage.mailbox.waitFor(email);
      await useUpEmails(email);
      const context = await scene.newBrowser({ script });
      const page = await context.newPage();
      await page.goto(scene.shop.signInUrl(language));
      const send = async () => {
        await page.getByLabel(text(language, 'email_label')).fill(email);
        await page.getByRole('button', { name: text(language, 'send_magic_link'), exact: true }).click();
      };
      await send();
      await page.getByText(text(language, 'error_mailbox').split('{when}')[0]).waitFor();

      const tab = await context.newPage();
      const link = new URL(mail.link);
      link.searchParams.set('language', language);
      await tab.goto(link.href);
      await heading(tab, text(language, 'browser_title'));
      const field = tab.getByLabel(text(language, 'email_label'));
      expect(await field.inputValue()).toBe(email);
      const confirm = tab.getByRole('button', { name: text(language, 'browser_button'), exact: true });
      await field.fill(freshAddress('eve'));
      await confirm.click();
      await tab.getByText(text(language, 'browser_wrong'), { exact: true }).waitFor();
      await field.fill(email);
      await confirm.click();
      await tab.waitForURL(page.url());
      await heading(tab, text(language, 'welcome'));

      await send();
      await heading(page, text(language, 'check_email'));
    },
  );
  test('the link signs a rejected browser in when the person does not confirm it', async () => {
    const [email, other] = [freshAddress(), freshAddress()];
    await scene.service.client().post('/api/auth/domain-auth', { email: other, forward_url: `${scene.shop.url}/` });
    const mail = await scene.stage.mailbox.waitFor(other);
    await useUpEmails(email);
    const page = await (await scene.newBrowser({ script })).newPage();
    await page.goto(scene.shop.signInUrl());
    await page.getByLabel(text('en', 'email_label')).fill(email);
    await page.getByRole('button', { name: text('en', 'send_magic_link'), exact: true }).click();
    await page.getByText(text('en', 'error_mailbox').split('{when}')[0]).waitFor();
    await page.goto(mail.link);
    await page.getByRole('button', { name: text('en', 'browser_skip'), exact: true }).click();
    await heading(page, text('en', 'confirm_title'));
    expect(page.url()).toBe(mail.link);
    await page.getByLabel(text('en', 'email_label')).fill(other);
    await page.getByRole('button', { name: text('en', 'confirm_button', { host: 'localhost' }) }).click();
    await heading(page, `Hello ${other}`);
    await page.goto(mail.link);
    await heading(page, text('en', 'signed_in_title', { email: other }));
  });
});
