import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Page } from 'playwright';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { integratedSite } from '../support/integrated-site.ts';
import { type Developer, freshDomain, proveWebsite, signInDeveloper, visitorToken } from '../support/sign-ins.ts';
import { evaluates, heading, signIn, useScene } from './scene.ts';

const scene = await useScene();
const { stage, service, names } = scene;
let owner: Developer;
beforeAll(async () => {
  owner = await signInDeveloper(stage, service);
});

const working = integratedSite(service.url, () => site);
let handler = working;
const app = createServer((request, response) => handler(request, response)).listen(0, '127.0.0.1');
await new Promise((resolve) => app.once('listening', resolve));
const site = `http://localhost:${(app.address() as AddressInfo).port}`;
afterAll(() => {
  app.close();
  app.closeAllConnections();
});

async function openPage(path: string): Promise<Page> {
  const context = await scene.newBrowser();
  await context.addCookies([...owner.client.cookies].map(([key, value]) => ({ name: key.split(';')[0], value, url: service.url })));
  const page = await context.newPage();
  await page.goto(`${service.url}${path}`);
  return page;
}
/** Waits until the step with this title has a state. */
const step = (page: Page, title: string, state: 'To do' | 'Done' | 'Needs attention') =>
  page
    .getByRole('listitem')
    .filter({ has: page.getByRole('heading', { name: title, exact: true }) })
    .getByText(state, { exact: true })
    .waitFor();
const verify = (domain: string, token: string) => service.client().get(`/api/verify-token?token=${token}&domain=${domain}`);

test('the steps turn green by themselves, fold when all are done, and come back when something breaks', async () => {
  const domain = freshDomain();
  const { id } = (await owner.client.post('/api/websites', { domain })).json;
  const page = await openPage(`/dashboard/websites/${domain}`);
  await page.waitForURL(`**/${domain}/setup`);
  await page.getByText('0 of 5 steps done.').waitFor();
  const announced = page.locator('[aria-live=polite]', { hasText: ': ' }).last();
  await page.setViewportSize({ width: 320, height: 800 });
  await evaluates(page, 'document.documentElement.scrollWidth', 320);

  await page.getByLabel('Address of the callback').fill('https://other.example/auth/callback');
  await page.getByRole('button', { name: 'Check', exact: true }).click();
  await page.getByRole('alert').getByText('is on other.example').waitFor();
  await page.getByLabel('Address of the callback').fill(`${site}/auth/callback`);
  await page.getByLabel('Address of the callback').press('Enter');
  await step(page, 'Callback', 'Done');
  await step(page, 'Link on your site', 'Done');
  await step(page, 'First sign-in', 'To do');
  await page.reload();
  await step(page, 'Callback', 'Done');

  const token = await visitorToken(stage, service.client(), domain);
  await page.getByText('Your server has not verified it yet').waitFor();
  await step(page, 'Email', 'Done');
  await verify(domain, token);
  await step(page, 'First sign-in', 'Done');
  await announced.getByText('First sign-in: Done.').waitFor();
  await page.getByText(`_emailauth.${domain}`).first().waitFor();
  // By another program: the page learns of it from the events.
  await proveWebsite(names, owner.client, domain);
  const folded = page.getByText('Set up is complete');
  await folded.waitFor();
  expect(await page.getByRole('heading', { name: 'First sign-in' }).isVisible()).toBe(false);
  await folded.click();
  await step(page, 'First sign-in', 'Done');
  const [main] = await Promise.all([openPage(`/dashboard/websites/${domain}`)]);
  await main.waitForURL(`**/${domain}/stats`);

  await verify(domain, token);
  await step(page, 'First sign-in', 'Needs attention');
  await page.getByText('4 of 5 steps done, and one needs attention.').waitFor();
  await verify(domain, await visitorToken(stage, service.client(), domain));
  await folded.waitFor();
  handler = (_, response) => response.writeHead(500).end();
  // From another browser of the team.
  await owner.client.post(`/api/websites/${id}/callback-check`, { url: `${site}/auth/callback` });
  await step(page, 'Callback', 'Needs attention');
  handler = working;
  await page.getByRole('button', { name: 'Check', exact: true }).click();
  await folded.waitFor();
  await heading(page, domain);
});

test('a sign-in without another target leads to the only website, or to the table of several', async () => {
  const { url } = service;
  const home = async (websites: number) => {
    const developer = await signInDeveloper(stage, service);
    for (let i = 0; i < websites; i++) await developer.client.post('/api/websites', { domain: freshDomain() });
    const page = await (await scene.newBrowser()).newPage();
    await signIn(scene, page, developer.email);
    await page.goto(`${url}/developer`);
    return page;
  };
  await heading(await home(0), 'Developer Portal');
  await (await home(2)).waitForURL(`${url}/developer-email-auth`);
  const page = await home(1);
  await page.waitForURL(/\/dashboard\/websites\/[^/]+\/setup$/);
  // Later, the home page is the home page.
  await page.getByRole('link', { name: 'Developer Home' }).first().click();
  await heading(page, 'Developer Portal');
  await page.reload();
  await heading(page, 'Developer Portal');
});
