import type { Page } from 'playwright';
import { describe, expect, test } from 'vitest';
import { frameworks } from '../../templates/catalog.ts';
import { freshAddress, freshDomain, signInDeveloper } from '../support/sign-ins.ts';
import { evaluates, heading, holdRequests, useScene } from './scene.ts';

const scene = await useScene();

const GUIDE = '/webservices/email-auth';
const REGISTER = `${GUIDE}/register`;
const SUCCESS = `${REGISTER}/success`;

async function open(path: string, { clipboard = true, width = 1024 } = {}): Promise<Page> {
  const context = await scene.newBrowser();
  if (clipboard) await context.grantPermissions(['clipboard-read', 'clipboard-write'], { origin: scene.service.url });
  const page = await context.newPage();
  await page.setViewportSize({ width, height: 800 });
  await page.goto(scene.service.url + path);
  return page;
}

const at = (page: Page) => new URL(page.url()).pathname;
const copied = (page: Page) => page.evaluate<string>('navigator.clipboard.readText()');
const hrefOf = (page: Page, name: string | RegExp) => page.getByRole('link', { name, exact: true }).getAttribute('href');

describe('the landing page', () => {
  test('has its headings, its tip, three features, and buttons to the next pages', async () => {
    const page = await open('/');
    await heading(page, 'Passwordless email auth for vibe coding');
    for (const claim of ['No setup fees', 'AI assistant ready', 'Enterprise ready']) await page.getByText(claim, { exact: true }).waitFor();
    for (const name of ['Secure by Design', 'Lightning Fast', 'AI Assistant Ready', 'Tip for AI assistants', 'Try it']) {
      await heading(page, name);
    }
    expect(await hrefOf(page, 'Get Started Free')).toBe('/auth');
    expect(await hrefOf(page, 'Connect With Email')).toBe('/auth');
    await page.getByRole('button', { name: 'Copy the prompt' }).click();
    await page.getByText('Copied to clipboard').waitFor();
    await expect.poll(() => copied(page)).toContain(`${scene.service.url}${GUIDE}`);
    await page.getByRole('button', { name: 'Copy the command' }).click();
    await expect.poll(() => copied(page)).toBe(`npx emailauth init --host ${scene.service.url}`);
    await page.getByRole('link', { name: 'Learn More' }).click();
    await heading(page, 'Email sign-in for any site');
    await expect.poll(() => at(page)).toBe(GUIDE);
  });

  test('links the services that are available', async () => {
    const page = await open('/');
    const services = page.getByRole('region', { name: 'Services' });
    const later = services.getByRole('listitem').filter({ hasText: 'Coming Soon' });
    expect(await later.getByText('Bug Reporting').count()).toBe(1);
    expect(await later.getByRole('link').count()).toBe(0);
    for (const item of await services.getByRole('listitem').filter({ hasText: 'Ready Now' }).all()) {
      const link = await item.getByRole('link').getAttribute('href');
      expect((await scene.service.client().get(link ?? '')).status).toBe(200);
    }
    await services.getByRole('link', { name: /Email Authentication.*Ready Now/ }).click();
    await expect.poll(() => at(page)).toBe(GUIDE);
  });

  test('offers the sign-in where a cookie of an ended session is left', async () => {
    const context = await scene.newBrowser();
    const page = await context.newPage();
    await context.addCookies([{ name: 'auth_key', value: 'stale', url: scene.service.url }]);
    const sessions = await holdRequests(page, '**/api/auth/session');
    await page.goto(scene.service.url);
    await page.getByRole('link', { name: 'Developer Home' }).first().waitFor();
    sessions.release();
    await page.getByRole('link', { name: 'Sign in', exact: true }).first().waitFor();
    expect(await page.getByRole('link', { name: 'Developer Home' }).count()).toBe(0);
  });
});

