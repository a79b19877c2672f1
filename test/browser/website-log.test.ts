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
const rows = (page: Page) => page.getByRole('list', { name: 'Sign-ins', exact: true }).locator('> li');
/** Waits until so many sign-ins are complete. */
const complete = (page: Page, count: number) =>
  expect.poll(() => rows(page).locator('summary').getByText('Signed in', { exact: true }).count(), { timeout: 60_000 }).toBe(count);

test('shows a sign-in and each step as it happens, without a reload, and pauses without a gap, by keyboard', async () => {
  const domain = await addSite();
  const page = await openPage('/developer-email-auth');
  await page.getByRole('link', { name: domain, exact: true }).focus();
  await page.keyboard.press('Enter');
  await page.getByRole('link', { name: 'Log', exact: true }).focus();
  await page.keyboard.press('Enter');
  await page.waitForURL(`**/dashboard/websites/${domain}/log`);
  await heading(page, 'No sign-ins yet');

  const email = freshAddress();
  await signIn(domain, email);
  await complete(page, 1);
  await page.getByRole('status').filter({ hasText: email }).waitFor({ state: 'attached' });
  await rows(page).locator('summary').focus();
  await page.keyboard.press('Enter');
  const steps = page.getByRole('list', { name: `Steps of the sign-in of ${email}` }).getByRole('listitem');
  await expect.poll(() => steps.count()).toBe(4);
  expect(await steps.first().textContent()).toMatch(/\d\d:\d\d:\d\dA sign-in email was requested\./);
  await page.getByText('The website verified the token').waitFor();

  const pause = page.getByRole('button', { name: 'Pause' });
  await pause.focus();
  await page.keyboard.press('Enter');
  await page.getByRole('status').getByText('Paused').waitFor();
  await signIn(domain);
  const other = await openPage(`/dashboard/websites/${domain}/log`);
  await complete(other, 2);
  expect(await rows(page).count()).toBe(1);
  await page.keyboard.press('Enter');
  await page.getByRole('status').getByText('Live').waitFor();
  await complete(page, 2);
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
  await complete(page, 1);
  await page.getByRole('status').getByText('Live').waitFor();
});
