import { readFile } from 'node:fs/promises';
import type { Page } from 'playwright';
import { expect, test } from 'vitest';
import { useProduction } from '../support/harness.ts';
import { freshAddress, freshDomain, visitorToken } from '../support/sign-ins.ts';
import { countNow } from '../support/statistics.ts';
import { evaluates, heading, requestEmail, signIn, useScene } from './scene.ts';

// In local mode, the sign-ins to localhost of other files count for every account.
const scene = await useScene(useProduction);

const url = (path: string) => `${scene.service.url}${path}`;
const statOf = (page: Page, label: string) => page.locator('dt', { hasText: label }).locator('+ dd');
const shows = (page: Page, label: string, value: string) => statOf(page, label).getByText(value, { exact: true }).waitFor();

async function openDashboard(): Promise<Page> {
  const page = await (await scene.newBrowser()).newPage();
  await signIn(scene, page, freshAddress('dev'));
  await page.goto(url('/dashboard'));
  await heading(page, 'Overview');
  return page;
}

async function addWebsite(page: Page, domain: string): Promise<void> {
  await page.getByRole('button', { name: 'Add Your First Website' }).click();
  await page.getByLabel('Domain').fill(domain);
  await page.getByRole('button', { name: 'Save' }).click();
  await page.waitForURL(url(`/dashboard/websites/${domain}/setup`));
  await heading(page, domain);
  await page.goBack();
  await heading(page, 'Email Authentication Service');
}

