import type { Page } from 'playwright';
import { beforeAll, expect, test } from 'vitest';
import { type Developer, freshAddress, freshDomain, signInDeveloper, visitorToken } from '../support/sign-ins.ts';
import { heading, useScene } from './scene.ts';

const scene = await useScene();
let owner: Developer;
beforeAll(async () => {
  owner = await signInDeveloper(scene.stage, scene.service);
});

/** Opens a page in a browser in which the owner is signed in. */
async function openPage(path: string): Promise<Page> {
  const context = await scene.newBrowser();
  await context.addCookies([...owner.client.cookies].map(([name, value]) => ({ name, value, url: scene.service.url })));
  const page = await context.newPage();
  await page.goto(`${scene.service.url}${path}`);
  return page;
}
const addSite = async (): Promise<string> => (await owner.client.post('/api/websites', { domain: freshDomain() })).json.domain;
const signIn = async (domain: string, email = freshAddress()) => {
  const token = await visitorToken(scene.stage, scene.service.client(), domain, email);
  await scene.service.client().get(`/api/verify-token?token=${token}&domain=${domain}`);
};
const rows = (page: Page) => page.getByRole('log').getByRole('listitem');

test('shows each step as it happens, without a reload, and pauses without a gap, by keyboard', async () => {
  const domain = await addSite();
  const page = await openPage('/developer-email-auth');
  await page.getByRole('button', { name: `More actions for ${domain}` }).focus();
  await page.keyboard.press('Enter');
  await page.getByRole('menuitem', { name: 'Log' }).focus();
  await page.keyboard.press('Enter');
  await page.waitForURL(`**/dashboard/websites/${domain}/log`);
  await heading(page, 'No sign-ins yet');

  const email = freshAddress();
  await signIn(domain, email);
  await expect.poll(() => rows(page).count(), { timeout: 60_000 }).toBe(4);
  // The email is accepted while the visitor goes on, so that its step may be the newest one.
  const verified = rows(page).filter({ hasText: 'The website verified the token' });
  expect(await verified.textContent()).toContain(email);
  expect(await rows(page).last().textContent()).toMatch(/\d\d:\d\d:\d\dA sign-in email was requested\./);

  const pause = page.getByRole('button', { name: 'Pause' });
  await pause.focus();
  await page.keyboard.press('Enter');
  await page.getByRole('status').getByText('Paused').waitFor();
  await signIn(domain);
  const other = await openPage(`/dashboard/websites/${domain}/log`);
  await expect.poll(() => other.getByRole('list', { name: 'Earlier steps' }).getByRole('listitem').count(), { timeout: 60_000 }).toBe(8);
  expect(await rows(page).count()).toBe(4);
  await page.keyboard.press('Enter');
  await page.getByRole('status').getByText('Live').waitFor();
  await expect.poll(() => rows(page).count(), { timeout: 60_000 }).toBe(8);
});

test('shows what failed with its fix', async () => {
  const domain = await addSite();
  const page = await openPage(`/dashboard/websites/${domain}/log`);
  await heading(page, 'No sign-ins yet');
  await scene.service.client().get(`/api/verify-token?token=${'x'.repeat(43)}&domain=${domain}`);
  const row = rows(page).first();
  await row.getByText('Problem: The token was rejected: this service did not issue it').waitFor();
  await row.getByText('Pass the token parameter').waitFor();
});

test('continues by itself when the service restarts', async () => {
  const domain = await addSite();
  const instance = await scene.stage.start();
  const page = await openPage('/developer-email-auth');
  await page.goto(`${instance.url}/dashboard/websites/${domain}/log`);
  await heading(page, 'No sign-ins yet');
  await instance.stop();
  await page.getByRole('status').getByText('Reconnecting').waitFor();
  await signIn(domain);
  await scene.stage.start({ PORT: String(instance.port) });
  await expect.poll(() => rows(page).count(), { timeout: 60_000 }).toBe(4);
  await page.getByRole('status').getByText('Live').waitFor();
});
