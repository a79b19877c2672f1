import type { Page } from 'playwright';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { openContext } from '../support/browser.ts';
import { freshAddress, requestEmail } from '../support/sign-ins.ts';
import { openScene, type Scene } from './scene.ts';

let scene: Scene;
beforeAll(async () => {
  // The built-in inbox is available only without a mail server.
  scene = await openScene({ SMTP_URL: '' });
});
afterAll(() => scene.close().catch(() => {}));

/** Returns the names of the ways to turn a text into markup, a script or a policy that the page does not block. */
const openSinks = (page: Page) =>
  page.evaluate<string[]>(`Object.entries({
    innerHTML: () => { document.createElement('div').innerHTML = '<img src=x onerror=alert(1)>'; },
    insertAdjacentHTML: () => document.body.insertAdjacentHTML('beforeend', '<b>x</b>'),
    parseFromString: () => new DOMParser().parseFromString('<b>x</b>', 'text/html'),
    scriptSource: () => { document.createElement('script').src = '/assets/x.js'; },
    createPolicy: () => trustedTypes.createPolicy('default', {}),
  }).flatMap(([name, open]) => {
    try {
      open();
      return [name];
    } catch (error) {
      return error instanceof TypeError ? [] : [name + ': ' + error];
    }
  })`);

test.each(['/', '/auth', '/auth/link?t=x', '/status', '/webservices/email-auth/quick-start', '/dev/inbox'])(
  'the page %s turns no text into markup or scripts',
  async (path) => {
    // Not a browser of the scene, which reports each violation as a fault.
    const page = await (await openContext()).newPage();
    await page.goto(scene.service.url + path);
    expect(await openSinks(page)).toEqual([]);
  },
);

test('the inbox shows a new email without a reload', async () => {
  const page = await (await scene.newBrowser()).newPage();
  await page.goto(`${scene.service.url}/dev/inbox`);
  await page.getByText('Live', { exact: true }).waitFor();
  const email = freshAddress();
  await requestEmail(scene.service.client(), email);
  await page.getByRole('navigation', { name: 'Messages' }).getByText(email).waitFor();
});

test('a policy violation in a page fails its journey', async () => {
  const page = await (await scene.newBrowser()).newPage();
  await page.goto(`${scene.service.url}/auth`);
  // Violations are reported in a later task of the page.
  await page.evaluate(
    "void (globalThis.reported = new Promise((resolve) => document.addEventListener('securitypolicyviolation', () => resolve())))",
  );
  await openSinks(page);
  await page.evaluate('globalThis.reported');
  await expect(scene.close()).rejects.toThrow(/\/auth: a breach of require-trusted-types-for/);
});
