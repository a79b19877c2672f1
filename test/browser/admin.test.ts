// A stage of its own: it empties the limits, and has a password of its own.
import type { Page, Route } from 'playwright';
import { v7 as uuid } from 'uuid';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { longDay } from '../../web/lib/dates.ts';
import { production, type Service } from '../support/harness.ts';
import { freshAddress, freshDomain, registerWebsite, signInDeveloper } from '../support/sign-ins.ts';
import { waitUntil } from '../support/waiting.ts';
import { evaluates, heading, holdRequests, openScene, type Scene, signIn } from './scene.ts';

const PASSWORD = production.ADMIN_PASSWORD;
const DENIED = 'This page is only available to administrators in development mode.';
let scene: Scene;
let live: Service;
beforeAll(async () => {
  scene = await openScene({ ADMIN_PASSWORD: PASSWORD });
  live = await scene.stage.start(production);
  // A chart without a sign-in is not drawn.
  await scene.stage.query("insert into daily_logins values ((now() at time zone 'UTC')::date - 1, 1)");
});
beforeEach(() => scene.stage.query('truncate rate_limits'));
afterAll(() => scene.close());

const open = async (path: string, service: Service = scene.service) => {
  const page = await (await scene.newBrowser()).newPage();
  await page.goto(`${service.url}${path}`);
  return page;
};
const button = (page: Page, name: string) => page.getByRole('button', { name, exact: true });

async function enter(page: Page, password: string) {
  await page.getByPlaceholder('Enter password').fill(password);
  await button(page, 'Access Dashboard').click();
}

async function unlock(path = '/iladmin', service: Service = scene.service): Promise<Page> {
  const page = await open('/iladmin', service);
  await enter(page, PASSWORD);
  await heading(page, 'Admin Dashboard');
  if (path !== '/iladmin') await page.goto(`${service.url}${path}`);
  return page;
}

describe('/iladmin before the password', () => {
  test('reports and clears a wrong password, then opens with the right one', async () => {
    const page = await open('/iladmin');
    await heading(page, 'Admin Access');
    await enter(page, 'not the password');
    const field = page.getByLabel('Password');
    await page.getByRole('alert').getByText('Invalid password', { exact: true }).waitFor();
    await expect.poll(() => field.inputValue()).toBe('');
    await evaluates(page, 'document.activeElement.name', 'password');
    await expect.poll(() => field.getAttribute('aria-invalid')).toBe('true');
    await field.fill(PASSWORD);
    await field.press('Enter');
    await heading(page, 'Admin Dashboard');
    await evaluates(page, 'document.activeElement.textContent', 'Admin Dashboard');
  });

  test('shows that it is verifying and does not send the password twice', async () => {
    const page = await open('/iladmin');
    const verifications = await holdRequests(page, '**/api/admin/verify');
    await enter(page, PASSWORD);
    await button(page, 'Verifying...').click({ force: true });
    verifications.release();
    await heading(page, 'Admin Dashboard');
    expect(verifications.count).toBe(1);
  });

  test('shows how long to wait after five wrong passwords', async () => {
    const page = await open('/iladmin', live);
    for (let i = 0; i < 5; i++) {
      await enter(page, `wrong ${i}`);
      await page.getByText('Invalid password', { exact: true }).waitFor();
    }
    await enter(page, PASSWORD);
    await page.getByText(/^Too many wrong passwords\. You can try again in 1[45] minutes\.$/).waitFor();
    await expect.poll(() => page.getByLabel('Password').inputValue()).toBe('');
  });

  test('reports an unreachable service and works once it is back', async () => {
    const page = await open('/iladmin');
    await page.getByPlaceholder('Enter password').waitFor();
    await page.context().setOffline(true);
    await enter(page, PASSWORD);
    await page.getByText(/The service cannot be reached/).waitFor();
    await page.context().setOffline(false);
    await enter(page, PASSWORD);
    await heading(page, 'Admin Dashboard');
  });

  test('shows that it is disabled without a configured password', async () => {
    const disabled = await scene.stage.start({ NODE_ENV: 'production' });
    const page = await open('/iladmin', disabled);
    await heading(page, 'Admin Access');
    await page.getByText('The admin dashboard is disabled.').waitFor();
    expect(await page.getByLabel('Password').count()).toBe(0);
    await disabled.stop();
  });
});

