import { readFile } from 'node:fs/promises';
import type { Page } from 'playwright';
import { beforeAll, expect, test } from 'vitest';
import { useProduction } from '../support/harness.ts';
import {
  type Developer,
  freshAddress,
  freshDomain,
  openLink,
  requestEmail,
  signInDeveloper,
  tokenOf,
  visitorToken,
} from '../support/sign-ins.ts';
import { evaluates, heading, useScene } from './scene.ts';

const scene = await useScene();
const live = await useScene(useProduction);
let owner: Developer;
beforeAll(async () => {
  owner = await signInDeveloper(scene.stage, scene.service);
});

type Site = { id: string; domain: string };
const addSite = async (): Promise<Site> => {
  const site = (await owner.client.post('/api/websites', { domain: freshDomain() })).json;
  await scene.stage.query(
    "update websites set created_at = now() - interval '100 days', domain_since = now() - interval '100 days' where id = $1",
    [site.id],
  );
  return site;
};
/** Opens a page in a browser in which someone is signed in. */
async function openPage(path: string, { client } = owner, service = scene.service.url): Promise<Page> {
  const context = await scene.newBrowser();
  await context.addCookies([...client.cookies].map(([key, value]) => ({ name: key.split(';')[0], value, url: service })));
  const page = await context.newPage();
  await page.goto(`${service}${path}`);
  return page;
}
const tab = (page: Page, name: string) => page.getByRole('navigation', { name: 'Pages of the website' }).getByRole('link', { name });
const toast = (page: Page, text: string) => page.getByText(text, { exact: true }).first().waitFor();

test('the list leads to the page of a website, with its tabs, and an unknown website says what to do', async () => {
  const { domain } = await addSite();
  const page = await openPage('/developer-email-auth');
  await page.getByRole('link', { name: domain, exact: true }).click();
  await page.waitForURL(`**/dashboard/websites/${domain}/setup`);
  await heading(page, domain);
  await page.getByText('Not verified').waitFor();
  await tab(page, 'Statistics').click();
  await page.waitForURL(`**/${domain}/stats`);
  await heading(page, 'Your server has not called verify-token yet');
  expect(await tab(page, 'Statistics').getAttribute('aria-current')).toBe('page');
  await tab(page, 'Log').click();
  await page.waitForURL(`**/${domain}/log`);
  expect(await page.title()).toBe(`Log of ${domain} · Email Auth`);
  await page.getByRole('link', { name: 'Verify the domain' }).click();
  await page.getByText(`_emailauth.${domain}`).first().waitFor();
  await page.goBack();
  await page.waitForURL(`**/${domain}/log`);

  const other = await signInDeveloper(scene.stage, scene.service);
  const foreign = await openPage(`/dashboard/websites/${domain}/log`, other);
  await heading(foreign, 'No such website');
  await foreign.getByRole('link', { name: 'Add a website' }).click();
  await foreign.getByRole('dialog').waitFor();
  await heading(await openPage(`/dashboard/websites/${domain}/other`), '404 Page Not Found');
});

