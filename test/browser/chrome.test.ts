import type { Page } from 'playwright';
import { beforeAll, describe, expect, test } from 'vitest';
import { freshAddress, freshDomain } from '../support/sign-ins.ts';
import { evaluates, heading, holdRequests, signIn, signInToPortal, useScene } from './scene.ts';

const scene = await useScene();
let developer: Page;
let email: string;
beforeAll(async () => {
  email = freshAddress('dev');
  developer = await newPage();
  await signInToPortal(scene, developer, email);
});

const url = (path: string) => `${scene.service.url}${path}`;
const newPage = async () => (await scene.newBrowser()).newPage();
const minutes = 60_000;
const palette = (page: Page) => page.getByRole('dialog', { name: 'Commands' });
const openAnonymously = async (path: string) => {
  const page = await newPage();
  await page.goto(url(path));
  return page;
};

/** Makes a call of the API as the page does. */
const create = (page: Page, path: string, body: object) =>
  page.evaluate(
    async ([path, body]) => {
      const response = await fetch(path as string, {
        method: 'POST',
        headers: { 'Content-Type': 'application/json' },
        body: JSON.stringify(body),
      });
      if (!response.ok) throw new Error(await response.text());
    },
    [path, body],
  );

describe('keyboard shortcuts', () => {
  const shortcuts = () => developer.getByRole('dialog', { name: 'Keyboard shortcuts' });

  test('g and a letter open a page, outside of fields and also on a Cyrillic keyboard', async () => {
    await developer.goto(url('/dashboard'));
    await heading(developer, 'Recent Activity');
    await developer.keyboard.press('g');
    await developer.keyboard.press('a');
    await developer.waitForURL(url('/dashboard/auth'));
    await developer.keyboard.press('g');
    await developer.keyboard.press('s');
    await developer.waitForURL(url('/dashboard/settings'));
    await developer.getByLabel('Full Name').pressSequentially('gw');
    expect(developer.url()).toBe(url('/dashboard/settings'));
    expect(await developer.getByLabel('Full Name').inputValue()).toBe('gw');
    await developer.getByLabel('Full Name').fill('');
    await developer.locator('main h1').focus();
    for (const [key, code] of [
      ['п', 'KeyG'],
      ['ц', 'KeyW'],
    ])
      await developer.locator(':focus').dispatchEvent('keydown', { key, code });
    await developer.waitForURL(url('/developer-email-auth'));
  });

  test('/ leads to the search of the page, or to the commands', async () => {
    await developer.goto(url('/dashboard/settings'));
    await developer.getByLabel('Full Name').waitFor();
    await developer.keyboard.press('/');
    await palette(developer).waitFor();
    await developer.keyboard.press('Escape');
    await palette(developer).waitFor({ state: 'detached' });
  });

  test('? lists them, and single keys can be switched off', async () => {
    await developer.goto(url('/dashboard/settings'));
    await developer.getByLabel('Full Name').waitFor();
    await developer.keyboard.press('?');
    await shortcuts().getByRole('row', { name: 'Websites g w' }).waitFor();
    await shortcuts().getByLabel('Shortcuts of single keys').uncheck();
    await developer.keyboard.press('Escape');
    await shortcuts().waitFor({ state: 'detached' });
    await developer.keyboard.press('/');
    await developer.keyboard.press('Control+k');
    await palette(developer).waitFor();
    await developer.keyboard.type('keyboard');
    await developer.keyboard.press('Enter');
    await shortcuts().getByLabel('Shortcuts of single keys').check();
    await developer.keyboard.press('Escape');
    await shortcuts().waitFor({ state: 'detached' });
  });

  test('the arrow keys move between the rows of a list', async () => {
    await create(developer, '/api/clients', { name: 'First app', redirectUris: ['https://first.example/callback'] });
    await create(developer, '/api/clients', { name: 'Second app', redirectUris: ['https://second.example/callback'] });
    await developer.goto(url('/dashboard/auth'));
    const rows = developer.locator('[data-rows]').first().locator('> li');
    await rows.nth(1).waitFor();
    const current = () =>
      developer
        .locator('[data-rows] > li')
        .filter({ has: developer.locator(':focus') })
        .locator('h3')
        .textContent();
    const names = await rows.locator('h3').allTextContents();
    await rows.nth(0).getByRole('button').first().focus();
    await developer.keyboard.press('ArrowDown');
    await expect.poll(current).toBe(names[1]);
    await developer.keyboard.press('ArrowUp');
    await expect.poll(current).toBe(names[0]);
  });
});

