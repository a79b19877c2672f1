import { existsSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, test } from 'vitest';
import { KEYS, openProgram, type Terminal } from '../cli/terminal.ts';
import { useService } from '../support/harness.ts';
import { freshAddress } from '../support/sign-ins.ts';
import { openTestWebsite, type TestWebsite } from '../support/test-website.ts';

const W3M = '/usr/bin/w3m';

const { stage, service } = await useService();
let shop: TestWebsite;
let directory: string;
let browser: Terminal;
beforeAll(async () => {
  shop = await openTestWebsite(service.url);
  directory = await mkdtemp(join(tmpdir(), 'emailauth-w3m-'));
});
afterAll(async () => {
  await browser?.close();
  await shop.close();
  await rm(directory, { recursive: true, force: true });
});

/** Moves the cursor to a text of the page and presses keys there. */
const pressAt = (text: string, ...keys: string[]) => browser.type(`g/${text}${KEYS.enter}${keys.join('')}`);

/** Fills in the field after a text of the page. */
async function fillAfter(label: string, value: string) {
  pressAt(label, KEYS.tab, KEYS.enter);
  await browser.waitFor(/^TEXT:/m);
  browser.type(`${value}${KEYS.enter}`);
  // The field is shorter than its value.
  await browser.waitFor(`[${value.slice(0, 6)}`);
}

if (!existsSync(W3M)) console.warn('Skipped: the sign-in in a text browser. Install w3m (apt-get install w3m).');

test.skipIf(!existsSync(W3M))('a visitor signs in by the code in w3m', async () => {
  const email = freshAddress();
  const env = { PATH: process.env.PATH ?? '', HOME: directory, LANG: 'C.UTF-8' };
  browser = openProgram({ directory, env }, W3M, ['-cookie', shop.signInUrl()], { rows: 50 });
  await browser.waitFor('Send magic link');
  await fillAfter('Email address', email);
  pressAt('Send magic link', KEYS.enter);
  await browser.waitFor(`We sent a magic link to ${email}`);
  await fillAfter('6-digit', (await stage.mailbox.waitFor(email)).code);
  pressAt('Sign in with the code', KEYS.enter);
  await browser.waitFor('Continue to localhost');
  pressAt('Continue to', KEYS.enter);
  await browser.waitFor(`Hello ${email}`);
});