test('statistics are a funnel with rates, by method and per day, over 7, 30 or 90 days', async () => {
  const { id, domain } = await addSite();
  await scene.stage.query(
    `insert into daily_sites (website, day, sent, opened, again, completed, completed_again)
     select $1, (now() at time zone 'UTC')::date - ago, sent, opened, again, completed, completed_again
     from (values (0, 10, 8, 2, 8, 2), (20, 20, 16, 14, 28, 12), (60, 100, 50, 0, 40, 0)) as day (ago, sent, opened, again, completed, completed_again)`,
    [id],
  );
  await scene.stage.query(
    `insert into daily_site_times (website, day, seconds, opened, methods)
     values ($1, (now() at time zone 'UTC')::date, '{14,75,60}', '{5,1,2}', '{l,l,c}')`,
    [id],
  );
  const page = await openPage(`/dashboard/websites/${domain}/stats`);
  const funnel = page.getByRole('region', { name: 'From request to sign-in' });
  const steps = () => funnel.locator('dl > div').allTextContents();
  await funnel.waitFor();
  expect(await steps()).toEqual([
    'RequestedSign-in emails30',
    'OpenedLink opened or code entered2480% of requested, median 14 s',
    'VerifiedTokens that your server verified2292% of opened',
    'Signed inWith remembered accounts16',
    'VerifiedTokens that your server verified1488% of signed in',
  ]);
  const methods = page.getByRole('region', { name: 'How visitors sign in' });
  expect(await methods.getByRole('row').allTextContents()).toEqual([
    'MethodSign-insShareMedian time',
    'Link in the email2255%14 s',
    'Code in the email25%1 min',
    'Remembered account1640%–',
  ]);
  const days = page.getByRole('table', { name: 'Sign-ins per UTC day' }).getByRole('row');
  expect(await days.count()).toBe(31);
  expect(await days.last().textContent()).toMatch(/, so far622$/);
  expect(await days.nth(29).textContent()).not.toContain('so far');
  await scene.stage.query('update daily_sites set by_passkey = 4, by_verified_email = 1 where website = $1 and again = 14', [id]);
  await page.reload();
  await expect.poll(steps).toContain('Signed inWith passkeys or addresses that the browser proved or remembered accounts16');
  expect(await methods.getByRole('row').allTextContents()).toEqual(
    expect.arrayContaining(['Passkey410%–', 'Email verified by the browser13%–', 'Remembered account1128%–']),
  );
  await page.getByRole('link', { name: '7 days' }).click();
  await expect.poll(steps).toContain('RequestedSign-in emails10');
  await page.getByRole('link', { name: '90 days' }).click();
  await expect.poll(steps).toContain('RequestedSign-in emails130');
  expect(page.url()).toContain('days=90');
  await page.setViewportSize({ width: 320, height: 800 });
  await evaluates(page, 'document.documentElement.scrollWidth', 320);
});

test('the link to the tokens that were not verified leads to these sign-ins', async () => {
  const { id, domain } = await addSite();
  const [verified, unverified] = [freshAddress('ann'), freshAddress('bob')];
  const token = await visitorToken(scene.stage, scene.service.client(), domain, verified);
  await scene.service.client().get(`/api/verify-token?token=${token}&domain=${domain}`);
  const other = await visitorToken(scene.stage, scene.service.client(), domain, unverified);
  await scene.service.client().get(`/api/verify-token?token=${other}&domain=other.example`);
  await scene.stage.query(
    "insert into daily_sites (website, day, sent, opened, completed) values ($1, (now() at time zone 'UTC')::date, 2, 2, 1)",
    [id],
  );
  const page = await openPage(`/dashboard/websites/${domain}/stats`);
  await page.getByText('1 token was not verified').waitFor();
  await page.getByRole('link', { name: 'See these sign-ins in the log' }).click();
  const rows = page.getByRole('list', { name: 'Sign-ins', exact: true }).locator('> li');
  await expect.poll(() => rows.count()).toBe(1);
  expect(await rows.first().locator('summary').textContent()).toContain(unverified);
  expect(await page.getByLabel('State').inputValue()).toBe('sign_in unverified');
});

test('statistics show the code until a token was verified, and say where there is nothing', async () => {
  const { id, domain } = await addSite();
  const page = await openPage(`/dashboard/websites/${domain}/stats`);
  await heading(page, 'Your server has not called verify-token yet');
  await page.getByText(`domain: '${domain}'`).waitFor();
  await scene.stage.query(
    "insert into daily_sites (website, day, sent, opened, completed) values ($1, (now() at time zone 'UTC')::date - 20, 1, 1, 1)",
    [id],
  );
  await page.goto(`${page.url()}?days=7`);
  await heading(page, 'No sign-ins in the last 7 days');
});

