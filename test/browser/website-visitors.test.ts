import { readFile } from 'node:fs/promises';
import type { Page } from 'playwright';
import { expect, test } from 'vitest';
import { useProduction } from '../support/harness.ts';
import { freshAddress, freshDomain } from '../support/sign-ins.ts';
import { countNow } from '../support/statistics.ts';
import { signIn, useScene } from './scene.ts';

const scene = await useScene(useProduction);

const rows = (page: Page) => page.getByRole('listitem').filter({ has: page.getByText(/sign-ins?:/) });

/** Opens the visitors of a new website in a new browser. @param visitors how many addresses signed in */
async function openVisitors({ visitors, proven = true }: { visitors: number; proven?: boolean }) {
  const page = await (await scene.newBrowser()).newPage();
  const [email, domain] = [freshAddress('dev'), freshDomain()];
  await signIn(scene, page, email);
  await scene.stage.query(
    `insert into websites (id, domain, email, claimed_at, proven_at, created_at, domain_since)
     values (gen_random_uuid(), $1, $2, now(), case when $3 then now() end, now() - interval '1 year', now() - interval '1 year')`,
    [domain, email, proven],
  );
  await scene.stage.query(
    `insert into audit_log (at, action, email, website_id, method)
     select now() - n * interval '1 hour', 'signed_in', 'v' || lpad(n::text, 3, '0') || '@mail.example', id, 'l'
     from websites, generate_series(1, $2::int) n where domain = $1`,
    [domain, visitors],
  );
  await countNow(scene.stage);
  await page.goto(`${scene.service.url}/dashboard/websites/${domain}/visitors`);
  return { page, domain };
}

async function downloaded(page: Page, button: string): Promise<string> {
  const [download] = await Promise.all([page.waitForEvent('download'), page.getByRole('button', { name: button, exact: true }).click()]);
  return readFile(await download.path(), 'utf8');
}

test('the visitors of a website are paged, searched, exported and erased', async () => {
  const { page, domain } = await openVisitors({ visitors: 60 });
  await page.getByText('60 visitors').waitFor();
  await expect.poll(() => rows(page).count()).toBe(50);
  await page.getByRole('link', { name: 'Next' }).click();
  await expect.poll(() => rows(page).count()).toBe(10);
  await page.getByLabel('Order').selectOption('Address');
  await rows(page).first().getByText('v001@mail.example').waitFor();
  expect(new URL(page.url()).search).toBe('?sort=email+asc');

  const csv = await downloaded(page, 'Export CSV');
  expect(csv.trim().split('\r\n')).toHaveLength(61);
  expect(csv).toContain('v060@mail.example,');
  expect(JSON.parse(await downloaded(page, 'Export JSON'))).toHaveLength(60);
  expect(JSON.parse(await downloaded(page, 'Export v001@mail.example'))).toMatchObject([{ email: 'v001@mail.example', byEmail: 1 }]);

  await page.getByLabel('Search addresses').fill('v042');
  await page.getByText('1 visitor', { exact: true }).waitFor();
  await page.getByRole('button', { name: 'Erase v042@mail.example' }).click();
  await page.getByRole('dialog', { name: 'Erase v042@mail.example' }).getByRole('button', { name: 'Erase', exact: true }).click();
  await page.getByText('Visitor erased').waitFor();
  await page.getByText('No address with “v042” has signed in.').waitFor();
  const left = await scene.stage.query("select count(*)::int as erased from audit_log where action = 'visitor_erased' and domain = $1", [
    domain,
  ]);
  expect(left).toEqual([{ erased: 1 }]);
});

test('an address that never signed in can be erased from the log', async () => {
  const { page } = await openVisitors({ visitors: 0 });
  await page.getByText('No visitors yet').waitFor();
  await page.getByLabel('Search addresses').fill('nobody@mail.example');
  await page.getByRole('button', { name: 'Erase nobody@mail.example from the log' }).click();
  await page.getByRole('dialog').getByRole('button', { name: 'Erase', exact: true }).click();
  await page.getByText('Visitor erased').waitFor();
});

test('addresses are masked until the domain is verified, without search, export and erasure', async () => {
  const { page } = await openVisitors({ visitors: 2, proven: false });
  await expect.poll(() => rows(page).count()).toBe(2);
  await page.getByText('v•••@mail.example').first().waitFor();
  expect(await page.getByRole('button', { name: /^(?:Export|Erase)/ }).count()).toBe(0);
  expect(await page.getByLabel('Search addresses').count()).toBe(0);
});
