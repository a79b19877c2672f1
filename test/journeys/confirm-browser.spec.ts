import { afterAll, beforeAll, expect, test } from 'vitest';
import { authorize, freshAddress } from '../sign-ins.ts';
import { heading, openScene, type Scene, text } from './scene.ts';

let scene: Scene;
beforeAll(async () => {
  scene = await openScene();
});
afterAll(() => scene.close());

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
    await scene.stage.query(
      `insert into sign_in_limits select kind || ' ' || $1, 100000, now() + interval '1 hour' from unnest(array['mailbox', 'reserve']) kind
     on conflict (key) do update set hits = excluded.hits`,
      [email],
    );
    const context = await scene.newBrowser();
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
