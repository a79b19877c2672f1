import { readFile } from 'node:fs/promises';
import type { Page } from 'playwright';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type NameServer, openNameServer } from '../dns.ts';
import { freshAddress, signInDeveloper } from '../sign-ins.ts';
import { evaluates, openScene, type Scene } from './scene.ts';

const WEBSITES = 1_000;
const MAX_NODES = 2_000;

let names: NameServer;
let scene: Scene;
let page: Page;
beforeAll(async () => {
  names = await openNameServer();
  scene = await openScene({ DNS_SERVERS: names.address });
  const { email, client } = await signInDeveloper(scene.stage, scene.service, freshAddress('dev'));
  // With sign-ins, which make the rows larger.
  await scene.stage.query(
    `with site as (
       insert into websites (id, domain, email, claimed_at, created_at)
       select gen_random_uuid(), 'site-' || n || '.example', $1, now(), now() - n * interval '1 minute' from generate_series(1, ${WEBSITES}) n
       returning id, domain
     )
     insert into daily_sites (website, day, sent, opened, again, completed)
     select id, (now() at time zone 'UTC')::date, 1440, split_part(split_part(domain, '.', 1), '-', 2)::int, 300, 1650 from site`,
    [email],
  );
  const context = await scene.newBrowser();
  await context.addCookies([...client.cookies].map(([name, value]) => ({ name: name.split(';')[0], value, url: scene.service.url })));
  page = await context.newPage();
});
afterAll(async () => {
  await scene.close();
  await names.close();
});

const url = (query = '') => `${scene.service.url}/developer-email-auth${query}`;
const rows = () => page.getByRole('listitem').filter({ has: page.getByRole('heading', { level: 3 }) });
const firstIs = (domain: string) => expect.poll(() => rows().first().getByRole('heading').textContent()).toBe(domain);
const open = async (query: string, first: string) => {
  await page.goto(url(query));
  await firstIs(first);
};
const select = (domain: string) => page.getByRole('checkbox', { name: `Select ${domain}`, exact: true }).check();
const selection = () => page.getByRole('region', { name: 'Selection' });

test('shows a page of the list with few elements, and the next one by the keyboard; the back button returns', async () => {
  await open('', 'site-1.example');
  expect(await rows().count()).toBe(25);
  expect(await page.evaluate('document.querySelectorAll("*").length')).toBeLessThan(MAX_NODES);
  await page.getByRole('status').getByText('Websites 1 to 25 of 1,000').waitFor({ state: 'attached' });
  await page.getByRole('link', { name: 'Next' }).focus();
  await page.keyboard.press('Enter');
  await page.waitForURL(url('?page=2'));
  await firstIs('site-26.example');
  await page.goBack();
  await firstIs('site-1.example');
  await open('?page=40', 'site-976.example');
  expect(await page.getByRole('link', { name: 'Next' }).count()).toBe(0);
});

test('searches and sorts, and the address says how', async () => {
  await open('', 'site-1.example');
  await page.getByLabel('Search websites').fill('site-99');
  await page.waitForURL(url('?q=site-99'));
  await expect.poll(() => rows().count()).toBe(11);
  await page.getByLabel('Order').selectOption('Most sign-ins');
  await page.waitForURL(url('?q=site-99&sort=sign-ins'));
  await firstIs('site-999.example');
  await page.reload();
  await firstIs('site-999.example');
  expect(await page.getByLabel('Search websites').inputValue()).toBe('site-99');
  await page.getByLabel('Search websites').fill('nothing');
  await page.getByRole('heading', { name: 'No website found' }).waitFor();
  await page.getByRole('button', { name: 'Show all websites' }).click();
  await expect.poll(() => rows().count()).toBe(25);
  expect(await page.getByLabel('Search websites').inputValue()).toBe('');
});