describe('/iladmin after the password', () => {
  test('shows cards, a chart and a list of 30 days with consistent counts', async () => {
    await signInDeveloper(scene.stage, scene.service);
    const page = await open('/iladmin');
    const whileLoading = async (route: Route) => {
      await page.getByText('Loading statistics...').waitFor();
      await route.continue();
    };
    await page.route('**/api/admin/daily-login-stats', whileLoading, { times: 1 });
    await enter(page, PASSWORD);
    await heading(page, 'All Daily Login Stats (Last 30 Days)');
    const days = (await page.evaluate("fetch('/api/admin/daily-login-stats').then((response) => response.json())")) as {
      date: string;
      count: number;
    }[];
    expect(days).toHaveLength(30);
    const total = days.reduce((sum, { count }) => sum + count, 0);
    expect(await page.locator('dl').locator('dt, dd').allTextContents()).toEqual([
      "Today's Logins",
      days[0].count.toLocaleString('en'),
      'Total Logins (30d)',
      total.toLocaleString('en'),
      'Avg. Logins/Day',
      Math.round(total / 30).toLocaleString('en'),
    ]);
    const items = await page.locator('[aria-labelledby=all-days] li').allTextContents();
    expect(items.map((item) => item.replace(/[^\w]/g, ''))).toEqual(
      days.map(({ date, count }) => `${longDay(date)}${count}${count === 1 ? 'login' : 'logins'}`.replace(/[^\w]/g, '')),
    );
    const drawn = await page.getByRole('table', { name: 'Daily Login Activity (Last 14 Days)' }).locator('tbody th').allTextContents();
    expect(drawn).toEqual(
      days
        .slice(0, 14)
        .map(({ date }, ago) => (ago === 0 ? `${date}, so far` : date))
        .reverse(),
    );
    await page.locator('.recharts-bar').waitFor({ state: 'attached' });
  });

  test('shows the statistics when the chart cannot be loaded', async () => {
    const page = await open('/iladmin');
    await page.route('**/day-bars-chart*', (route) => route.abort());
    await enter(page, PASSWORD);
    await page.getByText('The chart could not be loaded').waitFor({ state: 'attached' });
    await heading(page, 'Admin Dashboard');
    await page
      .getByText(longDay(new Date().toISOString().slice(0, 10)))
      .first()
      .waitFor();
  });

  test('stays open after a reload until Logout locks it and clears the password', async () => {
    const page = await unlock();
    await page.reload();
    await heading(page, 'Admin Dashboard');
    const logout = await holdRequests(page, '**/api/admin/logout');
    await button(page, 'Logout').click();
    await button(page, 'Logging out...').waitFor();
    logout.release();
    await heading(page, 'Admin Access');
    await expect.poll(() => page.getByLabel('Password').inputValue()).toBe('');
    expect(await page.getByText('Your admin session has ended').count()).toBe(0);
    await page.reload();
    await heading(page, 'Admin Access');
  });

  test('locks and gives the reason when the session ends while the page is open', async () => {
    const page = await unlock();
    await scene.stage.query("update admin_sessions set seen_at = now() - interval '31 minutes'");
    // As when the window becomes visible again.
    await page.evaluate("document.dispatchEvent(new Event('visibilitychange', { bubbles: true }))");
    await page.getByText('Your admin session has ended. Enter the password to continue.').waitFor();
    await heading(page, 'Admin Access');
    await enter(page, PASSWORD);
    await heading(page, 'Admin Dashboard');
  });

  test('reports a logout request that fails', async () => {
    const page = await unlock();
    await page.context().setOffline(true);
    await button(page, 'Logout').click();
    await page.getByText('Logout failed').waitFor();
    await heading(page, 'Admin Dashboard');
  });
});