describe('without a script', () => {
  const openPlain = async (path: string, width = 1024) => {
    const page = await (await scene.newBrowser({ script: false })).newPage();
    await page.setViewportSize({ width, height: 800 });
    await page.goto(scene.service.url + path);
    return page;
  };

  test.each([
    ['/', 'Passwordless email auth for vibe coding', 'Nothing is wrong.'],
    [GUIDE, 'Email sign-in for any site', 'SITE_URL=https://example.com'],
    [`${GUIDE}/quick-start`, 'Quick start', 'Then open a new session for the email address'],
    [`${GUIDE}/frameworks/express`, 'Sign-in with Express', '/auth/callback'],
    ['/tos', 'Terms of Service', '100 USD'],
    ['/privacy', 'Privacy Policy', 'under 13'],
    ['/no/such-page', '404 Page Not Found', 'Did you forget to add the page to the router?'],
  ])('%s is complete, with links that lead to the other pages', async (path, title, end) => {
    const page = await openPlain(path);
    await heading(page, title);
    await page.getByText(end).first().waitFor();
    const nav = page.getByRole('navigation', { name: 'Main' });
    expect(await nav.getByRole('link').allTextContents()).toEqual(['Docs', 'Guide', 'Demo', 'Sign in', 'Register']);
    expect(await page.getByRole('button').count(), 'no button that does nothing').toBe(0);
    await nav.getByRole('link', { name: 'Guide' }).click();
    await heading(page, 'Email sign-in for any site');
    expect(at(page)).toBe(GUIDE);
  });

  test('a phone has a menu, the documentation its list of pages, and the guide links to each framework', async () => {
    const page = await openPlain('/', 320);
    await page.locator('summary', { hasText: 'Menu' }).click();
    await page.getByRole('navigation', { name: 'Main' }).getByRole('link', { name: 'Docs' }).click();
    await heading(page, 'Quick start');
    await page.locator('summary', { hasText: 'All pages' }).click();
    await page.getByRole('navigation', { name: 'Documentation' }).getByRole('link', { name: 'Integration' }).click();
    await heading(page, 'Integration');
    await page.goto(scene.service.url + GUIDE);
    await page.getByRole('link', { name: 'Flask', exact: true }).first().click();
    await heading(page, 'Sign-in with Flask');
  });
});

test.each(['/', GUIDE, `${GUIDE}/api`, '/tos', '/no/such-page'])(
  '%s is compressed, and sent once to a browser that keeps it',
  async (path) => {
    const load = async (headers: Record<string, string>) => {
      const response = await fetch(scene.service.url + path, { headers });
      return { status: response.status, headers: response.headers, body: await response.text() };
    };
    const plain = await load({ 'Accept-Encoding': 'identity' });
    const isFound = plain.status === 200;
    expect(plain.headers.get('content-encoding')).toBeNull();
    for (const [accepted, used] of [
      ['gzip, deflate, br', 'br'],
      ['gzip', 'gzip'],
    ]) {
      const { headers, body } = await load({ 'Accept-Encoding': accepted });
      expect(headers.get('content-encoding')).toBe(used);
      expect(headers.get('vary')).toContain('Accept-Encoding');
      expect(body).toBe(plain.body);
      expect(Number(headers.get('content-length'))).toBeLessThan(plain.body.length / 3);
      expect(headers.get('cache-control')).toBe(isFound ? 'public, no-cache' : 'no-store');
      // The fetch of Node asks with no-cache.
      const again = await scene.service
        .client()
        .get(path, { 'Accept-Encoding': accepted, 'If-None-Match': headers.get('etag') ?? '"none"' });
      expect(again.status).toBe(isFound ? 304 : 404);
    }
    // Nothing blocks the first paint: the styles are in the page, and its script is a module.
    expect(plain.body).not.toMatch(/<link rel="stylesheet"|<script src|no\/such/);
  },
);

test('the landing page of a signed-in developer is not stored', async () => {
  const { client } = await signInDeveloper(scene.stage, scene.service);
  const response = await client.get('/');
  expect([response.status, response.headers.location, response.headers['cache-control']]).toEqual([302, '/developer', 'no-store']);
});