test('exports the websites that were found, or those that are selected', async () => {
  const exported = async () => {
    const download = page.waitForEvent('download');
    await page.getByRole('button', { name: 'Export CSV' }).click();
    return (await readFile(await (await download).path(), 'utf8')).trim().split('\r\n');
  };
  await open('', 'site-1.example');
  const all = await exported();
  expect(all).toHaveLength(WEBSITES + 1);
  expect(all[1]).toMatch(/^site-1\.example,site-1\.example,no,\d{4}-.*,1440,1,0,0,300,1650,$/);
  await select('site-3.example');
  expect((await exported())[1]).toContain('site-3.example');
});

test('finds a website on the live page by typing, with few elements', async () => {
  await page.goto(`${scene.service.url}/developer-email-auth/live`);
  await page.getByRole('button', { name: /^Website / }).click();
  await page.getByRole('status').getByText('994 more: type a part of the domain.').waitFor();
  expect(await page.evaluate('document.querySelectorAll("*").length')).toBeLessThan(MAX_NODES);
  await page.keyboard.type('site-777');
  await page.getByRole('option', { name: 'site-777.example' }).waitFor();
  await expect.poll(() => page.getByRole('option').count()).toBe(1);
  await page.keyboard.press('Enter');
  await page.waitForURL('**/live?domain=site-777.example');
  await page.getByRole('button', { name: 'Website site-777.example' }).waitFor();
});

test('verifies several websites and reports which proofs were not found', async () => {
  await open('?q=site-50', 'site-50.example');
  const proof = await page.evaluate("fetch('/api/websites/claim/site-50.example').then((response) => response.json())");
  const { record, value } = (proof as { proof: { record: string; value: string } }).proof;
  names.setText(record, [value]);
  await select('site-50.example');
  await select('site-500.example');
  await selection().getByRole('button', { name: 'Verify' }).click();
  const dialog = page.getByRole('dialog', { name: 'Verify 2 websites' });
  await dialog.getByRole('button', { name: 'Check now' }).click();
  await dialog.getByText('1 verified').waitFor();
  await dialog.getByText('Not found yet: site-500.example').waitFor();
  await dialog.getByRole('button', { name: 'Close' }).last().click();
  await rows().first().getByText('Verified', { exact: true }).waitFor();
});

test('deletes several websites, on several pages, after their number was typed', async () => {
  await open('', 'site-1.example');
  await page.getByRole('checkbox', { name: 'Select all on this page' }).check();
  await page.getByRole('link', { name: 'Next' }).click();
  await firstIs('site-26.example');
  await select('site-26.example');
  await selection().getByText('26 selected').waitFor();
  await selection().getByRole('button', { name: 'Delete' }).click();
  const dialog = page.getByRole('dialog', { name: 'Delete 26 websites' });
  await dialog.getByText('This action cannot be undone').waitFor();
  await dialog.getByRole('button', { name: 'Delete 26 websites' }).click();
  await dialog.getByRole('alert').getByText('Type 26 to confirm').waitFor();
  await dialog.getByRole('textbox').fill('26');
  await page.keyboard.press('Enter');
  await page.getByText('Websites deleted').waitFor();
  await dialog.waitFor({ state: 'detached' });
  await selection().getByText('Select all on this page').waitFor();
  await open('', 'site-27.example');
  const [{ left }] = await scene.stage.query('select count(*)::int as left from websites where email is not null');
  expect(left).toBe(WEBSITES - 26);
});

test('selects all websites that were found', async () => {
  await open('?q=site-2', 'site-27.example');
  await page.getByRole('checkbox', { name: 'Select all on this page' }).check();
  const all = selection().getByRole('button', { name: /^Select all 1/ });
  const total = Number((await all.textContent())?.match(/\d+/)?.[0]);
  await all.click();
  await selection().getByText(`${total} selected`).waitFor();
  await selection().getByRole('button', { name: 'Clear' }).click();
  await selection().getByText('Select all on this page').waitFor();
});

test('fits a phone', async () => {
  await page.setViewportSize({ width: 320, height: 700 });
  await open('?q=site-30', 'site-30.example');
  await select('site-30.example');
  await evaluates(page, 'document.documentElement.scrollWidth', 320);
  await page.setViewportSize({ width: 1024, height: 800 });
});
