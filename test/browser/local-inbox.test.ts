// A stage of its own: without SMTP_URL, emails stay in the built-in inbox.
import { afterAll, beforeAll, expect, test } from 'vitest';
import { openContext } from '../support/browser.ts';
import { requestEmail as askService, freshAddress, freshDomain } from '../support/sign-ins.ts';
import { heading, openScene, openSinks, requestEmail, type Scene, text } from './scene.ts';

let scene: Scene;
beforeAll(async () => {
  scene = await openScene({ SMTP_URL: '' });
});
afterAll(() => scene.close());

test('the landing page leads to the demo and the inbox, and a registration names the address and leads to the inbox', async () => {
  const page = await (await scene.newBrowser()).newPage();
  await page.goto(scene.service.url);
  expect(await page.getByRole('link', { name: 'Sign in at the demo shop' }).getAttribute('href')).toBe('/demo');
  expect(await page.getByRole('link', { name: 'Open the inbox' }).getAttribute('href')).toBe('/dev/inbox');

  const email = freshAddress('owner');
  await page.goto(`${scene.service.url}/webservices/email-auth/register`);
  await page.getByLabel('Domain').fill(freshDomain());
  await page.getByLabel('Email Address').fill(email);
  await page.keyboard.press('Enter');
  await heading(page, 'Registration Successful!');
  await page.getByText(email, { exact: true }).waitFor();
  const opened = page.context().waitForEvent('page');
  await page.getByRole('link', { name: 'Open the local inbox' }).click();
  await (await opened).getByText(email).first().waitFor();
});

test('step 2 leads to the inbox', async () => {
  const language = 'lt';
  const page = await (await scene.newBrowser()).newPage();
  const email = freshAddress();
  await page.goto(scene.shop.signInUrl(language));
  await requestEmail(page, email, language);
  const link = page.getByRole('link', { name: text(language, 'open_inbox') });
  expect(await link.getAttribute('href')).toBe(`/dev/inbox/newest?q=${encodeURIComponent(email)}`);
  await page.reload();
  const opened = page.context().waitForEvent('page');
  await link.click();
  await (await opened).getByText(email).first().waitFor();
});

test('the inbox shows a new email without a reload, and turns no text into markup or scripts', async () => {
  // Not a browser of the scene, which reports each violation as a fault.
  const page = await (await openContext()).newPage();
  await page.goto(`${scene.service.url}/dev/inbox`);
  await page.getByText('Live', { exact: true }).waitFor();
  const email = freshAddress();
  await askService(scene.service.client(), email);
  await page.getByRole('navigation', { name: 'Messages' }).getByText(email).waitFor();
  expect(await openSinks(page)).toEqual([]);
});
