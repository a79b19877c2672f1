import { expect, test } from 'vitest';
import { openContext } from '../support/browser.ts';
import { openSceneOn, openSinks, useScene } from './scene.ts';

const scene = await useScene();

test.each(['/', '/auth', '/auth/link?t=x', '/status', '/webservices/email-auth/quick-start'])(
  'the page %s turns no text into markup or scripts',
  async (path) => {
    // Not a browser of the scene, which reports each violation as a fault.
    const page = await (await openContext()).newPage();
    await page.goto(scene.service.url + path);
    expect(await openSinks(page)).toEqual([]);
  },
);

test('a policy violation in a page fails its file', async () => {
  const own = await openSceneOn(scene.stage, scene.service);
  const page = await (await own.newBrowser()).newPage();
  await page.goto(`${own.service.url}/auth`);
  // Violations are reported in a later task of the page.
  await page.evaluate(
    "void (globalThis.reported = new Promise((resolve) => document.addEventListener('securitypolicyviolation', () => resolve())))",
  );
  await openSinks(page);
  await page.evaluate('globalThis.reported');
  await expect(own.close()).rejects.toThrow(/\/auth: a breach of require-trusted-types-for/);
});
