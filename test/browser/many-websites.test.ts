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
  // The last of the list, by when it was added.
  await scene.stage.query("update websites set created_at = '2026-01-01' where domain = 'localhost'");
  const context = await scene.newBrowser();
  await context.addCookies([...client.cookies].map(([name, value]) => ({ name: name.split(';')[0], value, url: scene.service.url })));
  page = await context.newPage();
  // Wide enough for the columns.
  await page.setViewportSize({ width: 1280, height: 800 });
});

const url = (query = '') => `${scene.service.url}/developer-email-auth${query}`;
const rows = () => page.getByRole('row').filter({ has: page.getByRole('rowheader') });
const firstIs = (domain: string) => expect.poll(() => rows().first().getByRole('rowheader').getByRole('link').textContent()).toBe(domain);
const open = async (query: string, first: string) => {
  await page.goto(url(query));
  await firstIs(first);
};

const sorted = (column: string, order: string) =>
  expect.poll(() => page.getByRole('columnheader', { name: column, exact: true }).getAttribute('aria-sort')).toBe(order);

test('shows a page of the list with few elements, and the next one by the keyboard; the back button returns', async () => {
  await open('', 'site-1.many.example');
  expect(await rows().count()).toBe(25);
  expect(await page.evaluate('document.querySelectorAll("*").length')).toBeLessThan(MAX_NODES);
  await page.getByRole('status').getByText('Websites 1 to 25 of 1,001').waitFor({ state: 'attached' });
  await page.getByRole('link', { name: 'Next' }).focus();
  await page.keyboard.press('Enter');
  await page.waitForURL(url('?page=2'));
  await firstIs('site-26.many.example');
  await page.goBack();
  await firstIs('site-1.many.example');
  await open('?page=41', 'localhost');
  expect(await page.getByRole('link', { name: 'Next' }).count()).toBe(0);
});

test('searches and sorts, and the address says how', async () => {
  await open('', 'site-1.many.example');
  await page.getByLabel('Search websites').fill('site-99');
  await page.waitForURL(url('?q=site-99'));
  await expect.poll(() => rows().count()).toBe(11);
  await page.getByRole('link', { name: 'Sign-ins', exact: true }).click();
  await page.waitForURL(url('?q=site-99&sort=sign-ins'));
  await firstIs('site-999.many.example');
  await page.reload();
  await firstIs('site-999.many.example');
  await sorted('Sign-ins', 'descending');
  await page.getByRole('link', { name: 'Sign-ins', exact: true }).focus();
  await page.keyboard.press('Enter');
  await page.waitForURL(url('?q=site-99&sort=sign-ins&order=asc'));
  await firstIs('site-99.many.example');
  await sorted('Sign-ins', 'ascending');
  await page.goBack();
  await sorted('Sign-ins', 'descending');
  expect(await page.getByLabel('Search websites').inputValue()).toBe('site-99');
  await page.getByLabel('Search websites').fill('nothing');
  await page.getByRole('heading', { name: 'No website found' }).waitFor();
  await page.getByRole('button', { name: 'Show all websites' }).click();
  await expect.poll(() => rows().count()).toBe(25);
  expect(await page.getByLabel('Search websites').inputValue()).toBe('');
});

test('has the state, the sign-ins of seven days, success, last sign-in and team in columns', async () => {
  await open('?q=site-30.', 'site-30.many.example');
  expect(await page.getByRole('table', { name: 'My websites' }).getByRole('columnheader').allTextContents()).toEqual([
    'Website',
    'State',
    'Sign-ins',
    'Success',
    'Last sign-in',
    'Team',
    'Actions',
  ]);
  const texts = (await rows().first().getByRole('cell').allInnerTexts()).map((cell) => cell.replace(/\s+/g, ' ').trim());
  expect(texts).toEqual(['Active Not verified', '330', '2%', expect.stringMatching(/^\d+ \w+ \d{4}$/), '1', 'Edit Delete']);
});

test('becomes rows that name their figures on a phone, with a list of orders', async () => {
  await page.setViewportSize({ width: 320, height: 700 });
  await open('?q=site-30', 'site-30.many.example');
  await evaluates(page, 'document.documentElement.scrollWidth', 320);
  await rows().first().getByText('Last sign-in').waitFor();
  await page.getByLabel('Order').selectOption('Most sign-ins');
  await page.waitForURL(url('?q=site-30&sort=sign-ins'));
  await firstIs('site-309.many.example');
});