describe('the guide', () => {
  test('has its sections and links to the registration', async () => {
    const page = await open(GUIDE);
    for (const name of ['Overview', 'With an AI assistant', 'By hand, in four steps', 'In your framework', 'Security features']) {
      await heading(page, name);
    }
    for (const text of ['Magic Links', 'Domain Security', 'Token Verification', 'Single-use tokens', 'URL validation', 'Audit logging']) {
      await page.getByText(text, { exact: true }).waitFor();
    }
    await page.getByRole('navigation', { name: 'On this page' }).getByRole('link', { name: 'Security features' }).click();
    await page.waitForURL('**#security');
    expect(await hrefOf(page, 'Register Domain')).toBe(REGISTER);
    await page.getByRole('link', { name: 'Set Up Email Authentication in One Click' }).click();
    await heading(page, 'Register your domain');
    await expect.poll(() => at(page)).toBe(REGISTER);
  });

  test('shows every framework with its files and copies each file and prompt', async () => {
    const page = await open(GUIDE);
    const picker = page.getByRole('group', { name: 'Framework' }).last();
    for (const { id, name, files, newProject } of frameworks) {
      await picker.getByText(name, { exact: true }).click();
      await page.getByText(`prompt for ${name}`, { exact: true }).waitFor();
      await expect.poll(() => page.getByRole('tab').count(), { message: id }).toBe((newProject?.files ?? files).length);
    }
    await picker.getByText('Next.js', { exact: true }).click();
    await page.getByRole('tab', { name: 'app/auth/callback/route.ts' }).click();
    await page.getByRole('button', { name: 'Copy app/auth/callback/route.ts' }).click();
    await page.getByText('Code copied successfully').waitFor();
    await expect.poll(() => copied(page)).toContain('api/verify-token');
    await page.getByRole('button', { name: 'Copy prompt for Next.js' }).click();
    await expect.poll(() => copied(page)).toContain('Add passwordless email sign-in to this Next.js project');

    await page.reload();
    await page.getByText('prompt for Next.js', { exact: true }).waitFor();
  });

  test('supports the arrow keys in tabs and radio buttons', async () => {
    const page = await open(GUIDE);
    await page.getByRole('tab', { name: 'auth.mjs' }).waitFor();
    const express = page.getByRole('radio', { name: 'Express' }).last();
    await express.focus();
    await page.keyboard.press('ArrowRight');
    const files = page.getByRole('tab');
    await page.getByRole('tab', { name: 'lib/auth.ts', selected: true }).focus();
    await page.keyboard.press('ArrowLeft');
    await expect.poll(() => files.last().getAttribute('aria-selected')).toBe('true');
    await page.keyboard.press('Home');
    await evaluates(page, 'document.activeElement.textContent', 'lib/auth.ts');
    await expect.poll(() => page.getByRole('tabpanel').textContent()).toContain('openSession');
  });

  test('has a select in place of the radio buttons on a phone', async () => {
    const page = await open(GUIDE, { width: 320 });
    await page.getByRole('combobox', { name: 'Framework' }).last().selectOption('Flask');
    await page.getByText('prompt for Flask', { exact: true }).waitFor();
  });

  test('explains how to copy when the browser refuses', async () => {
    const page = await open(GUIDE, { clipboard: false });
    await page.evaluate("navigator.clipboard.writeText = () => Promise.reject(new Error('no'))");
    await page.getByRole('button', { name: 'Copy request' }).click();
    await page.getByText('Copy failed', { exact: true }).waitFor();
    await page.getByText('Please copy manually', { exact: true }).waitFor();
  });
});

