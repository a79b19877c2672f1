/**
 * `npm run measurements`: prints what interactions with a list of 1,000 websites cost, and how the pages of the portal
 * load. PROGRAM: the built command of another version, for a comparison of the loading.
 */
import type { Page } from 'playwright';
import { afterAll, beforeAll, test } from 'vitest';
import { openStage, type Stage } from '../support/harness.ts';
import { freshAddress, signInDeveloper } from '../support/sign-ins.ts';
import { openScene, type Scene } from './scene.ts';

const WEBSITES = 1_000;
const LATENCY_MS = 300;

let scene: Scene;
let other: Stage | undefined;
let url: string;
let page: Page;
beforeAll(async () => {
  scene = await openScene();
  // Another version has a database of its own: it may not know the newest migrations.
  other = process.env.PROGRAM ? await openStage() : undefined;
  const stage = other ?? scene.stage;
  const service = other ? await other.start({}, { args: [process.env.PROGRAM as string], cwd: process.cwd() }) : scene.service;
  url = service.url;
  const { email, client } = await signInDeveloper(stage, service, freshAddress('dev'));
  await stage.query(
    `insert into websites (id, domain, email, claimed_at) select gen_random_uuid(), 'site-' || n || '.example', $1, now()
     from generate_series(1, ${WEBSITES}) n`,
    [email],
  );
  const context = await scene.newBrowser();
  const cookies = [...client.cookies].map(([name, value]) => ({ name: name.split(';')[0], value, url }));
  await context.addCookies(cookies);
  page = await context.newPage();
});
afterAll(async () => {
  await other?.close();
  await scene.close();
});

/** Prints the longest interaction of an action, from the input to the next paint (Event Timing API). */
async function interaction(name: string, act: () => Promise<unknown>) {
  await page.evaluate(`globalThis.longest = 0;
    globalThis.observer?.disconnect();
    globalThis.observer = new PerformanceObserver((list) => { for (const { duration } of list.getEntries()) globalThis.longest = Math.max(globalThis.longest, duration); });
    globalThis.observer.observe({ type: 'event', durationThreshold: 16 });`);
  await act();
  await page.waitForTimeout(400);
  console.log(`  ${name.padEnd(40)} ${await page.evaluate('globalThis.longest')} ms`);
}

test.skipIf(process.env.PROGRAM)('interactions', async () => {
  await page.goto(`${url}/developer-email-auth`);
  await page.getByRole('link', { name: 'Next' }).waitFor();
  console.log(`\nInteractions with ${WEBSITES} websites, ${await page.evaluate('document.querySelectorAll("*").length')} elements`);
  await interaction('search: a key', () => page.getByLabel('Search websites').press('9'));
  await interaction('search: delete it', () => page.getByLabel('Search websites').press('Backspace'));
  await interaction('next page', () => page.getByRole('link', { name: 'Next' }).click());
  await interaction('order', () => page.getByLabel('Order').selectOption('By name'));
  await interaction('open the confirmation of a deletion', () =>
    page
      .getByRole('button', { name: /^Delete site-/ })
      .first()
      .click(),
  );
  await interaction('close it', () => page.keyboard.press('Escape'));
  await interaction('open the commands', () => page.keyboard.press('Control+k'));
  await interaction('commands: type three letters', () => page.keyboard.type('sit'));
});

test.each([
  ['/developer-email-auth', 'h3'],
  ['/dashboard', 'dd span.tabular-nums'],
  ['/dashboard/settings', 'form'],
])('loading of %s', async (path, ready) => {
  const network = await page.context().newCDPSession(page);
  await network.send('Network.enable');
  await network.send('Network.setCacheDisabled', { cacheDisabled: true });
  await network.send('Network.emulateNetworkConditions', {
    offline: false,
    latency: LATENCY_MS,
    downloadThroughput: -1,
    uploadThroughput: -1,
  });
  await page.goto(`${url}${path}`);
  await page.locator(`main :is(${ready})`).first().waitFor();
  const shown = Math.round((await page.evaluate('performance.now()')) as number);
  await page.waitForLoadState('networkidle');
  const starts = (await page.evaluate(
    `performance.getEntriesByType('resource').filter(({ name }) => /\\/(assets|api)\\//.test(name) && !/woff2|svg|css/.test(name)).map(({ startTime }) => startTime).sort((a, b) => a - b)`,
  )) as number[];
  // Requests that begin within half a latency of one another are one step of the chain.
  const steps = starts.filter((start, index) => index === 0 || start - starts[index - 1] > LATENCY_MS / 2).length;
  console.log(
    `  ${path.padEnd(24)} ${starts.length} scripts and calls, in ${steps} steps after the HTML; content after ${shown} ms at ${LATENCY_MS} ms latency`,
  );
  await network.detach();
});