describe('the command menu', () => {
  test('opens by Ctrl-K, searches, runs by Enter and closes by Escape', async () => {
    await developer.goto(url('/developer'));
    await heading(developer, 'Developer Portal');
    await developer.keyboard.press('Control+k');
    await palette(developer).getByPlaceholder('Where to, or what to do?').waitFor();
    await developer.keyboard.type('gen api');
    await expect.poll(() => palette(developer).getByRole('option').first().textContent()).toBe('Generate API key');
    await developer.keyboard.press('Enter');
    await developer.waitForURL(url('/dashboard/auth'));
    await developer.getByRole('dialog', { name: 'Generate Key' }).waitFor();
    await developer.keyboard.press('Escape');
    await developer.getByRole('dialog').waitFor({ state: 'detached' });
    await developer.keyboard.press('Meta+k');
    await palette(developer).waitFor();
    await developer.keyboard.type('qqqq zzzz');
    await developer.getByText('Nothing found.').waitFor();
    await developer.keyboard.press('Escape');
    await palette(developer).waitFor({ state: 'detached' });
    await developer.keyboard.press('Control+k');
    await palette(developer).waitFor();
    await developer.keyboard.press('Control+k');
    await palette(developer).waitFor({ state: 'detached' });
  });

  test('opens every page', { timeout: 4 * minutes }, async () => {
    const pages = {
      'Developer Home': '/developer',
      Websites: '/developer-email-auth',
      Overview: '/dashboard',
      Activity: '/dashboard/activity',
      'Applications and API keys': '/dashboard/auth',
      Analytics: '/dashboard/analytics',
      'Bug Reports': '/dashboard/bugs',
      Settings: '/dashboard/settings',
      'Email branding': '/dashboard/settings/branding',
      Security: '/dashboard/settings/security',
      Profile: '/profile',
      Documentation: '/webservices/email-auth',
      'Register a domain': '/webservices/email-auth/register',
      Status: '/status',
      Terms: '/tos',
      Privacy: '/privacy',
    };
    for (const [name, path] of Object.entries(pages)) {
      // The pages for readers have no commands.
      await developer.goto(url('/iladmin'));
      await developer.getByRole('button', { name: 'Commands' }).click();
      await palette(developer).getByRole('option', { name, exact: true }).first().click();
      await developer.waitForURL(url(path));
      await developer.getByRole('heading', { level: 1 }).waitFor();
    }
  });

  test('opens by its button without an account, with fewer entries, and returns the focus', async () => {
    const page = await openAnonymously('/status');
    const button = page.getByRole('button', { name: 'Commands' });
    await button.click();
    await palette(page).getByRole('option', { name: 'Home' }).waitFor();
    const labels = await palette(page).getByRole('option').allTextContents();
    expect(labels).toEqual(expect.arrayContaining(['Home', 'Documentation', 'Sign in']));
    expect(labels.join()).not.toMatch(/Sign out|Settings|API key|Add website|Copy sign-in URL/);
    await page.keyboard.press('Escape');
    await palette(page).waitFor({ state: 'detached' });
    await evaluates(page, 'document.activeElement.ariaLabel', 'Commands');
    await button.click();
    await palette(page).getByRole('option', { name: 'Switch to dark theme' }).click();
    await evaluates(page, 'document.documentElement.dataset.theme', 'dark');
    await button.click();
    await palette(page).getByRole('option', { name: 'Sign in', exact: true }).click();
    await page.waitForURL(url('/auth'));
  });

  test('opens the form for a new website on any page, and not again after a reload', async () => {
    for (const path of ['/profile', '/developer-email-auth']) {
      await developer.goto(url(path));
      await developer.getByRole('button', { name: 'Commands' }).click();
      await palette(developer).getByRole('option', { name: 'Add website' }).click();
      await developer.getByRole('dialog', { name: 'Add New Website' }).waitFor();
      await developer.waitForURL(url('/developer-email-auth'));
    }
    await developer.reload();
    await heading(developer, 'No Websites Added');
    expect(await developer.getByRole('dialog').count()).toBe(0);
  });

  test('finds websites, applications, API keys and documentation, and copies the sign-in URL of a website', async () => {
    const page = await newPage();
    await signInToPortal(scene, page, freshAddress('dev'));
    await page.context().grantPermissions(['clipboard-read', 'clipboard-write'], { origin: scene.service.url });
    const [first, second] = [freshDomain(), freshDomain()];
    for (const domain of [first, second]) await create(page, '/api/websites', { domain });
    await create(page, '/api/clients', { name: 'Back office', redirectUris: ['https://office.example/callback'] });
    await create(page, '/api/api-keys', { name: 'Deployment', environment: 'live' });
    const find = async (text: string) => {
      await page.getByRole('button', { name: 'Commands' }).click();
      await palette(page).getByRole('combobox').fill(text);
    };
    const option = (name: string | RegExp) => palette(page).getByRole('option', { name });

    await find(first.slice(0, 12));
    await palette(page).getByRole('option', { name: first, exact: true }).click();
    await page.waitForURL(url(`/dashboard/websites/${first}/setup`));
    await find('back off');
    await option('Back office Application').click();
    await page.waitForURL(/\/dashboard\/auth#/);
    await evaluates(page, 'document.activeElement.querySelector("h3")?.textContent', 'Back office');
    await find('deployment');
    await option('Deployment API key, live').click();
    await evaluates(page, 'document.activeElement.querySelector("h3")?.textContent', 'Deployment');
    await find('verify token');
    await palette(page).getByRole('group', { name: 'Documentation' }).getByRole('option').first().click();
    await page.waitForURL(/\/webservices\/email-auth\//);
    await page.goto(url('/dashboard'));

    const clipboard = 'navigator.clipboard.readText()';
    const signInUrl = (domain: string) => url(`/auth?forward_url=${encodeURIComponent(`https://${domain}/`)}`);
    await find(first.slice(0, 12));
    await option(`Copy sign-in URL of ${first}`).click();
    await evaluates(page, clipboard, signInUrl(first));
    await find('copy');
    const search = await holdRequests(page, '**/api/websites/search?q=&*');
    await option('Copy sign-in URL of a website...').click();
    await expect.poll(() => search.count).toBe(1);
    await palette(page).getByText('Searching...').waitFor();
    search.release();
    await expect.poll(() => palette(page).getByRole('option').allTextContents()).toEqual([second, first, 'localhost']);
    await palette(page).getByRole('option', { name: second, selected: true }).waitFor();
    await evaluates(page, 'document.activeElement.role', 'combobox');
    await page.keyboard.press('Enter');
    await evaluates(page, clipboard, signInUrl(second));
  });

  test('does not open over another dialog', async () => {
    await developer.goto(url('/developer-email-auth'));
    await developer.getByRole('button', { name: 'Add New Website' }).click();
    await developer.getByRole('dialog', { name: 'Add New Website' }).waitFor();
    await developer.keyboard.press('Control+k');
    expect(await palette(developer).count()).toBe(0);
  });

  test('signs out', async () => {
    const page = await newPage();
    await signInToPortal(scene, page, freshAddress('dev'));
    await page.getByRole('button', { name: 'Commands' }).click();
    await palette(page).getByRole('option', { name: 'Sign out' }).click();
    await page.waitForURL(url('/'));
    expect(await page.evaluate(async () => (await fetch('/api/user/me')).status)).toBe(401);
  });
});

describe('the menus', () => {
  test.each([
    ['Developer Home', '/developer'],
    ['Email Auth Service', '/developer-email-auth'],
    ['Dashboard', '/dashboard'],
    ['Status', '/status'],
    ['Documentation', '/webservices/email-auth'],
  ])('Developer Services opens %s', async (name, path) => {
    await developer.goto(url('/profile'));
    await developer.getByRole('button', { name: 'Developer Services' }).click();
    await developer.getByRole('menuitem', { name, exact: true }).click();
    await developer.waitForURL(url(path));
  });

  test('the account menu shows the address, Profile and Settings, or Not authenticated', async () => {
    await developer.goto(url('/developer'));
    await developer.getByRole('button', { name: email }).click();
    await developer.getByRole('menuitem', { name: 'Profile' }).click();
    await developer.waitForURL(url('/profile'));
    await developer.getByRole('heading', { level: 1 }).waitFor();
    await developer.getByRole('button', { name: email }).click();
    await developer.getByRole('menuitem', { name: 'Settings', exact: true }).click();
    await developer.waitForURL(url('/dashboard/settings'));
    const page = await openAnonymously('/developer');
    await heading(page, 'Not Logged In');
    expect(await page.locator('aside').count()).toBe(0);
    await page.getByRole('button', { name: 'Not authenticated' }).first().click();
    await page.getByRole('menuitem', { name: 'Sign in' }).click();
    await page.waitForURL(url('/auth'));
  });

  test.each([320, 1280])('the portal at %d px has every page, the link to the documentation, and Sign Out', async (width) => {
    const page = await newPage();
    await page.setViewportSize({ width, height: 800 });
    await signIn(scene, page, freshAddress('dev'));
    await page.goto(url('/developer'));
    await page.getByRole('heading', { level: 1 }).waitFor();
    const isPhone = width < 768;
    const menu = page.getByRole('button', { name: /^Menu of / });
    const entries = isPhone ? page.getByRole('menu') : page.locator('aside');
    for (const [name, path] of [
      ['Overview', '/dashboard'],
      ['Websites', '/developer-email-auth'],
      ['Applications', '/dashboard/auth'],
      ['Activity', '/dashboard/activity'],
      ['Profile', '/profile'],
      ['Settings', '/dashboard/settings'],
    ]) {
      if (isPhone) await menu.click();
      const link = entries.getByRole(isPhone ? 'menuitem' : 'link', { name, exact: true });
      await link.click();
      await page.waitForURL(url(path));
      await page.getByRole('heading', { level: 1, name: name === 'Websites' ? /./ : name }).waitFor();
      if (isPhone) await menu.click();
      await expect.poll(() => link.getAttribute('aria-current')).toBe('page');
      if (isPhone) await page.keyboard.press('Escape');
    }
    await evaluates(page, 'document.documentElement.scrollWidth <= innerWidth', true);
    expect(await page.getByRole('link', { name: 'Home', exact: true }).getAttribute('href')).toBe('/');
    expect(await page.getByRole('link', { name: 'Email Auth', exact: true }).getAttribute('href')).toBe('/webservices/email-auth');
    // A page that finishes loading closes an open menu.
    await page.getByLabel('Full Name').waitFor();
    if (isPhone) await menu.click();
    // The settings below have buttons of similar names.
    await page.getByRole(isPhone ? 'menuitem' : 'button', { name: 'Sign Out', exact: true }).click();
    await page.waitForURL(url('/'));
  });

  test.each([
    ['/developer', 'Developer Portal', 'Developer Home'],
    ['/developer-email-auth', 'Email Authentication Service', 'Websites'],
    ['/dashboard', 'Overview', 'Overview'],
    ['/dashboard/activity', 'Activity', 'Activity'],
    ['/dashboard/auth', 'Applications', 'Applications'],
    ['/profile', 'Profile', 'Profile'],
  ])('the sidebar is the same at %s and marks its page', async (path, title, entry) => {
    await developer.goto(url(path));
    await heading(developer, title);
    const sidebar = developer.locator('aside');
    expect(await sidebar.getByRole('navigation', { name: 'Dashboard' }).getByRole('link').allTextContents()).toEqual([
      'Overview',
      'Websites',
      'Applications',
      'Activity',
      'Settings',
    ]);
    expect(await sidebar.locator('[aria-current=page]').allTextContents()).toEqual([entry]);
    await developer.setViewportSize({ width: 320, height: 700 });
    await evaluates(developer, 'document.documentElement.scrollWidth', 320);
    await developer.setViewportSize({ width: 1024, height: 800 });
  });

  test.each(['/status', '/developer', '/dashboard'])('the first Tab key on %s skips to the content', async (path) => {
    await developer.goto(url(path));
    await developer.getByRole('heading', { level: 1 }).waitFor();
    await developer.keyboard.press('Tab');
    await evaluates(developer, 'document.activeElement.textContent', 'Skip to content');
    await developer.keyboard.press('Enter');
    await evaluates(developer, 'document.activeElement.tagName', 'MAIN');
  });
});

test('/dashboard/overview shows the overview and marks its tab', async () => {
  await developer.goto(url('/dashboard/overview'));
  await heading(developer, 'Overview');
  await developer.waitForURL(url('/dashboard'));
  await expect.poll(() => developer.locator('nav[aria-label=Dashboard] [aria-current=page]').textContent()).toBe('Overview');
});

test('a logout in one tab takes effect in another at its next request', async () => {
  const page = await newPage();
  await signInToPortal(scene, page, freshAddress('dev'));
  const other = await page.context().newPage();
  await other.goto(url('/developer-email-auth'));
  await heading(other, 'No Websites Added');
  await page.getByRole('button', { name: 'Account' }).click();
  await page.getByRole('menuitem', { name: 'Logout' }).click();
  await page.waitForURL(url('/'));
  await other.getByRole('button', { name: 'Add New Website' }).click();
  await other.getByLabel('Domain').fill('shop.example');
  await other.getByRole('button', { name: 'Save' }).click();
  await heading(other, 'Not Logged In');
  await other.getByText('you come back to this page').waitFor();
  await other.getByRole('button', { name: 'Not authenticated' }).waitFor();
});

test('a tooltip opens after 700 ms, the next one immediately, and Escape closes it', async () => {
  const page = await newPage();
  await page.clock.install();
  await page.goto(url('/status'));
  const themes = page.getByRole('button', { name: /^Switch to/ });
  await themes.waitFor();
  await page.clock.pauseAt(Date.now() + minutes);
  await themes.hover();
  await page.clock.runFor(650);
  expect(await page.getByRole('tooltip').count()).toBe(0);
  await page.clock.runFor(100);
  await page.getByRole('tooltip').filter({ hasText: 'Switch between light and dark' }).waitFor();
  await page.getByRole('button', { name: 'Commands' }).hover();
  await page.clock.runFor(50);
  await page.getByRole('tooltip').filter({ hasText: 'Go anywhere' }).waitFor();
  await page.keyboard.press('Escape');
  await page.getByRole('tooltip').waitFor({ state: 'detached' });
});

describe('without a connection', () => {
  test('shows a banner, keeps the input, reports a failed request and recovers', async () => {
    const page = await openAnonymously('/webservices/email-auth/register');
    await page.getByLabel('Domain').fill('typed.example');
    await page.getByLabel('Email Address').fill('typed@mail.example');
    const top = await page.getByLabel('Domain').boundingBox();
    await page.context().setOffline(true);
    await page.getByText('You are offline').waitFor();
    expect(await page.getByLabel('Domain').boundingBox()).toEqual(top);
    await page.getByRole('button', { name: 'Register Domain' }).click();
    await page.getByText('The service cannot be reached.').waitFor();
    await page.context().setOffline(false);
    await page.getByText('You are offline').waitFor({ state: 'detached' });
    expect(await page.getByLabel('Domain').inputValue()).toBe('typed.example');
  });

  test('reports a page that could not be loaded and loads it once the connection is back', async () => {
    const page = await openAnonymously('/status');
    await page.getByText('Checked at').waitFor();
    await page.context().setOffline(true);
    await page.getByRole('link', { name: 'Register', exact: true }).click();
    await heading(page, 'This page could not be loaded');
    await page.context().setOffline(false);
    await heading(page, 'Register your domain');
  });
});
