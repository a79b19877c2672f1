// A stage of its own: emails stay in the built-in inbox, and its website runs outside of the worker.
import { execFile } from 'node:child_process';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import type { Locator, Page } from 'playwright';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { heading, openScene, type Scene } from '../../browser/scene.ts';
import { type NameServer, openNameServer } from '../../support/dns.ts';
import { freshAddress, freshDomain } from '../../support/sign-ins.ts';
import { freePort } from '../../support/waiting.ts';
import { launch } from './site.ts';

/** Fetching packages takes its time on a slow network. */
const WALK_MS = 540_000;
const MAX_CLICKS = 14;

const run = promisify(execFile);

let names: NameServer;
let scene: Scene;
beforeAll(async () => {
  names = await openNameServer();
  scene = await openScene({ SMTP_URL: '', DNS_SERVERS: names.address });
});
afterAll(async () => {
  await scene?.close();
  await names?.close();
});

test('a new owner gets from the landing page to a complete set-up by what the pages show', { timeout: WALK_MS }, async ({
  onTestFinished,
}) => {
  const context = await scene.newBrowser();
  await context.grantPermissions(['clipboard-read', 'clipboard-write'], { origin: scene.service.url });
  let clicks = 0;
  const click = (target: Locator) => {
    clicks += 1;
    return target.click();
  };
  /** Clicks on a link that opens a tab, and returns the tab. */
  const opened = async (target: Locator): Promise<Page> => {
    const tab = context.waitForEvent('page');
    await click(target);
    return tab;
  };
  /** Follows the newest email of the address that the page names. */
  const followEmail = async (page: Page) => {
    const inbox = await opened(page.getByRole('link', { name: /^Open the (?:local )?inbox/ }));
    return opened(inbox.getByRole('link', { name: 'Open the link' }));
  };
  const page = await context.newPage();

  await page.goto(scene.service.url);
  await click(page.getByRole('link', { name: 'Register', exact: true }));
  const domain = freshDomain();
  await page.getByLabel('Domain').fill(domain);
  const address = freshAddress('owner');
  await page.getByLabel('Email Address').fill(address);
  await page.keyboard.press('Enter');
  await heading(page, 'Registration Successful!');

  const owner = await followEmail(page);
  // A registration is bound to no browser.
  await owner.getByLabel('Email address').fill(address);
  await owner.keyboard.press('Enter');
  await click(owner.getByRole('button', { name: 'Continue to Developer Portal' }));
  await owner.waitForURL(`**/dashboard/websites/${domain}/setup`);
  const copy = async (label: string): Promise<string> => {
    await owner.evaluate("navigator.clipboard.writeText('')");
    await click(owner.getByRole('button', { name: `Copy ${label}`, exact: true }).first());
    const clipboard = () => owner.evaluate('navigator.clipboard.readText()') as Promise<string>;
    await expect.poll(clipboard).not.toBe('');
    return clipboard();
  };
  const directory = await mkdtemp(join(tmpdir(), 'emailauth-first-steps-'));
  onTestFinished(() => rm(directory, { recursive: true, force: true }));
  await run('sh', ['-ec', await copy('install')], { cwd: directory });
  await writeFile(join(directory, 'auth.mjs'), await copy('auth.mjs'));
  await click(owner.getByRole('tab', { name: 'index.mjs' }));
  await writeFile(join(directory, 'index.mjs'), await copy('index.mjs'));
  const port = await freePort();
  // As the page says: correct SITE_URL if the app does not run there.
  await writeFile(
    join(directory, '.env'),
    (await copy('.env')).replace('SITE_URL=http://localhost:3000', `SITE_URL=http://localhost:${port}`),
  );
  const site = await launch(directory, { id: 'express', command: ['sh', '-ec', await copy('start')] }, port);
  onTestFinished(() => site.close());

  const visitor = await context.newPage();
  const email = freshAddress();
  await visitor.goto(site.url);
  await click(visitor.getByRole('link', { name: 'Login with Email' }));
  await visitor.getByLabel('Email address').fill(email);
  await visitor.keyboard.press('Enter');
  await (await followEmail(visitor)).getByText(`Signed in as ${email}`).waitFor();

  const done = (title: string) =>
    owner
      .getByRole('listitem')
      .filter({ has: owner.getByRole('heading', { name: title, exact: true }) })
      .getByText('Done', { exact: true })
      .waitFor();
  await done('First sign-in');
  await done('Email');
  await owner.getByLabel('Address of the callback').fill(`${site.url}/auth/callback`);
  await owner.getByLabel('Address of the callback').press('Enter');
  await done('Callback');
  await done('Link on your site');

  names.setText(`_emailauth.${domain}`, [(await owner.getByText(/^[0-9a-f]{32}$/).textContent()) ?? '']);
  await click(owner.getByRole('button', { name: 'Check now' }));
  await owner.getByText('Set up is complete').waitFor();
  expect(clicks).toBeLessThanOrEqual(MAX_CLICKS);
});