test('the log has a row for each sign-in, is live, is filtered by the URL, continues to earlier ones, and is saved as CSV', async () => {
  const { domain } = await addSite();
  await scene.stage.query(
    `insert into audit_log (at, action, email, website_id)
     select now() - interval '2 minutes' + n * interval '1 s', 'sign_in_requested', case when n = 7 then '=cmd@mail.example' else n || '@mail.example' end, id
     from websites, generate_series(1, 110) n where domain = $1`,
    [domain],
  );
  const page = await openPage(`/dashboard/websites/${domain}/log`);
  const rows = page.getByRole('list', { name: 'Sign-ins', exact: true }).locator('> li');
  await expect.poll(() => rows.count()).toBeGreaterThan(29);
  expect(await rows.first().textContent()).toContain('110@mail.example');

  // One row, which changes its state where it is.
  const [client, email] = [scene.service.client(), freshAddress('zoe')];
  await requestEmail(client, email, `https://${domain}/`);
  const row = rows.filter({ hasText: email });
  await row.getByText(/^(Waiting for the email|Email sent)$/).waitFor();
  const shown = await rows.count();
  const summary = row.locator('summary');
  await summary.focus();
  // New rows wait while the focus is in the list.
  const another = freshAddress('yan');
  await requestEmail(scene.service.client(), another, `https://${domain}/`);
  await page.getByRole('button', { name: 'Show 1 new' }).waitFor();
  const token = tokenOf(await openLink(client, await scene.stage.mailbox.waitFor(email)));
  await scene.service.client().get(`/api/verify-token?token=${token}&domain=app.${domain}`);
  await row.getByText('Signed in, token not verified').waitFor();
  await summary.getByText('The token was rejected: it is for another host.').waitFor();
  expect(await rows.count()).toBe(shown);

  await page.keyboard.press('Enter');
  const steps = page.getByRole('list', { name: `Steps of the sign-in of ${email}` }).getByRole('listitem');
  await expect.poll(async () => (await steps.allTextContents()).length).toBe(4);
  expect(await steps.first().textContent()).toContain('A sign-in email was requested.');
  await steps.getByText('Fix:').waitFor();
  await scene.service.client().get(`/api/verify-token?token=${token}&domain=${domain}`);
  await summary.getByText('Signed in', { exact: true }).waitFor();
  await page
    .getByRole('status')
    .filter({ hasText: `${email}: Signed in` })
    .waitFor({ state: 'attached' });
  await expect.poll(() => steps.count()).toBe(5);
  await page.getByRole('button', { name: 'Show 1 new' }).click();
  await expect.poll(() => rows.first().textContent()).toContain(another);

  while (await page.getByRole('button', { name: 'Show earlier sign-ins' }).isVisible()) {
    const before = await rows.count();
    await page.getByRole('button', { name: 'Show earlier sign-ins' }).click();
    await expect.poll(() => rows.count()).toBeGreaterThan(before);
  }
  await page.getByText('The log begins here.').waitFor();
  expect(await rows.count()).toBe(112);

  await page.getByLabel('Address').fill('ZOE');
  await expect.poll(() => page.url()).toContain('email=ZOE');
  await page.getByLabel('State').selectOption({ label: 'Opened by link or code' });
  await expect.poll(() => page.url()).toContain('status=opened');
  await page.getByLabel('Method').selectOption({ label: 'Link in the email' });
  await expect.poll(() => page.url()).toContain('method=link');
  const shared = await openPage(new URL(page.url()).pathname + new URL(page.url()).search);
  const found = shared.getByRole('list', { name: 'Sign-ins', exact: true }).locator('> li');
  await expect.poll(() => found.count()).toBe(1);
  expect(await found.textContent()).toContain(email);
  await shared.getByLabel('State').selectOption({ label: 'Waiting for the email' });
  await heading(shared, 'No sign-ins found');
  await shared.getByRole('button', { name: 'Clear filters' }).click();
  await expect.poll(() => found.count()).toBeGreaterThan(29);

  const [download] = await Promise.all([shared.waitForEvent('download'), shared.getByRole('button', { name: 'Export CSV' }).click()]);
  await toast(shared, 'Log exported');
  expect(download.suggestedFilename()).toBe(`sign-ins-${domain}.csv`);
  const lines = (await readFile(await download.path(), 'utf8')).trimEnd().split('\r\n');
  expect(lines).toHaveLength(118);
  expect(lines[0]).toBe('\uFEFFtime,step,reason,email,count,text,fix');
  expect(lines.find((line) => line.includes('cmd@'))).toContain(",'=cmd@mail.example,");
});