describe('/admin without access', () => {
  test.each([false, true])('denies access in production, with the password entered: %s', async (entered) => {
    const page = entered ? await unlock('/admin', live) : await open('/admin', live);
    await page.getByText(DENIED, { exact: true }).waitFor();
    expect(await button(page, 'Enable Admin Session').count()).toBe(0);
    const navigation = page.getByRole('navigation', { name: 'Navigation' });
    for (const path of ['/admin', '/developer']) await navigation.locator(`a[href='${path}']`).waitFor();
    await navigation.getByRole('link', { name: 'Developer Portal' }).click();
    await heading(page, 'Not Logged In');
  });

  test('denies access without a sign-in and links to both sign-in pages', async () => {
    const page = await open('/admin');
    await page.getByText(DENIED, { exact: true }).waitFor();
    expect(await button(page, 'Enable Admin Session').count()).toBe(0);
    await page.getByRole('link', { name: '/iladmin' }).click();
    await heading(page, 'Admin Access');
    await page.goBack();
    await page.getByRole('main').getByRole('link', { name: 'Sign in' }).click();
    await page.waitForURL(`${scene.service.url}/auth`);
  });

  test('denies a signed-in developer access until the admin session is enabled', async () => {
    const page = await open('/admin');
    await signIn(scene, page, freshAddress('dev'));
    await page.goto(`${scene.service.url}/admin`);
    await page.getByText(DENIED, { exact: true }).waitFor();
    const asked = page.waitForRequest('**/api/auth/session');
    await button(page, 'Enable Admin Session').click();
    await asked;
    await heading(page, 'Websites');
    expect(new URL(page.url()).pathname).toBe('/admin');
    await page.reload();
    await heading(page, 'Websites');
  });

  test('reports that enabling the admin session failed', async () => {
    const page = await open('/admin');
    await signIn(scene, page, freshAddress('dev'));
    await page.goto(`${scene.service.url}/admin`);
    await button(page, 'Enable Admin Session').waitFor();
    await page.context().setOffline(true);
    await button(page, 'Enable Admin Session').click();
    await page
      .getByRole('alert')
      .getByText(/cannot be reached/)
      .waitFor();
  });
});

