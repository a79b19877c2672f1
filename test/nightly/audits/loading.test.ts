import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { BrowserContext } from 'playwright';
import { beforeAll, expect, test } from 'vitest';
import { docPath } from '../../../docs/pages.ts';
import { WEBSITE_TABS, type WebsiteTab, websitePath } from '../../../web/pages.ts';
import { signIn, useScene } from '../../browser/scene.ts';
import { freshAddress } from '../../support/sign-ins.ts';

const scene = await useScene();
let [visitor, developer]: BrowserContext[] = [];
beforeAll(async () => {
  [visitor, developer] = [await scene.newBrowser(), await scene.newBrowser()];
  const email = freshAddress();
  const page = await developer.newPage();
  await signIn(scene, page, email);
  await page.close();
  await scene.stage.query("insert into websites (id, domain, email, claimed_at) values (gen_random_uuid(), 'loading.example', $1, now())", [
    email,
  ]);
  // The first arrival after a sign-in leads to the only website.
  const home = await developer.newPage();
  await home.goto(`${scene.service.url}/developer`);
  await home.waitForURL(/loading\.example/);
  await home.close();
});

/** The calls of a page that depend on the responses to its first ones. */
const LATER = /^\/api\/(?:websites\/(?:events|[\w-]{36}\/)|audit-logs\?limit=50)/;

type Chunk = { file: string; imports?: string[] };
const chunks: Record<string, Chunk> = JSON.parse(readFileSync(join(import.meta.dirname, '../../../dist/web/chunks.json'), 'utf8'));
const filesOf = (key: string): string[] => [`/${chunks[key].file}`, ...(chunks[key].imports ?? []).flatMap(filesOf)];
/** Scripts that are loaded when they are needed: the lists of the menus, charts in view, and the code of the selected framework. */
const laterScripts = Object.keys(chunks)
  .filter((key) => ['ui/menu-dropdown.tsx', 'ui/day-bars-chart.tsx'].includes(key) || key.startsWith('../templates/'))
  .flatMap(filesOf);

const isPublic = (path: string) => !/^\/(?:admin|developer|dashboard|profile|passkeys)/.test(path);
const tabs = Object.keys(WEBSITE_TABS) as WebsiteTab[];

test.each([
  '/',
  '/webservices/email-auth/register',
  docPath('quick-start'),
  '/status',
  '/tos',
  '/iladmin',
  '/admin',
  '/developer',
  '/developer-email-auth',
  '/dashboard',
  '/dashboard/activity',
  '/dashboard/auth',
  '/dashboard/analytics',
  '/dashboard/settings',
  '/dashboard/settings/branding',
  '/dashboard/settings/security',
  '/profile',
  '/passkeys',
  ...tabs.map((tab) => websitePath('loading.example', tab)),
])('the head of %s names everything that the page loads first, and the page loads it once without an error', async (path) => {
  const page = await (isPublic(path) ? visitor : developer).newPage();
  const loaded: string[] = [];
  const errors: string[] = [];
  page.on('console', (message) => void (message.type() === 'error' && errors.push(message.text())));
  page.on('request', (request) => {
    const { pathname, search } = new URL(request.url());
    if (request.resourceType() === 'script' || request.resourceType() === 'fetch') loaded.push(pathname + search);
  });
  const response = await page.goto(scene.service.url + path);
  const html = (await response?.text()) ?? '';
  const named = [...html.matchAll(/(?:href|src)="([^"]+)"/g)].map(([, address]) => address.replaceAll('&amp;', '&'));
  await page.locator('main h1').first().waitFor();
  await expect.poll(() => page.locator('main .pulse, [data-loading]').count()).toBe(0);

  expect(loaded.filter((address) => ![...named, ...laterScripts].includes(address) && !LATER.test(address))).toEqual([]);
  expect(loaded.filter((address, index) => loaded.indexOf(address) !== index)).toEqual([]);
  expect(errors).toEqual([]);
  await page.close();
});