describe('the registration', () => {
  const submit = (page: Page) => page.getByRole('button', { name: 'Register Domain' }).click();

  test.each([
    ['', '', ['Domain is required', 'Email is required']],
    ['shop', 'ann', ['Please enter a valid domain (e.g., example.com)', 'Please enter a valid email address']],
    ['https://shop', 'ann@mail.example', ['Please enter a valid domain (e.g., example.com)']],
    ['shop_.example', 'a b@mail.example', ['Please enter a valid domain (e.g., example.com)', 'Please enter a valid email address']],
  ])('of %j by %j is rejected with a message and focuses the field', async (domain, email, words) => {
    const page = await open(REGISTER);
    await page.getByLabel('Domain').fill(domain);
    await page.getByLabel('Email Address').fill(email);
    await submit(page);
    for (const text of words) await page.getByText(text, { exact: true }).waitFor();
    await expect.poll(() => page.getByRole('alert').count()).toBe(words.length);
    await evaluates(page, 'document.activeElement.name', 'domain');
    await expect.poll(() => at(page)).toBe(REGISTER);
  });

  test('shows the steps for the typed domain, also on the success page', async () => {
    const [page, domain] = [await open(REGISTER), freshDomain()];
    const code = page.getByRole('tabpanel');
    await expect.poll(() => code.textContent()).toContain("'http://localhost:");
    await page.getByText('On example.com', { exact: true }).click();
    await expect.poll(() => code.textContent()).toContain("'https://example.com'");
    await page.getByLabel('Domain').fill(domain);
    await expect.poll(() => code.textContent()).toContain(`'https://${domain}'`);
    await page.getByRole('group', { name: 'Framework' }).getByText('FastAPI', { exact: true }).click();
    await page.getByText('prompt for FastAPI', { exact: true }).waitFor();
    const owner = freshAddress('owner');
    await page.getByLabel('Email Address').fill(owner);
    await page.keyboard.press('Enter');
    await page.getByText('Redirecting to setup instructions...').waitFor();
    await heading(page, 'Registration Successful!');
    await expect.poll(() => at(page)).toBe(SUCCESS);
    await page.getByText(owner, { exact: true }).waitFor();
    expect(page.url()).not.toContain(owner);
    // The choice is kept across pages.
    await page.getByRole('tab', { name: 'email_login.py' }).waitFor();
    for (const [button, text] of [
      ['Copy login', `https://${domain}/auth/callback?state=`],
      ['Copy terminal', `token=TOKEN&domain=${domain}'`],
      ['Copy response.json', `"domain": "${domain}"`],
      ['Copy email_login.py', `https://${domain}`],
      ['Copy prompt for FastAPI', `for the domain ${domain}`],
    ]) {
      await page.getByRole('button', { name: button, exact: true }).first().click();
      await expect.poll(() => copied(page)).toContain(text);
    }
    expect(await hrefOf(page, 'Access Developer Area')).toBe('/auth');
    await page.getByRole('link', { name: 'Back to Documentation' }).click();
    await expect.poll(() => at(page)).toBe(GUIDE);
  });

  test('shows the service’s message for a taken and an invalid domain until the next attempt', async () => {
    const [page, domain] = [await open(REGISTER), freshDomain()];
    const register = async (name: string) => {
      await page.getByLabel('Domain').fill(name);
      await page.getByLabel('Email Address').fill(freshAddress('owner'));
      await submit(page);
    };
    await register(domain);
    await heading(page, 'Registration Successful!');
    await page.goto(scene.service.url + REGISTER);
    await register(domain);
    await page.getByText('This domain is already registered.').waitFor();
    await register('co.uk');
    await page.getByRole('alert').first().waitFor();
    await expect.poll(() => page.getByText('This domain is already registered.').count()).toBe(0);
    await expect.poll(() => at(page)).toBe(REGISTER);
  });

  test('reports an unreachable service', async () => {
    const page = await open(REGISTER);
    await page.getByRole('tabpanel').waitFor();
    await page.context().setOffline(true);
    await page.getByLabel('Domain').fill(freshDomain());
    await page.getByLabel('Email Address').fill(freshAddress('owner'));
    await submit(page);
    await page.getByText('The service cannot be reached. Check your connection and try again.').waitFor();
    await page.context().setOffline(false);
    await submit(page);
    await heading(page, 'Registration Successful!');
  });

  test('of this computer is not needed, and leads to its code with all settings and a secret', async () => {
    const page = await open(`${REGISTER}?domain=shop.example`);
    await expect.poll(() => page.getByLabel('Domain').inputValue()).toBe('shop.example');
    for (const name of ['localhost', 'http://127.0.0.1:5173/login', '[::1]:8080']) {
      await page.getByLabel('Domain').fill(name);
      await page.getByText('localhost is registered already').waitFor();
    }
    await submit(page);
    await heading(page, 'Set up your app');
    await page.getByRole('button', { name: 'Copy .env' }).click();
    await expect
      .poll(() => copied(page))
      .toMatch(new RegExp(`^SESSION_SECRET=[0-9a-f]{64}\\nSITE_URL=http://localhost:\\d+\\nEMAILAUTH_URL=${scene.service.url}$`));
    await page.getByRole('button', { name: 'Copy login' }).click();
    await expect.poll(() => copied(page)).toContain("'http://localhost:");
    expect(await copied(page)).toContain('secure: false');
  });

  test('has a success page that shows an example without a domain in its URL', async () => {
    for (const address of [SUCCESS, `${SUCCESS}?domain=%27%3B%3Cscript%3E`]) {
      const page = await open(address);
      await heading(page, 'Set up your site');
      await page.getByText('On example.com', { exact: true }).click();
      await expect.poll(() => page.getByRole('tabpanel').textContent()).toContain("'https://example.com'");
      expect(await hrefOf(page, 'Register yours')).toBe(REGISTER);
    }
  });
});

