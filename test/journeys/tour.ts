import type { Browser, BrowserContext, Page } from 'playwright';
import sharp from 'sharp';
import { launchBrowser } from '../browser.ts';
import { openStage, type Service, type Stage } from '../harness.ts';
import { addWebsite, authorize, freshAddress, freshDomain, registerWebsite, signInDeveloper } from '../sign-ins.ts';
import { openTestWebsite, type TestWebsite } from '../test-website.ts';
import { authorizationStops, connect, OFFICE, type Office } from './authorization-stops.ts';
import { heading, requestEmail, text } from './scene.ts';
import { click, dialog, type Stop, type StopAt, type Who } from './stop.ts';
import { BRANDED, fillWebsites, websiteStops } from './website-stops.ts';

export type Theme = 'light' | 'dark';

/** The app with data, and every page of it. */
export type Tour = {
  stops: Stop[];
  /** Opens a page of that person's browser in a theme. */
  newPage(who: Who, theme: Theme, width?: number): Promise<Page>;
  close(): Promise<void>;
};

export async function openTour(): Promise<Tour> {
  const stage = await openStage();
  const service = await stage.start();
  const shop = await openTestWebsite(service.url);
  const browser = await launchBrowser();
  const { office, ...people } = await settle(stage, service, browser);
  const contexts = new Map<string, BrowserContext>();
  return {
    stops: stopsOf({ stage, service, shop, browser, office }),
    newPage: async (who, theme, width = 1280) => {
      const key = `${who} ${theme}`;
      const context = contexts.get(key) ?? (await browser.newContext({ storageState: people[who], colorScheme: theme, locale: 'en-GB' }));
      contexts.set(key, context);
      context.setDefaultTimeout(45_000);
      const page = await context.newPage();
      await page.setViewportSize({ width, height: 800 });
      return page;
    },
    close: async () => {
      await browser.close();
      await shop.close();
      await stage.close();
    },
  };
}

type Parts = { stage: Stage; service: Service; shop: TestWebsite; browser: Browser; office: Office };

type Cookies = { cookies: Awaited<ReturnType<BrowserContext['cookies']>>; origins: [] };

async function settle(stage: Stage, service: Service, browser: Browser): Promise<Record<Who, Cookies> & { office: Office }> {
  const newcomer = await signInDeveloper(stage, service, freshAddress('grace'));
  const ada = await signInDeveloper(stage, service, 'ada@lovelace.example');
  await ada.client.post('/api/dev/admin-session', { enable: true });
  const upload = (await ada.client.post('/api/objects/upload')).json.uploadURL as string;
  await ada.client.send(upload, { method: 'PUT', headers: { 'Content-Type': 'image/png' }, body: await icon() });
  await ada.client.post('/api/websites', { domain: 'bücher.example' });
  await ada.client.post('/api/websites', { domain: 'a-shop-with-a-rather-long-name.example' });
  await ada.client.post('/api/websites', { domain: 'shop.example', iconUrl: new URL(upload).pathname });
  await stage.query("update websites set proven_at = now() where domain = 'shop.example'");
  await registerWebsite(service.client(), 'unclaimed.example');
  await addWebsite(stage, service, 'neighbour.example');
  const { json: office } = await ada.client.post('/api/clients', {
    name: 'Back office',
    redirectUris: [OFFICE],
    authentication: 'secret',
    scopes: ['openid', 'email', 'profile', 'offline_access', 'websites:read', 'stats:read'],
  });
  await connect(stage, ada.client, office, 'ada@lovelace.example');
  await service.client().get(`/oauth/authorize?client_id=${office.clientId}&redirect_uri=https://office.shop.example/wrong`);
  await ada.client.post('/api/clients', { name: 'Desktop client', redirectUris: ['http://127.0.0.1/callback'] });
  await ada.client.post('/api/api-keys', { name: 'Deploy', environment: 'live' });
  await ada.client.post('/api/api-keys', { name: 'Continuous integration', environment: 'test' });
  await ada.client.put('/api/user/profile', { name: 'Ada Lovelace' });
  await ada.client.put('/api/user/branding', { fromName: 'The Shop', logoUrl: '' });
  await fillWebsites(stage);
  await fillStats(stage);
  await fillEvents(stage);
  return {
    office,
    visitor: await stateOf(browser),
    newcomer: await stateOf(browser, newcomer.client),
    developer: await stateOf(browser, ada.client),
  };

  async function stateOf(program: Browser, client?: { cookies: Map<string, string> }): Promise<Cookies> {
    const context = await program.newContext();
    const domain = new URL(service.url).hostname;
    const cookies = [...(client?.cookies ?? [])].map(([key, value]) => {
      const [name, path = '/'] = key.split(';');
      return { name, value, domain, path };
    });
    await context.addCookies(cookies);
    const state = await context.storageState();
    await context.close();
    return { cookies: state.cookies, origins: [] };
  }
}

