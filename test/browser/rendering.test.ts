import type { BrowserContext } from 'playwright';
import { describe, expect, test } from 'vitest';
import { launchCachingBrowser, openContext } from '../support/browser.ts';
import { freshAddress } from '../support/sign-ins.ts';
import { evaluates, heading, requestEmail, text, useScene } from './scene.ts';

const scene = await useScene();

const SCRIPTS = '**/assets/signin-*.js';

/** What prevents the script of the page, and how. */
const obstacles: Record<string, (context: BrowserContext) => Promise<unknown>> = {
  'does not arrive': (context) => context.route(SCRIPTS, (route) => route.abort()),
  throws: (context) => context.route(SCRIPTS, (route) => route.fulfill({ contentType: 'text/javascript', body: 'throw new Error()' })),
  'has a syntax that the browser does not know': (context) =>
    context.route(SCRIPTS, (route) => route.fulfill({ contentType: 'text/javascript', body: 'const = ;' })),
};

describe.each(Object.keys(obstacles))('with a script that %s', (obstacle) => {
  test('the page is complete and changes its language', async () => {
    // Not a browser of the scene, which reports the errors that these tests cause.
    const context = await openContext();
    await obstacles[obstacle](context);
    const page = await context.newPage();
    await page.goto(scene.shop.signInUrl('en'));
    await heading(page, text('en', 'welcome'));
    await page.getByLabel(text('en', 'language_label')).selectOption('ru');
    await page.getByRole('button', { name: text('en', 'language_apply') }).click();
    await heading(page, text('ru', 'welcome'));
    const { searchParams } = new URL(page.url());
    expect([searchParams.get('language'), searchParams.get('forward_url')]).toEqual(['ru', `${scene.shop.url}/welcome?from=shop`]);
    expect(await page.getByRole('button', { name: text('ru', 'theme_dark') }).count()).toBe(0);
    await requestEmail(page, freshAddress(), 'ru');
    await context.close();
  });
});

test.each(['/auth?language=uk', '/auth?forward_url=https://unknown.example/', '/auth/link?t=x', '/oauth/device'])(
  'the script takes %s over without a change and without an error',
  async (path) => {
    const context = await scene.newBrowser();
    const page = await context.newPage();
    const sent = await (await page.goto(scene.service.url + path))?.text();
    await evaluates(page, 'document.documentElement.dataset.script', 'running');
    await page.getByRole('button', { name: /theme|тем/i }).waitFor();
    const [before, after] = await page.evaluate<[string, string]>(
      `(() => {
        const main = (html) => html.slice(html.indexOf('<main'), html.indexOf('</main>'));
        return [${JSON.stringify(sent)}, document.getElementById('root').innerHTML].map(main);
      })()`,
    );
    // The parser writes some attributes in another way than the renderer.
    const plain = (html: string) =>
      html
        .replace(/=""/g, '')
        .replace(/\/>/g, '>')
        .replace(/spellCheck/g, 'spellcheck');
    expect(plain(after)).toBe(plain(before));
  },
);

test('a page needs at most five requests, and nothing in it moves', async () => {
  const page = await (await scene.newBrowser()).newPage();
  const requested: string[] = [];
  page.on('request', (request) => void requested.push(request.url()));
  await page.addInitScript(`window.moved = 0; new PerformanceObserver((list) => {
    for (const entry of list.getEntries()) window.moved += entry.value;
  }).observe({ type: 'layout-shift', buffered: true });`);
  await page.setViewportSize({ width: 360, height: 740 });
  await page.goto(scene.shop.signInUrl('lt'), { waitUntil: 'networkidle' });
  await evaluates(page, 'document.documentElement.dataset.script', 'running');
  // A browser with tabs also loads their icon, which no page waits for.
  const needed = requested.filter((address) => !address.endsWith('.svg'));
  expect(needed.length, needed.join(' ')).toBeLessThanOrEqual(5);
  expect(await page.evaluate<number>('window.moved')).toBeLessThanOrEqual(0.02);
});

test('the back button restores the page from memory, without an account that was removed meanwhile', async (run) => {
  const caching = await launchCachingBrowser();
  if (!caching) return run.skip('Only Chromium itself, not its headless shell, has a back-forward cache.');
  const context = await caching.newContext();
  const page = await context.newPage();
  await page.goto(scene.shop.signInUrl('en'));
  await evaluates(page, 'document.documentElement.dataset.script', 'running');
  const account = { email: freshAddress(), authKey: '', timestamp: Date.now() };
  await page.evaluate(`localStorage.rememberedAuth = ${JSON.stringify(JSON.stringify([account]))};
    dispatchEvent(new Event('pageshow'));
    addEventListener('pageshow', ({ persisted }) => { document.documentElement.dataset.restored = persisted; });`);
  await page.getByText(account.email).waitFor();
  await page.goto(`${scene.service.url}/tos`);
  await page.evaluate('localStorage.clear(); history.back()');
  // A restored page fires no load event.
  await expect.poll(() => page.url()).toBe(scene.shop.signInUrl('en'));
  await evaluates(page, 'document.documentElement.dataset.restored', 'true');
  await expect.poll(() => page.getByText(account.email).count()).toBe(0);
  await caching.close();
});
