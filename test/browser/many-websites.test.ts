import type { Page } from 'playwright';
import { beforeAll, expect, test } from 'vitest';
import { freshAddress, signInDeveloper } from '../support/sign-ins.ts';
import { evaluates, useScene } from './scene.ts';

const WEBSITES = 1_000;
const MAX_NODES = 2_000;

const scene = await useScene();
let page: Page;
beforeAll(async () => {
  const { email, client } = await signInDeveloper(scene.stage, scene.service, freshAddress('dev'));
  // With sign-ins, which make the rows larger.
  await scene.stage.query(
    `with site as (
       insert into websites (id, domain, email, claimed_at, created_at)
       select gen_random_uuid(), 'site-' || n || '.many.example', $1, now(), now() - n * interval '1 minute' from generate_series(1, ${WEBSITES}) n
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

const url = (query = '') => `${scene.service.url}/developer-email-auth${query}`;
const rows = () => page.getByRole('listitem').filter({ has: page.getByRole('heading', { level: 3 }) });
const firstIs = (domain: string) => expect.poll(() => rows().first().getByRole('heading').textContent()).toBe(domain);
const open = async (query: string, first: string) => {
  await page.goto(url(query));
  await firstIs(first);
};

test('shows a page of the list with few elements, and the next one by the keyboard; the back button returns', async () => {
  await open('', 'site-1.many.example');
  expect(await rows().count()).toBe(25);
  expect(await page.evaluate('document.querySelectorAll("*").length')).toBeLessThan(MAX_NODES);
  await page.getByRole('status').getByText('Websites 1 to 25 of 1,000').waitFor({ state: 'attached' });
  await page.getByRole('link', { name: 'Next' }).focus();
  await page.keyboard.press('Enter');
  await page.waitForURL(url('?page=2'));
  await firstIs('site-26.many.example');
  await page.goBack();
  await firstIs('site-1.many.example');
  await open('?page=40', 'site-976.many.example');
  expect(await page.getByRole('link', { name: 'Next' }).count()).toBe(0);
});

test('searches and sorts, and the address says how', async () => {
  await open('', 'site-1.many.example');
  await page.getByLabel('Search websites').fill('site-99');
  await page.waitForURL(url('?q=site-99'));
  await expect.poll(() => rows().count()).toBe(11);
  await page.getByLabel('Order').selectOption('Most sign-ins');
  await page.waitForURL(url('?q=site-99&sort=sign-ins'));
  await firstIs('site-999.many.example');
  await page.reload();
  await firstIs('site-999.many.example');
  expect(await page.getByLabel('Search websites').inputValue()).toBe('site-99');
  await page.getByLabel('Search websites').fill('nothing');
  await page.getByRole('heading', { name: 'No website found' }).waitFor();
  await page.getByRole('button', { name: 'Show all websites' }).click();
  await expect.poll(() => rows().count()).toBe(25);
  expect(await page.getByLabel('Search websites').inputValue()).toBe('');
});

test('fits a phone', async () => {
  await page.setViewportSize({ width: 320, height: 700 });
  await open('?q=site-30', 'site-30.many.example');
  await evaluates(page, 'document.documentElement.scrollWidth', 320);
  await page.setViewportSize({ width: 1024, height: 800 });
});