test('the check mark of a copy disappears after two seconds', async () => {
  const page = await open('/tos');
  await page.clock.install();
  await page.goto(`${scene.service.url}${SUCCESS}?domain=shop.example`);
  const button = page.getByRole('button', { name: 'Copy login', exact: true });
  const mark = button.locator('svg.text-accent');
  await button.waitFor();
  await page.clock.pauseAt(Date.now() + 600_000);
  await button.click();
  await mark.waitFor();
  await page.clock.runFor(1900);
  expect(await mark.count()).toBe(1);
  await page.clock.runFor(200);
  await mark.waitFor({ state: 'detached' });
});

test.each([
  ['/tos', 'Terms of Service', ['late fee of 1.5% per month', '100 USD', 'in the 12 months before', 'for 30 days']],
  ['/privacy', 'Privacy Policy', ['within 30 days', 'about 2 years', 'up to 7 years', 'under 13']],
])('%s has its required texts and the present date of the visitor', async (path, title, words) => {
  const context = await scene.newBrowser();
  const page = await context.newPage();
  // On the other side of the date line, so that the day differs from the server's for twelve hours.
  const session = await context.newCDPSession(page);
  await session.send('Emulation.setTimezoneOverride', { timezoneId: 'Pacific/Kiritimati' });
  await page.goto(`${scene.service.url}${path}`);
  await heading(page, title);
  for (const text of words) await page.getByText(text).first().waitFor();
  const options = { day: 'numeric', month: 'long', year: 'numeric', timeZone: 'Pacific/Kiritimati' } as const;
  await page.getByText(`Last updated: ${new Date().toLocaleDateString('en-GB', options)}`, { exact: true }).waitFor();
  await expect.poll(() => page.title()).toBe(`${title} · Email Auth`);
});

test('the 404 page shows the URL and links to other pages', async () => {
  const page = await open('/no/such-page');
  await heading(page, '404 Page Not Found');
  await page.getByText('Did you forget to add the page to the router?').waitFor();
  await page.getByText('/no/such-page', { exact: true }).waitFor();
  await page.getByRole('link', { name: 'Documentation' }).click();
  await heading(page, 'Email sign-in for any site');
  await page.goBack();
  await page.getByRole('link', { name: 'Go to Homepage' }).click();
  await heading(page, 'Services');
});