const icon = () =>
  sharp({ create: { width: 256, height: 256, channels: 3, background: '#0b6e58' } })
    .png()
    .toBuffer();

/** Inserts the steps of two sign-ins of the last minutes at shop.example. */
async function fillEvents(stage: Stage): Promise<void> {
  await stage.query("update websites set created_at = now() - interval '2 days' where domain = 'shop.example'");
  await stage.query(`
    insert into audit_log (at, action, email, domain)
    select now() - n * interval '20 seconds', action, 'grace.hopper@mail.example', 'shop.example'
    from (values (9, 'sign_in_requested'), (5, 'signed_in'), (4, 'token_verified')) as row (n, action)`);
  await stage.query(`
    insert into website_events (at, domain, kind, reason, email, count)
    select now() - n * interval '20 seconds', 'shop.example', kind, reason, email, count
    from (values (8, 'mail_accepted', null, 'grace.hopper@mail.example', 1), (7, 'wrong_browser', null, 'grace.hopper@mail.example', 1),
      (6, 'wrong_code', null, 'grace.hopper@mail.example', 1), (3, 'mail_refused', '550 5.1.1', 'nobody@mail.example', 1),
      (2, 'token_refused', 'used', 'grace.hopper@mail.example', 1), (1, 'token_refused', 'unknown', null, 1234)) as row (n, kind, reason, email, count)`);
}

/** Inserts the sign-ins, API calls and probes of a month. */
async function fillStats(stage: Stage): Promise<void> {
  await stage.query(`
    insert into daily_logins select d::date, (40 + 25 * sin(extract(doy from d)))::bigint
      from generate_series((now() at time zone 'utc')::date - 29, (now() at time zone 'utc')::date, interval '1 day') d
      on conflict (day) do update set logins = excluded.logins`);
  await stage.query(`
    insert into daily_sites (website, day, sent, opened, again, completed)
      select id, (now() at time zone 'utc')::date, 48, 41, 17, 55 from websites where domain = 'shop.example' on conflict do nothing`);
  await stage.query(`
    insert into api_key_days select k.id, d::date, 900 + 300 * extract(dow from d)::int, 12
      from api_keys k, generate_series((now() at time zone 'utc')::date - 29, (now() at time zone 'utc')::date, interval '1 day') d on conflict do nothing`);
  await stage.query(`
    insert into probes (minute, database_ms, response_ms, failed)
      select m, 1.2, 3.4, case when m between now() - interval '9 days 20 minutes' and now() - interval '9 days' then '{mail}'::text[] else '{}' end
      from generate_series(date_trunc('minute', now()) - interval '21 days', date_trunc('minute', now()) - interval '1 minute', interval '1 minute') m
      on conflict do nothing`);
}