test('guides a new developer to the first sign-in and counts it', async () => {
  const [page, domain] = [await openDashboard(), freshDomain()];
  for (const label of ['Total Logins', 'Active Applications', 'API Requests']) await shows(page, label, '0');
  expect(await statOf(page, 'Uptime').textContent()).toMatch(/^(Not enough data yet|\d+(\.\d\d)?%)$/);

  await heading(page, 'Add your first website');
  await page.getByRole('link', { name: 'Add a website' }).click();
  await page.waitForURL(url('/developer-email-auth'));
  await addWebsite(page, domain);
  // Navigation within the app keeps the loaded websites.
  await page.goBack();
  await heading(page, 'Link to your sign-in page');
  await page.context().grantPermissions(['clipboard-read', 'clipboard-write'], { origin: scene.service.url });
  await page.getByRole('button', { name: `Copy Link on ${domain}` }).click();
  await page.getByText('Copied to clipboard').waitFor();
  const target = encodeURIComponent(`https://${domain}/`);
  await evaluates(page, 'navigator.clipboard.readText()', `<a href="${url('/auth')}?forward_url=${target}">Login with Email</a>`);

  await page.getByRole('link', { name: 'Open its sign-in page' }).click();
  await page.waitForURL(url(`/auth?forward_url=${encodeURIComponent(`https://${domain}/`)}`));
  await page.getByText(domain).first().waitFor();
  await page.goBack();

  await heading(page, 'Link to your sign-in page');
  await visitorToken(scene.stage, scene.service.client(), domain);
  await countNow(scene.stage);
  await page.getByRole('button', { name: 'Refresh' }).click();
  await shows(page, 'Total Logins', '1');
  await page.getByRole('heading', { name: 'Link to your sign-in page' }).waitFor({ state: 'detached' });
  await page.reload();
  await shows(page, 'Total Logins', '1');
  expect(await page.locator('time').first().getAttribute('datetime')).toMatch(/^\d{4}-\d\d-\d\dT/);
});

test.each([
  ['Authentication', 'Active', '/dashboard/auth'],
  ['Analytics', 'Coming Soon', '/dashboard/analytics'],
  ['Bug Reports', 'Coming Soon', '/dashboard/bugs'],
])('lists the service %s as %s', async (name, status, path) => {
  const page = await openDashboard();
  await page
    .getByRole('region', { name: 'Active Services' })
    .getByRole('link', { name: `${name} ${status}` })
    .click();
  await page.waitForURL(url(path));
});

test('shows the newest entries of the audit trail', async () => {
  const page = await openDashboard();
  const activity = page.getByRole('region', { name: 'Recent Activity' });
  await activity.getByText('developer signed in', { exact: true }).waitFor();
  await page.goto(url('/developer-email-auth'));
  await addWebsite(page, freshDomain());
  await page.goto(url('/dashboard'));
  await activity.getByText('website added', { exact: true }).waitFor();
  expect(await activity.getByRole('listitem').count()).toBeLessThanOrEqual(4);
  expect(await activity.locator('time').first().getAttribute('title')).toMatch(/^\d+ \w+ \d{4}/);
});

test('shows the sign-ins per day in a period, with a comparison, and their table', async () => {
  const page = await openDashboard();
  await page.goto(url('/developer-email-auth'));
  const domain = freshDomain();
  await addWebsite(page, domain);
  await scene.stage.query(
    "update websites set created_at = now() - interval '65 days', domain_since = now() - interval '65 days' where domain = $1",
    [domain],
  );
  await scene.stage.query(
    `insert into daily_sites (website, day, sent, opened, again, completed)
     select id, (now() at time zone 'UTC')::date - n, 4, 3, 1, 4 from websites, generate_series(1, 59) n where domain = $1 and (n < 20 or n > 49)`,
    [domain],
  );
  await page.goto(url('/dashboard'));
  const chart = page.getByRole('region', { name: 'Sign-ins' });
  await chart.getByText('Up 90% from 40 in the 30 days before.').waitFor();
  await chart.locator('.recharts-bar-rectangle').first().waitFor();
  expect(await chart.getByRole('row').count()).toBe(31);
  await chart.getByRole('link', { name: '7 days' }).click();
  await page.waitForURL(url('/dashboard?days=7'));
  await chart.getByText('Down 14% from 28 in the 7 days before.').waitFor();
  await chart.getByRole('link', { name: '90 days' }).click();
  await chart.getByText('Not enough earlier data to compare with the 90 days before.').waitFor();
  await page.reload();
  await chart.getByText('last 90 days').first().waitFor();
});

test('opens the whole activity, filters it, pages through it and exports it', async () => {
  const page = await openDashboard();
  await page.goto(url('/developer-email-auth'));
  const domain = freshDomain();
  await addWebsite(page, domain);
  const email = (await page.getByRole('button', { name: /^Account/ }).textContent())?.replace('Account:', '');
  await scene.stage.query(
    "insert into audit_log (at, action, email) select now() - interval '2 days', 'profile_changed', $1 from generate_series(1, 60)",
    [email],
  );
  await page.goto(url('/dashboard'));
  await page.getByRole('link', { name: 'Show all activity' }).click();
  await heading(page, 'Activity');
  const entries = page.locator('main').getByRole('listitem');
  await expect.poll(() => entries.count()).toBe(50);
  await page.getByRole('button', { name: 'Show older entries' }).click();
  await expect.poll(() => entries.count()).toBe(62);
  await page.getByText('That is everything.').waitFor();

  await page.getByLabel('Action').selectOption('Websites');
  await expect.poll(() => entries.allTextContents()).toEqual([expect.stringContaining(domain)]);
  await page.waitForURL(url('/dashboard/activity?action=website'));
  const download = page.waitForEvent('download');
  await page.getByRole('button', { name: 'Export CSV' }).click();
  const lines = (await readFile(await (await download).path(), 'utf8')).trim().split('\r\n');
  expect(lines.slice(1)).toEqual([expect.stringMatching(`^\\d{4}-.*,website added,${domain},,,Chrome on Linux,127.0.0.0/24$`)]);

  await page.getByLabel('Action').selectOption('All actions');
  const day = new Date(Date.now() - 86_400_000).toISOString().slice(0, 10);
  await page.getByLabel('To (UTC)').fill(day);
  await expect.poll(() => entries.first().textContent()).toContain('profile changed');
  await page.reload();
  expect(await page.getByLabel('To (UTC)').inputValue()).toBe(day);
  await page.getByLabel('Search by website').fill('other.example');
  await heading(page, 'Nothing matches');
  await page.getByRole('button', { name: 'Show everything' }).click();
  await expect.poll(() => entries.count()).toBe(50);
  await page.setViewportSize({ width: 320, height: 700 });
  await evaluates(page, 'document.documentElement.scrollWidth', 320);
});

test('shows domains decoded in the activity, and on a phone the filters in two rows with the number of active ones', async () => {
  const page = await openDashboard();
  await page.goto(url('/developer-email-auth'));
  const domain = `bücher-${freshDomain()}`;
  await page.getByRole('button', { name: 'Add Your First Website' }).click();
  await page.getByLabel('Domain').fill(`https://www.${domain}/katalog`);
  await page.getByRole('button', { name: 'Save' }).click();
  await heading(page, domain);
  await page.setViewportSize({ width: 360, height: 700 });
  await page.goto(url('/dashboard/activity?action=website'));
  await page.locator('main').getByRole('listitem').getByText(domain, { exact: true }).waitFor();
  expect(await page.locator('main').textContent()).not.toContain('xn--');
  await page.getByLabel('Search by website').fill(domain.split('.')[0]);
  await page.waitForURL((address) => address.searchParams.get('domain') === domain.split('.')[0]);
  await page.locator('main').getByRole('listitem').getByText(domain, { exact: true }).waitFor();

  const filters = page.getByRole('search', { name: 'Filter' });
  const toggle = page.getByRole('button', { name: 'Filters 1 active' });
  expect(await toggle.getAttribute('aria-expanded')).toBe('false');
  expect(await page.getByLabel('Action').isVisible()).toBe(false);
  expect((await filters.boundingBox())?.height).toBeLessThan(110);
  await toggle.focus();
  await page.keyboard.press('Enter');
  await page.getByLabel('Action').selectOption('All actions');
  await page.getByRole('button', { name: 'Filters', exact: true }).waitFor();
  await evaluates(page, 'document.documentElement.scrollWidth', 360);
});

test('asks for the sign-in when the session has ended, without a call that fails, and returns to the page afterwards', async () => {
  const page = await (await scene.newBrowser()).newPage();
  const email = freshAddress('dev');
  await signIn(scene, page, email);
  await page.goto(url('/dashboard/activity?action=website'));
  await heading(page, 'Nothing matches');
  await scene.stage.query('delete from sessions where user_id = (select id from users where email = $1)', [email]);
  // As if the portal had not been used for an hour.
  await page.context().clearCookies({ name: 'session_seen' });
  const failed: string[] = [];
  page.on('response', (response) => void (response.status() >= 400 && failed.push(new URL(response.url()).pathname)));
  await page.goto(url('/dashboard'), { waitUntil: 'networkidle' });
  await heading(page, 'Not Logged In');
  expect(failed).toEqual([]);

  await page.goto(url('/dashboard/activity?action=website'));
  await page.getByText('you come back to this page').waitFor();
  await page.getByRole('link', { name: 'Sign in' }).click();
  await page.waitForURL(url('/auth'));
  await requestEmail(page, email, 'en', true);
  await page.goto((await scene.stage.mailbox.waitFor(email)).link);
  await page.waitForURL(url('/dashboard/activity?action=website'));
  await heading(page, 'Nothing matches');
  // Once.
  await page.goto(url('/developer'));
  await heading(page, 'Developer Portal');
});

test('reports an unreachable service and recovers', async () => {
  const page = await openDashboard();
  await shows(page, 'Total Logins', '0');
  await page.context().setOffline(true);
  await page.getByRole('button', { name: 'Refresh' }).click();
  const statistics = page.getByRole('region', { name: 'Statistics' });
  await statistics.getByRole('alert').getByText('The service cannot be reached.').waitFor();
  // The statistics that were loaded before stay.
  await shows(page, 'Total Logins', '0');
  await page.context().setOffline(false);
  await statistics.getByRole('alert').waitFor({ state: 'detached' });
});

test('fits windows of 320, 640 and 768 px', async () => {
  const page = await openDashboard();
  const fits = async () => {
    for (const width of [320, 640, 768]) {
      await page.setViewportSize({ width, height: 800 });
      await evaluates(page, 'document.documentElement.scrollWidth', width);
    }
  };
  await shows(page, 'Total Logins', '0');
  await fits();
  await page.getByRole('link', { name: 'Add a website' }).click();
  await addWebsite(page, `${freshDomain().split('.')[0].padEnd(63, 'x')}.example`);
  await page.goBack();
  await heading(page, 'Link to your sign-in page');
  await fits();
});