describe('/admin with access', () => {
  const list = (page: Page, name: string) => page.getByRole('navigation', { name: 'Lists' }).getByRole('link', { name });
  const row = (page: Page, text: string) => page.getByRole('main').getByRole('listitem').filter({ hasText: text });

  test('shows websites, users and the audit trail, each list at its own URL', async () => {
    const [domain, email] = [freshDomain(), freshAddress('owner')];
    await registerWebsite(scene.service.client(), domain, email);
    const { email: dev } = await signInDeveloper(scene.stage, scene.service);
    const page = await unlock('/admin');
    await row(page, domain).getByText(email).waitFor();
    await row(page, domain).getByText('On probation').waitFor();
    await list(page, 'Users').click();
    await row(page, dev).getByText('0 websites').waitFor();
    await page.reload();
    await heading(page, 'Users');
    await list(page, 'Audit trail').click();
    await row(page, domain).getByText('website registered').waitFor();
    await page.goBack();
    await heading(page, 'Users');
  });

  test('searches each list, also beyond its first page', async () => {
    const [domain, email] = [freshDomain(), freshAddress('owner')];
    await registerWebsite(scene.service.client(), domain, email);
    await scene.stage.query("insert into websites (id, domain) select id, id || '.example' from unnest($1::uuid[]) id", [
      Array.from({ length: 60 }, () => uuid()),
    ]);
    const page = await unlock('/admin');
    const rows = page.getByRole('main').getByRole('listitem');
    await rows.first().waitFor();
    await page.getByRole('searchbox', { name: 'Search websites' }).fill(email.toUpperCase().slice(0, 14));
    await expect.poll(() => rows.count()).toBe(1);
    await row(page, domain).waitFor();
    await page.getByRole('searchbox', { name: 'Search websites' }).fill('100%_');
    await page.getByText('Nothing in the websites contains “100%_”.').waitFor();
    await list(page, 'Audit trail').click();
    await page.getByRole('searchbox', { name: 'Search audit trail' }).fill(domain);
    await expect.poll(() => rows.count()).toBe(1);
    await scene.stage.query("delete from websites where email is null and domain <> 'localhost'");
  });

  test('copies an id', async () => {
    const page = await unlock('/admin');
    await page.context().grantPermissions(['clipboard-read', 'clipboard-write'], { origin: scene.service.url });
    await page.getByRole('button', { name: 'Copy the id of localhost' }).click();
    await page.getByText('Id copied').waitFor();
    const [{ id }] = await scene.stage.query("select id from websites where domain = 'localhost'");
    await evaluates(page, 'navigator.clipboard.readText()', id);
  });

  test('loads the next page and moves the focus to its first entry', async () => {
    await scene.stage.query("insert into websites (id, domain) select id, id || '.example' from unnest($1::uuid[]) id", [
      Array.from({ length: 60 }, () => uuid()),
    ]);
    const page = await unlock('/admin');
    const rows = page.getByRole('main').getByRole('listitem');
    await rows.nth(49).waitFor();
    await expect.poll(() => rows.count()).toBe(50);
    await button(page, 'Show more').click();
    await row(page, 'localhost').waitFor();
    await expect.poll(() => rows.count()).toBeGreaterThan(60);
    await evaluates(page, 'document.activeElement.textContent', await rows.nth(50).textContent());
    await expect.poll(() => button(page, 'Show more').count()).toBe(0);
    await scene.stage.query("delete from websites where domain like '%-%-%-%.example'");
    await button(page, 'Refresh').click();
    await waitUntil('the list is new', 30_000, async () => (await rows.count()) < 50);
  });

  test('lists a pending email and sends it by Retry; explains an empty outbox', async () => {
    const recipient = freshAddress('visitor');
    const page = await unlock('/admin?list=mails');
    await heading(page, 'No pending emails');
    await scene.stage.query(
      `insert into outbox (id, kind, recipient, language, data, tries, due_at, expires_at)
       values ($1, 'domain_proven', $2, 'en', '{"domain": "shop.example"}', 7, now() + interval '20 minutes', now() + interval '2 days')`,
      [uuid(), recipient],
    );
    await button(page, 'Refresh').click();
    await row(page, recipient)
      .getByText(/7 failed tries · Next try in 19 minutes · Expires tomorrow/)
      .waitFor();
    await button(page, `Retry the email to ${recipient}`).click();
    await page.getByText('Retry requested').waitFor();
    // The page loads the list once more, two seconds later; a busy machine may send the email after that.
    const empty = page.getByRole('heading', { name: 'No pending emails', exact: true });
    await waitUntil('the list is empty', 45_000, async () => {
      if ((await empty.count()) > 0) return true;
      await button(page, 'Refresh').click();
      return false;
    });
    expect(scene.stage.mailbox.mailsFor(recipient)).toHaveLength(1);
  });

  test('lists the emails to visitors that were sent or failed, by a result that the URL has', async () => {
    const [domain, sent, failed] = [freshDomain(), freshAddress('sent'), freshAddress('failed')];
    await registerWebsite(scene.service.client(), domain);
    await scene.stage.query(
      `insert into sign_in_steps (action, result, email, domain, website_id)
       select step.action, step.result, step.email, domain, id from websites,
         (values ('mail_accepted', null, $2), ('mail_refused', '550 5.1.1', $3)) as step (action, result, email) where domain = $1`,
      [domain, sent, failed],
    );
    const page = await unlock('/admin?list=sent-mails');
    await row(page, sent).getByText('Sent', { exact: true }).waitFor();
    await row(page, failed).getByText('The mail server refused the email for good (550 5.1.1).').waitFor();
    await page.getByLabel('Result').selectOption({ label: 'Failed' });
    await row(page, sent).waitFor({ state: 'detached' });
    await row(page, failed).getByText('Failed', { exact: true }).waitFor();
    expect(page.url()).toContain('result=failed');
  });

  test('reports an email that was sent in the meantime and removes it from the list', async () => {
    const [id, recipient] = [uuid(), freshAddress('visitor')];
    await scene.stage.query(
      `insert into outbox (id, kind, recipient, language, due_at, expires_at)
       values ($1, 'domain_proven', $2, 'en', now() + interval '20 minutes', now() + interval '2 days')`,
      [id, recipient],
    );
    const page = await unlock('/admin?list=mails');
    await row(page, recipient).waitFor();
    await scene.stage.query('delete from outbox where id = $1', [id]);
    await button(page, `Retry the email to ${recipient}`).click();
    await page.getByText('This email is no longer pending.').waitFor();
    await heading(page, 'No pending emails');
  });

  test('locks when the session has ended and after Logout', async () => {
    const page = await unlock('/admin');
    await heading(page, 'Websites');
    await scene.stage.query('update admin_sessions set expires_at = now()');
    await button(page, 'Refresh').click();
    await page.getByText('Your admin session has ended.').waitFor();
    await page.getByText(DENIED, { exact: true }).waitFor();
    const again = await unlock('/admin');
    await button(again, 'Logout').click();
    await again.getByText(DENIED, { exact: true }).waitFor();
    expect(await again.getByText('Your admin session has ended.').count()).toBe(0);
  });

  test('links to the statistics and the portal and back', async () => {
    const page = await unlock('/admin');
    const pages = page.getByRole('navigation', { name: 'Admin pages' });
    await pages.getByRole('link', { name: 'Login statistics' }).click();
    await heading(page, 'Admin Dashboard');
    await pages.getByRole('link', { name: 'Admin', exact: true }).click();
    await heading(page, 'Websites');
    await pages.getByRole('link', { name: 'Developer Portal' }).click();
    await heading(page, 'Not Logged In');
  });
});