test('the page of a website opens its sign-in page, which returns to its home page, and in local mode the demo', async () => {
  const { domain } = await addSite();
  const local = await openPage(`/dashboard/websites/${domain}/setup`);
  const [demo] = await Promise.all([local.context().waitForEvent('page'), local.getByRole('link', { name: 'Try the demo' }).click()]);
  await demo.waitForURL('**/demo');
  const page = await openPage(`/dashboard/websites/${domain}/setup`, owner, live.service.url);
  const [signIn] = await Promise.all([
    page.context().waitForEvent('page'),
    page.getByRole('link', { name: 'Open the sign-in page' }).click(),
  ]);
  expect(new URL(signIn.url()).searchParams.get('forward_url')).toBe(`https://${domain}/`);
  await signIn.getByText(domain, { exact: true }).waitFor();
});

test('owners move a website, and delete it after typing its domain; members may not', async () => {
  const { id, domain } = await addSite();
  const member = await signInDeveloper(scene.stage, scene.service);
  await scene.stage.query(
    "insert into website_members (website_id, email, role, invited_by, joined_at) values ($1, $2, 'member', $3, now())",
    [id, member.email, owner.email],
  );
  const seen = await openPage(`/dashboard/websites/${domain}/settings`, member);
  await heading(seen, 'OpenID Connect');
  expect(await seen.getByRole('button', { name: /Move website|Delete website/ }).count()).toBe(0);
  expect(await seen.getByRole('heading', { name: 'Danger zone' }).count()).toBe(0);
  await seen.goto(`${scene.service.url}/dashboard/websites/${domain}/visitors`);
  await heading(seen, 'Visitors');
  expect(await seen.getByRole('button', { name: /Export|Erase/ }).count()).toBe(0);
  await seen.goto(`${scene.service.url}/developer-email-auth`);
  await seen.getByRole('button', { name: `Edit ${domain}` }).waitFor();
  expect(await seen.getByRole('button', { name: `Delete ${domain}` }).count()).toBe(0);
  // The service refuses it too, and says who may.
  const refused = [
    await member.client.delete(`/api/websites/${id}`),
    await member.client.put(`/api/websites/${id}`, { domain: freshDomain() }),
    await member.client.post(`/api/websites/${id}/members`, { email: freshAddress(), role: 'member' }),
    await member.client.post(`/api/websites/${id}/visitors/export`, {}),
  ];
  for (const { status, json } of refused) expect([status, json.code, json.hint]).toEqual([403, 'owner_needed', expect.any(String)]);

  const page = await openPage(`/dashboard/websites/${domain}/settings#danger`);
  const dialog = page.getByRole('dialog');
  await page.getByRole('button', { name: 'Move website' }).click();
  await dialog.getByRole('button', { name: 'Move website' }).click();
  await dialog.getByText('Domain is required').waitFor();
  const moved = freshDomain();
  await dialog.getByLabel('New domain').fill(moved);
  await dialog.getByRole('button', { name: 'Move website' }).click();
  await page.waitForURL(`**/${moved}/settings`);
  await heading(page, moved);

  await page.getByRole('button', { name: 'Delete website' }).click();
  await dialog.getByRole('button', { name: 'Delete website' }).click();
  await dialog.getByText(`Type ${moved} to confirm.`).waitFor();
  await dialog.getByLabel(`Type ${moved} to confirm`).fill(moved);
  await dialog.getByRole('button', { name: 'Delete website' }).click();
  await page.waitForURL('**/developer-email-auth');
  await toast(page, 'Website deleted');
  const gone = await openPage(`/dashboard/websites/${moved}`);
  await heading(gone, 'No such website');
});
