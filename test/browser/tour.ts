import type { Browser, BrowserContext, Page } from 'playwright';
import sharp from 'sharp';
import { launchBrowser } from '../support/browser.ts';
import { openStage, type Service, type Stage } from '../support/harness.ts';
import { addWebsite, freshAddress, registerWebsite, signInDeveloper } from '../support/sign-ins.ts';
import { countNow } from '../support/statistics.ts';
import { openTestWebsite, type TestWebsite } from '../support/test-website.ts';
import { authorizationStops, connect, OFFICE, type Office } from './authorization-stops.ts';
import { heading, settled, showPreview, text } from './scene.ts';
import { rememberAccounts, signInOf, signInPublisher, signInStops } from './sign-in-stops.ts';
import type { Stop, StopAt, Who } from './stop.ts';
import { fillEvents, fillStats, fillTeam, websiteStops } from './website-stops.ts';

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
  await fillStats(stage);
  await fillEvents(stage);
  await countNow(stage);
  await fillTeam(stage, 'ada@lovelace.example');
  return {
    office,
    visitor: await stateOf(browser),
    returning: await stateOf(browser, await rememberAccounts(stage, service, 'shop.example')),
    publisher: await stateOf(browser, await signInPublisher(stage, service)),
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

function stopsOf({ stage, service, shop, browser, office }: Parts): Stop[] {
  /** A page that always waits for a response, so that its network is never idle. */
  const live: StopAt = (who, path, name, title, act) => ({
    name,
    who,
    open: async (page) => {
      await page.goto(`${service.url}${path}`);
      await heading(page, title);
      await act?.(page);
    },
  });
  const at: StopAt = (who, path, name, title, act) =>
    live(who, path, name, title, async (page) => {
      await act?.(page);
      await settled(page);
    });
  const click = (name: string | RegExp) => (page: Page) => page.getByRole('button', { name }).first().click();
  const dialog = (name: string | RegExp) => async (page: Page) => {
    await click(name)(page);
    await page.getByRole('dialog').waitFor();
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
    {
      name: 'status',
      who: 'visitor',
      // Its headline depends on how busy this machine is.
      open: async (page) => {
        await page.goto(`${service.url}/status`);
        await page.getByText('Checked at').waitFor();
        await settled(page);
      },
    },
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
    ...signInStops({ stage, service, shop, browser }),

    at('newcomer', '/developer-email-auth', 'websites-empty', 'No Websites Added'),
    at('newcomer', '/dashboard', 'dashboard-empty', 'Recent Activity'),
    at('newcomer', '/dashboard/auth', 'applications-empty', 'No applications created yet'),
    at('newcomer', '/admin', 'admin-denied', 'Access Denied'),

    at('developer', '/developer', 'developer', 'Developer Portal'),
    at('developer', '/developer-email-auth', 'websites', 'My Websites', (page) => page.getByRole('rowheader').first().waitFor()),
    at('developer', '/developer-email-auth', 'websites-add', 'My Websites', dialog('Add New Website')),
    at('developer', '/developer-email-auth', 'websites-edit', 'My Websites', dialog(/^Edit shop\.example/)),
    at('developer', '/developer-email-auth', 'websites-delete', 'My Websites', dialog(/^Delete shop\.example/)),
    at('publisher', '/developer-email-auth', 'websites-many', 'My Websites', (page) => page.getByRole('rowheader').first().waitFor()),
    ...websiteStops(at, live),
    at('developer', '/dashboard', 'dashboard', 'Recent Activity'),
    at('developer', '/dashboard/activity', 'activity', 'Activity', (page) => page.getByText('That is everything.').waitFor()),
    at('developer', '/dashboard/auth', 'applications', 'Applications', (page) => page.getByText('Back office').waitFor()),
    at('developer', '/dashboard/auth', 'applications-new', 'Applications', dialog('New Application')),
    at('developer', '/dashboard/auth', 'applications-edit', 'Applications', dialog('Configure Back office')),
    at('developer', '/dashboard/auth', 'applications-setup', 'Applications', dialog('Set up Back office')),
    at('developer', '/dashboard/auth', 'applications-rotate', 'Applications', dialog(/^Rotate Secret of/)),
    at('developer', '/dashboard/auth', 'applications-logs', 'Applications', dialog('View Logs of Back office')),
    at('developer', '/dashboard/auth', 'api-keys-generate', 'Applications', dialog('Generate Key')),
    at('developer', '/dashboard/auth', 'api-keys-usage', 'Applications', dialog(/^Usage Stats/)),
    at('developer', '/dashboard/analytics', 'analytics', 'Analytics'),
    at('developer', '/dashboard/bugs', 'bugs', 'Bug Reports'),
    at('developer', '/dashboard/settings', 'settings', 'Profile Settings'),
    at('developer', '/dashboard/settings/branding', 'settings-branding', 'Email Branding', (page) => showPreview(page, 'Preview in')),
    at('developer', '/dashboard/settings/security', 'settings-security', 'Connected applications'),
    at('developer', '/profile', 'profile', 'Profile'),
    at('developer', '/iladmin', 'iladmin', 'Admin Dashboard'),
    at('developer', '/admin', 'admin', 'Admin'),
    ...['users', 'mails', 'audit'].map((list) => at('developer', `/admin?list=${list}`, `admin-${list}`, 'Admin')),
    at('developer', '/dashboard', 'shortcuts', 'Recent Activity', async (page) => {
      await page.keyboard.press('?');
      await page.getByRole('dialog', { name: 'Keyboard shortcuts' }).waitFor();
    }),
    at('developer', '/dashboard', 'palette', 'Recent Activity', async (page) => {
      await page.keyboard.press('Control+k');
      await page.getByRole('combobox').waitFor();
    }),
  ];
}
