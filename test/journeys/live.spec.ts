import type { Page } from 'playwright';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { addApplication, authorizeAt, exchangeCode } from '../oidc-driver.ts';
import { type Developer, freshAddress, freshDomain, signInDeveloper, visitorToken } from '../sign-ins.ts';
import { evaluates, heading, openScene, type Scene } from './scene.ts';

let scene: Scene;
let owner: Developer;
beforeAll(async () => {
  scene = await openScene();
  owner = await signInDeveloper(scene.stage, scene.service);
});
afterAll(() => scene.close());

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
const picker = (page: Page) => page.getByRole('button', { name: /^Website / });
const rows = (page: Page) => page.getByRole('log').getByRole('listitem');

/** Collects what moved in the page without a cause by the person (layout-shift of the Layout Instability API). */
const WATCH_SHIFTS = `globalThis.shifts = []; new PerformanceObserver((list) => {
  for (const { hadRecentInput, sources } of list.getEntries())
    if (!hadRecentInput) globalThis.shifts.push(...sources.map(({ node }) => node?.outerHTML?.slice(0, 200) ?? String(node)));
}).observe({ type: 'layout-shift' })`;

test('shows each step as it happens, without a reload or a layout shift, and pauses without a gap, by keyboard', async () => {
  const domain = await addSite();
  const page = await openPage('/developer-email-auth');
  await page.getByRole('button', { name: `More actions for ${domain}` }).focus();
  await page.keyboard.press('Enter');
  await page.getByRole('menuitem', { name: 'Live sign-ins' }).focus();
  await page.keyboard.press('Enter');
  await heading(page, 'Live Sign-ins');
  await heading(page, 'Nothing in the last hour');
  await expect.poll(() => picker(page).textContent()).toBe(domain);
  await page.evaluate(WATCH_SHIFTS);

  const email = freshAddress();
  await signIn(domain, email);
  await expect.poll(() => rows(page).count(), { timeout: 60_000 }).toBe(4);
  expect(await rows(page).first().textContent()).toMatch(/\d\d:\d\d:\d\dA sign-in email was requested\./);
  expect(await rows(page).last().textContent()).toContain('The website verified the token');
  expect(await rows(page).last().textContent()).toContain(email);
  expect(await page.evaluate('globalThis.shifts')).toEqual([]);

  const pause = page.getByRole('button', { name: 'Pause' });
  await pause.focus();
  await page.keyboard.press('Enter');
  await page.getByRole('status').getByText('Paused').waitFor();
  await signIn(domain);
  const other = await openPage(`/developer-email-auth/live?domain=${domain}`);
  await expect.poll(() => rows(other).count(), { timeout: 60_000 }).toBe(8);
  expect(await rows(page).count()).toBe(4);
  await page.keyboard.press('Enter');
  await page.getByRole('status').getByText('Live').waitFor();
  await expect.poll(() => rows(page).count(), { timeout: 60_000 }).toBe(8);

  // The list is taller than its box: the newest row is visible, and the keyboard scrolls.
  await page.setViewportSize({ width: 390, height: 500 });
  await page.keyboard.press('Tab');
  const box = page.getByRole('region', { name: 'Steps of sign-ins' });
  await evaluates(page, "document.activeElement.getAttribute('aria-label')", 'Steps of sign-ins');
  await signIn(domain);
  await expect.poll(() => rows(page).count(), { timeout: 60_000 }).toBe(12);
  await expect.poll(() => box.evaluate((element: { scrollTop: number }) => element.scrollTop)).toBeGreaterThan(0);
  await page.keyboard.press('Home');
  await expect.poll(() => box.evaluate((element: { scrollTop: number }) => element.scrollTop)).toBe(0);
});

test('shows what failed with its fix, of one website or of all, and asks for a website where there is none', async () => {
  const [domain, quiet] = [await addSite(), await addSite()];
  await scene.service.client().get(`/api/verify-token?token=${'x'.repeat(43)}&domain=${domain}`);
  const page = await openPage(`/developer-email-auth/live?domain=${quiet}`);
  await heading(page, 'Nothing in the last hour');
  await page.getByRole('button', { name: 'Test sign-in' }).click();
  await page.getByRole('dialog').waitFor();
  await page.keyboard.press('Escape');
  await picker(page).click();
  await page.getByRole('option', { name: 'All websites and applications' }).click();
  const row = rows(page).filter({ hasText: domain });
  await row.getByText('Problem: The token was rejected: this service did not issue it').waitFor();
  await row.getByText('Pass the token parameter').waitFor();

  owner = await signInDeveloper(scene.stage, scene.service);
  const empty = await openPage('/developer-email-auth/live');
  await heading(empty, 'No Websites Added');
});

test('shows the sign-ins through an application, up to the request that its provider rejects', async () => {
  const client = await addApplication(owner);
  const page = await openPage('/developer-email-auth/live');
  await picker(page).focus();
  await page.keyboard.press('Enter');
  await page.keyboard.type('Notes');
  await page.getByRole('option', { name: 'Notes Application' }).waitFor();
  await page.keyboard.press('Enter');
  await page.waitForURL(`**/developer-email-auth/live?domain=${client.clientId}`);
  const { request, callback } = await authorizeAt(scene.stage, scene.service, client);
  await rows(page).filter({ hasText: 'the sign-in by OpenID Connect went on' }).waitFor();
  await exchangeCode(scene.service.client(), request, callback, { code_verifier: 'x'.repeat(43) });
  await rows(page).filter({ hasText: 'invalid_grant' }).getByText('Send the code_verifier').waitFor();
});

test('continues by itself when the service restarts', async () => {
  const domain = await addSite();
  const instance = await scene.stage.start();
  const page = await openPage('/developer-email-auth');
  await page.goto(`${instance.url}/developer-email-auth/live?domain=${domain}`);
  await heading(page, 'Nothing in the last hour');
  await instance.stop();
  await page.getByRole('status').getByText('Reconnecting').waitFor();
  await signIn(domain);
  await scene.stage.start({ PORT: String(instance.port) });
  await expect.poll(() => rows(page).count(), { timeout: 60_000 }).toBe(4);
  await page.getByRole('status').getByText('Live').waitFor();
});