function stopsOf({ stage, service, shop, browser, office }: Parts): Stop[] {
  const at: StopAt = (who, path, name, title, act) => ({
    name,
    who,
    open: async (page) => {
      await page.goto(`${service.url}${path}`);
      await heading(page, title);
      await act?.(page);
      await page.waitForLoadState('networkidle', { timeout: 60_000 });
    },
  });
  const more = (domain: RegExp, action: string) => async (page: Page) => {
    await click(domain)(page);
    await page.getByRole('menuitem', { name: action }).click();
    await page.getByRole('dialog').waitFor();
  };
  const own = (name: string, open: (page: Page) => Promise<void>): Stop => ({ name, who: 'visitor', open });
  const developer = (name: string, open: (page: Page) => Promise<void>): Stop => ({ name, who: 'developer', open });
  const signInOf = (host: string) => `/auth?${new URLSearchParams({ forward_url: `https://${host}/welcome` })}`;

  /** Requests an email in another browser, to which its link is bound. */
  const foreignLink = async (): Promise<string> => {
    const other = await (await browser.newContext()).newPage();
    const email = freshAddress();
    await other.goto(shop.signInUrl());
    await requestEmail(other, email);
    await other.context().close();
    return (await stage.mailbox.waitFor(email)).link;
  };

  /** Requests an email for an application, whose link requires the address in every browser. */
  const applicationLink = async (): Promise<string> => {
    const [{ id }] = await stage.query("select client_id as id from applications where name = 'Desktop client'");
    const redirect_uri = 'http://127.0.0.1/callback';
    const { email } = await authorize(service.client(), freshAddress(), { client_id: id, redirect_uri });
    return (await stage.mailbox.waitFor(email)).link;
  };

  /** Requests an email for a website and deletes the website afterwards. */
  const withdrawnLink = async (): Promise<string> => {
    const [domain, email] = [freshDomain(), freshAddress()];
    await stage.query('insert into websites (id, domain, claimed_at) values (gen_random_uuid(), $1, now())', [domain]);
    await service.client().post('/api/auth/domain-auth', { email, forward_url: `https://${domain}/` });
    const { link } = await stage.mailbox.waitFor(email);
    await stage.query('delete from websites where domain = $1', [domain]);
    return link;
  };

  return [
    at('visitor', '/', 'landing', 'Passwordless email auth for vibe coding'),
    at('visitor', '/webservices/email-auth', 'guide', 'Overview'),
    at('visitor', '/webservices/email-auth/quick-start', 'docs-quick-start', 'Test it'),
    at('visitor', '/webservices/email-auth/assistants', 'docs-assistants', 'Machine-readable files'),
    at('visitor', '/webservices/email-auth/api', 'docs-api', 'Limits'),
    at('visitor', '/webservices/email-auth/frameworks/express', 'docs-framework', 'Next steps'),
    at('visitor', '/webservices/email-auth/register', 'register', 'Register your domain'),
    at('visitor', '/webservices/email-auth/register', 'register-faults', 'Register your domain', click('Register Domain')),
    at('visitor', '/webservices/email-auth/register/success?domain=shop.example', 'registered', 'Registration Successful!'),
    at('visitor', '/status', 'status', 'All Systems Operational'),
    at('visitor', '/tos', 'terms', 'Terms of Service'),
    at('visitor', '/privacy', 'privacy', 'Privacy Policy'),
    at('visitor', '/no-such-page', 'not-found', '404 Page Not Found'),
    at('visitor', '/developer', 'not-logged-in', 'Not Logged In'),
    at('visitor', '/iladmin', 'iladmin-locked', 'Admin Access'),
    at('visitor', '/auth', 'signin-portal', text('en', 'portal_welcome')),
    at('visitor', signInOf('shop.example'), 'signin-site', text('en', 'welcome')),
    at('visitor', signInOf('nobody.example'), 'signin-unsupported', text('en', 'not_supported_title')),
    at('visitor', '/auth/callback?code=x&state=y', 'callback-missing', text('en', 'callback_missing')),
    at('visitor', '/auth/link?t=x', 'link-invalid', text('en', 'link_invalid')),
    ...authorizationStops(stage, service, office),
    own('signin-mail', async (page) => {
      await page.goto(`${service.url}${signInOf('shop.example')}`);
      await requestEmail(page, freshAddress());
    }),
    at('visitor', signInOf(BRANDED), 'signin-branded', text('en', 'welcome')),
    own('signin-mail-branded', async (page) => {
      await page.goto(`${service.url}${signInOf(BRANDED)}`);
      await requestEmail(page, freshAddress());
    }),
    own('signin-code-wrong', async (page) => {
      await page.goto(`${service.url}${signInOf('shop.example')}`);
      await requestEmail(page, freshAddress());
      await page.waitForURL('**/auth?*step=code*');
      await page.reload();
      await page.getByLabel(text('en', 'code_label')).fill('000000');
      await page.getByRole('alert').filter({ hasText: /\S/ }).waitFor();
    }),
    own('link-other-browser', async (page) => {
      await page.goto(await foreignLink());
      await heading(page, text('en', 'confirm_title'));
    }),
    own('link-application', async (page) => {
      await page.goto(await applicationLink());
      await heading(page, text('en', 'confirm_title'));
      await page.getByRole('textbox').fill(freshAddress('eve'));
      await page.keyboard.press('Enter');
      await page.getByRole('alert').getByText(text('en', 'confirm_wrong_email')).waitFor();
    }),
    own('link-withdrawn', async (page) => {
      await page.goto(await withdrawnLink());
      await heading(page, text('en', 'link_withdrawn'));
    }),

    at('newcomer', '/developer-email-auth', 'websites-empty', 'No Websites Added'),
    at('newcomer', '/developer-email-auth/live', 'live-no-website', 'No Websites Added'),
    at('newcomer', '/dashboard', 'dashboard-empty', 'Recent Activity'),
    at('newcomer', '/dashboard/auth', 'applications-empty', 'No applications created yet'),
    at('newcomer', '/admin', 'admin-denied', 'Access Denied'),

    at('developer', '/developer', 'developer', 'Developer Portal'),
    at('developer', '/developer-email-auth', 'websites', 'shop.example'),
    at('developer', '/developer-email-auth', 'websites-add', 'shop.example', dialog('Add New Website')),
    at('developer', '/developer-email-auth', 'websites-edit', 'shop.example', dialog(/^Edit shop\.example/)),
    at('developer', '/developer-email-auth', 'websites-delete', 'shop.example', dialog(/^Delete shop\.example/)),
    at('developer', '/developer-email-auth', 'websites-verify', 'shop.example', more(/^More actions for b/, 'Verify')),
    at('developer', '/developer-email-auth', 'websites-openid', 'shop.example', more(/^More actions for shop\.example/, 'OpenID Connect')),
    at('developer', '/developer-email-auth', 'websites-test', 'shop.example', more(/^More actions for shop\.example/, 'Test sign-in')),
    // These pages always wait for a response, so their network is never idle.
    developer('live', async (page) => {
      await page.goto(`${service.url}/developer-email-auth/live`);
      await page.getByText('used up before').waitFor();
    }),
    developer('live-empty', async (page) => {
      await page.goto(`${service.url}/developer-email-auth/live?domain=a-shop-with-a-rather-long-name.example`);
      await heading(page, 'Nothing in the last hour');
    }),
    ...websiteStops(service.url, at),
    at('developer', '/dashboard', 'dashboard', 'Recent Activity'),
    at('developer', '/dashboard/activity', 'activity', 'Activity', (page) => page.getByText('That is everything.').waitFor()),
    at('developer', '/dashboard/activity?search=nothing-like-it', 'activity-empty', 'Activity'),
    at('developer', '/dashboard/auth', 'applications', 'Applications', (page) => page.getByText('Back office').waitFor()),
    at('developer', '/dashboard/auth', 'applications-new', 'Applications', dialog('New Application')),
    at('developer', '/dashboard/auth', 'applications-edit', 'Applications', dialog('Configure Back office')),
    at('developer', '/dashboard/auth', 'applications-setup', 'Applications', async (page) => {
      await dialog('Set up Back office')(page);
      await page.getByRole('button', { name: /^Test https/ }).click();
      await page.getByText('Redirect URI: OK').waitFor();
    }),
    at('developer', '/dashboard/auth', 'applications-rotate', 'Applications', dialog(/^Rotate Secret of/)),
    at('developer', '/dashboard/auth', 'applications-logs', 'Applications', dialog('View Logs of Back office')),
    at('developer', '/dashboard/auth', 'api-keys-generate', 'Applications', dialog('Generate Key')),
    at('developer', '/dashboard/auth', 'api-keys-usage', 'Applications', dialog(/^Usage Stats/)),
    at('developer', '/dashboard/analytics', 'analytics', 'Analytics'),
    at('developer', '/dashboard/bugs', 'bugs', 'Bug Reports'),
    at('developer', '/dashboard/settings', 'settings', 'Profile Settings'),
    at('developer', '/profile', 'profile', 'Profile'),
    at('developer', '/iladmin', 'iladmin', 'Admin Dashboard'),
    at('developer', '/admin', 'admin', 'Admin'),
    at('developer', '/dashboard', 'palette', 'Recent Activity', async (page) => {
      await page.keyboard.press('Control+k');
      await page.getByRole('combobox').waitFor();
    }),
  ];
}
