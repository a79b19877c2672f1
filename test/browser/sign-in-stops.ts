import type { Browser, Page } from 'playwright';
import type { Service, Stage } from '../support/harness.ts';
import { authorize, confirmLink, freshAddress, freshDomain, openLink, signInDeveloper, visitorToken } from '../support/sign-ins.ts';
import type { TestWebsite } from '../support/test-website.ts';
import { heading, requestEmail, text } from './scene.ts';
import type { Stop, Who } from './stop.ts';

type Parts = { stage: Stage; service: Service; shop: TestWebsite; browser: Browser };

/** Returns the path of the sign-in page of a website. */
export const signInOf = (host: string) => `/auth?${new URLSearchParams({ forward_url: `https://${host}/welcome` })}`;

/** Signs three addresses in to a website, with the cookies of one browser. */
export async function rememberAccounts(stage: Stage, service: Service, domain: string) {
  const client = service.client();
  for (const name of ['grace', 'katherine.coleman.goble.johnson', 'ann']) {
    await visitorToken(stage, client, domain, freshAddress(name));
  }
  return client;
}

/** The pages of a visitor's sign-in, after its first page. */
export function signInStops({ stage, service, shop, browser }: Parts): Stop[] {
  const own = (name: string, open: (page: Page) => Promise<unknown>, who: Who = 'visitor'): Stop => ({
    name,
    who,
    open: async (page) => void (await open(page)),
  });

  /** Requests an email for the test website, in the page. */
  const request = async (page: Page) => {
    const email = freshAddress();
    await page.goto(shop.signInUrl());
    await requestEmail(page, email);
    return { email, mail: await stage.mailbox.waitFor(email) };
  };

  /** Requests an email in another browser, to which its link is bound. */
  const foreignMail = async () => {
    const other = await (await browser.newContext()).newPage();
    const requested = await request(other);
    await other.context().close();
    return requested;
  };

  /** Requests an email as a program does. @returns the cookies that its link needs, the address and the email */
  const programMail = async (forward_url = `${shop.url}/`) => {
    const [client, email] = [service.client(), freshAddress()];
    await client.post('/api/auth/domain-auth', { email, forward_url });
    return { client, email, mail: await stage.mailbox.waitFor(email) };
  };

  const expire = (email: string) =>
    stage.query("update sign_in_attempts set expires_at = now() - interval '1 minute' where email = $1", [email]);

  /** Requests an email for an application, whose link requires the address in every browser. */
  const applicationLink = async () => {
    const [{ id }] = await stage.query("select client_id as id from applications where name = 'Desktop client'");
    const redirect_uri = 'http://127.0.0.1/callback';
    const { email } = await authorize(service.client(), freshAddress(), { client_id: id, redirect_uri });
    return (await stage.mailbox.waitFor(email)).link;
  };

  /** Requests an email for a website and deletes the website afterwards. */
  const goneLink = async () => {
    const domain = freshDomain();
    await stage.query('insert into websites (id, domain, claimed_at) values (gen_random_uuid(), $1, now())', [domain]);
    const { mail } = await programMail(`https://${domain}/`);
    await stage.query('delete from websites where domain = $1', [domain]);
    return mail.link;
  };

  const confirm = async (page: Page, email: string) => {
    await page.getByLabel(text('en', 'email_label')).fill(email);
    await page.getByRole('button', { name: text('en', 'confirm_button', { host: 'localhost' }) }).click();
  };
  const withoutScript = (page: Page) => page.route('**/assets/*.js', (route) => route.abort());

  return [
    own('signin-mail', request),
    own('signin-mail-no-script', async (page) => {
      await withoutScript(page);
      await request(page);
    }),
    own('signin-no-script', async (page) => {
      await withoutScript(page);
      await page.goto(`${service.url}${signInOf('shop.example')}`);
      await heading(page, text('en', 'welcome'));
    }),
    own('signin-wrong-code', async (page) => {
      const { mail } = await request(page);
      await page.getByLabel(text('en', 'code_label')).fill(String((Number(mail.code) + 1) % 1_000_000).padStart(6, '0'));
      await page.getByText(text('en', 'code_wrong')).waitFor();
    }),
    own('signin-suggestion', async (page) => {
      await page.goto(shop.signInUrl());
      await page.getByLabel(text('en', 'email_label')).fill('joe@gmial.com');
      await page.getByRole('button', { name: text('en', 'did_you_mean', { domain: 'gmail.com' }) }).waitFor();
    }),
    own('signin-opened', async (page) => {
      const { email, mail } = await request(page);
      const tab = await page.context().newPage();
      await tab.goto(mail.link);
      await heading(tab, `Hello ${email}`);
      await tab.close();
      await heading(page, text('en', 'signed_in_title', { email }));
    }),
    own('signin-opened-elsewhere', async (page) => {
      const { email, mail } = await request(page);
      await confirmLink(service.client(), mail, email);
      await page.getByText(text('en', 'opened_elsewhere_title')).waitFor();
    }),
    own('signin-expired', async (page) => {
      const { email } = await request(page);
      await expire(email);
      await page.getByText(text('en', 'mail_expired')).waitFor();
    }),
    own('signin-mail-failed', async (page) => {
      const { email } = await request(page);
      await stage.query('update sign_in_attempts set mail_failed = true where email = $1', [email]);
      await heading(page, text('en', 'mail_failed_title'));
    }),
    own(
      'signin-remembered',
      async (page) => {
        await page.goto(`${service.url}${signInOf('shop.example')}`);
        await page.getByText(text('en', 'previous_emails')).waitFor();
      },
      'returning',
    ),
    own(
      'signin-signed-in',
      async (page) => {
        await page.goto(`${service.url}/auth`);
        await page.getByRole('link', { name: text('en', 'continue_to_portal') }).waitFor();
      },
      'newcomer',
    ),
    own('link-other-browser', async (page) => {
      await page.goto((await foreignMail()).mail.link);
      await heading(page, text('en', 'confirm_title'));
    }),
    own('link-application', async (page) => {
      await page.goto(await applicationLink());
      await heading(page, text('en', 'confirm_title'));
      await page.getByRole('textbox').fill(freshAddress('eve'));
      await page.keyboard.press('Enter');
      await page.getByRole('alert').getByText(text('en', 'confirm_wrong_email')).waitFor();
    }),
    own('link-leaving', async (page) => {
      const { email, mail } = await foreignMail();
      await withoutScript(page);
      // The browser stays on the page when the website has no content.
      await page.route(`${shop.url}/**`, (route) => route.fulfill({ status: 204 }));
      await page.goto(mail.link);
      await confirm(page, email);
      await heading(page, text('en', 'leaving_title'));
    }),
    own('link-used', async (page) => {
      const { client, mail } = await programMail();
      await openLink(client, mail);
      await page.goto(mail.link);
      await heading(page, text('en', 'link_used'));
    }),
    own('link-expired', async (page) => {
      const { email, mail } = await programMail();
      await expire(email);
      await page.goto(mail.link);
      await heading(page, text('en', 'link_expired'));
    }),
    own('link-used-own', async (page) => {
      const { email, mail } = await request(page);
      await confirmLink(service.client(), mail, email);
      await page.goto(mail.link);
      await heading(page, text('en', 'link_used'));
    }),
    own('link-gone', async (page) => {
      await page.goto(await goneLink());
      await heading(page, text('en', 'link_gone'));
    }),
    own('link-browser', async (page) => {
      const { email, mail } = await programMail();
      await stage.query(
        `insert into rate_limits select kind || ' ' || $1, 100000, now() + interval '1 hour' from unnest(array['mailbox', 'reserve']) kind
         on conflict (key) do update set hits = excluded.hits`,
        [email],
      );
      await page.goto(shop.signInUrl());
      await page.getByLabel(text('en', 'email_label')).fill(email);
      await page.getByRole('button', { name: text('en', 'send_magic_link'), exact: true }).click();
      await page.getByText(text('en', 'error_mailbox').split('{when}')[0]).waitFor();
      await page.goto(mail.link);
      await heading(page, text('en', 'browser_title'));
    }),
  ];
}

/** Signs a developer in who has many websites. */
export async function signInPublisher(stage: Stage, service: Service) {
  const { email, client } = await signInDeveloper(stage, service, freshAddress('publisher'));
  await stage.query(
    `with site as (
       insert into websites (id, domain, email, claimed_at, created_at, proven_at)
       select gen_random_uuid(), 'site-' || n || '.example', $1, now(), now() - n * interval '1 day', case when n % 3 > 0 then now() end
       from generate_series(1, 60) n returning id, domain
     )
     insert into daily_sites (website, day, sent, opened, again, completed)
     select id, (now() at time zone 'UTC')::date, 48, 41, 17, 55 from site where domain like '%2%'`,
    [email],
  );
  return client;
}