test('the Tab key follows the reading order of the landing page', async () => {
  const page = await open('/');
  await heading(page, 'Services');
  const names: (string | null)[] = [];
  for (let stop = 0; stop < 15; stop++) {
    await page.keyboard.press('Tab');
    names.push(await page.evaluate("document.activeElement.getAttribute('aria-label') ?? document.activeElement.textContent"));
  }
  const stops = [
    'Skip to content',
    'Home',
    'Email Auth',
    'Docs',
    'Guide',
    'Demo',
    'Sign in',
    'Register',
    /theme/,
    'Get Started Free',
    'Connect With Email',
    'Learn More',
    'Copy the command',
    'Copy the prompt',
    'Sign in at the demo shop',
  ];
  for (const [index, name] of stops.entries()) expect(names[index]).toMatch(name);
});

test('the pages have metadata for search engines', async () => {
  const client = scene.service.client();
  expect((await client.get('/robots.txt')).text).toContain('Disallow: /auth/link\n');
  const manifest = await client.get('/manifest.webmanifest');
  expect([manifest.status, manifest.headers['content-type']]).toEqual([200, 'application/manifest+json; charset=utf-8']);
  expect((await client.get(manifest.json.icons[0].src)).status).toBe(200);
  expect((await client.get(`${GUIDE}/`)).text).toContain(`<link rel="canonical" href="${scene.service.url}${GUIDE}" />`);
  expect((await client.get('/no-such-page')).text).toContain('noindex');
});

test('the register form shortens what was pasted and says so, and shows an error of the service once', async () => {
  const page = await open(REGISTER);
  const domain = freshDomain();
  const field = page.getByLabel('Domain');
  await field.fill(`https://www.${domain}/shop?x=1`);
  await page.getByLabel('Email Address').fill(freshAddress());
  await page.getByRole('status').getByText(`Shortened to the root domain: ${domain}`, { exact: true }).waitFor();
  await field.fill('www.co.uk');
  await page.getByRole('button', { name: 'Register Domain' }).click();
  await page.getByRole('alert').getByText('public suffix').waitFor();
  expect(await page.getByText('public suffix').count()).toBe(1);
  await expect.poll(() => field.getAttribute('aria-invalid')).toBe('true');
  await field.fill(`www.${domain}`);
  await field.press('Enter');
  await page.waitForURL(`**${REGISTER}/success?domain=${domain}`);
});

test('a page of the documentation does not move while it is loaded, and shows code in its own typeface', async () => {
  const page = await (await scene.newBrowser()).newPage();
  await page.addInitScript(`window.shift = 0;
    new PerformanceObserver((list) => { for (const entry of list.getEntries()) if (!entry.hadRecentInput) window.shift += entry.value; })
      .observe({ type: 'layout-shift', buffered: true });`);
  await page.goto(`${scene.service.url}${GUIDE}/integration`);
  await page.locator('html[data-script=running]').waitFor();
  expect(await page.evaluate('window.shift')).toBeLessThanOrEqual(0.02);
  await evaluates(page, "getComputedStyle(document.querySelector('pre')).fontFamily.split(',')[0]", '"Geist Mono Variable"');
  await evaluates(page, 'document.fonts.load(\'13px "Geist Mono Variable"\').then((faces) => faces.length)', 1);
});

test('forced colors show buttons by a border and the days of the status by colors of the system', async () => {
  const context = await scene.newBrowser();
  const page = await context.newPage();
  await page.emulateMedia({ forcedColors: 'active' });
  await page.goto(`${scene.service.url}${REGISTER}`);
  await page.getByRole('button', { name: 'Register Domain' }).waitFor();
  await evaluates(page, "getComputedStyle(document.querySelector('form [type=submit]')).borderTopWidth", '1px');
  await page.goto(`${scene.service.url}/status`);
  await page.getByText('Not measured', { exact: true }).first().waitFor();
  const colors = await page.evaluate<string[]>(
    "[document.body, ...document.querySelectorAll('figcaption [aria-hidden]')].map((element) => getComputedStyle(element).backgroundColor)",
  );
  expect(new Set(colors.slice(0, 3)).size).toBe(3);
});
