import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { parse } from 'acorn';
import { beforeAll, expect, test } from 'vitest';
import { useService } from '../support/harness.ts';
import { addWebsite, freshAddress, openLink, requestEmail } from '../support/sign-ins.ts';

const { stage, service } = await useService();
let shop: string;
beforeAll(async () => {
  shop = await addWebsite(stage, service);
});

const assets = join(import.meta.dirname, '../../dist/web/assets');
const scripts = () => readdirSync(assets).filter((name) => /^signin-.*\.js$/.test(name));

/** Returns the element that the script takes over, as text. */
const rootOf = (html: string) => /<div id="root">([\s\S]*?)<\/div>\s*<script/.exec(html)?.[1] ?? '';

test.each([
  ['/auth', 'Sign in to Email Auth'],
  ['/domain-auth?language=lt', 'Prisijungimas prie „Email Auth“'],
  ['/auth?forward_url=https://unknown.example/', 'Authorization Not Supported'],
  ['/auth/link?t=x', 'This link does not work'],
  ['/auth/callback', 'Missing authentication parameters'],
  ['/auth/callback/', 'Missing authentication parameters'],
  ['/legacy-auth/', 'Missing authentication parameters'],
  ['/auth?forward_url=', 'Sign in to Email Auth'],
  ['/oauth/interaction/aaaaaaaaaaaaaaaaaaaaa', 'This sign-in has expired'],
  ['/oauth/device', 'Connect a device'],
])('the response to %s contains the page', async (path, title) => {
  const { text } = await service.client().get(path);
  expect(rootOf(text)).toMatch(/<h1[^>]*>[^<]+<\/h1>/);
  expect(text).toContain(`<title>${/<h1[^>]*>([^<]+)<\/h1>/.exec(rootOf(text))?.[1]} · Email Auth</title>`);
  expect([path, rootOf(text).includes(title)]).toEqual([path, true]);
});

test.each([
  ['en', ['latin']],
  ['lt', ['latin', 'latin-ext']],
  ['uk', ['latin', 'cyrillic']],
])('a page in %s preloads only the fonts of its language', async (language, subsets) => {
  const { text } = await service.client().get(`/auth?language=${language}`);
  expect(text).toContain(`<html lang="${language}">`);
  const preloaded = [
    ...text.matchAll(/rel="preload" as="font" type="font\/woff2" href="\/assets\/geist-([a-z-]+)-wght[^"]+" crossorigin/g),
  ];
  expect(preloaded.map(([, subset]) => subset)).toEqual(subsets);
});

test('a parameter cannot leave its place in the page', async () => {
  const text = '"><script>alert(1)</script><!--';
  const { text: html } = await service
    .client()
    .get(`/auth?forward_url=https://${shop}/${encodeURIComponent(text)}&x=${encodeURIComponent(text)}`);
  expect(html).not.toContain('<script>alert');
  expect(html).not.toContain('<!--');
});

test('the remembered accounts of a browser are in its page, without their keys', async () => {
  const [browser, email] = [service.client(), freshAddress()];
  const url = `/auth?forward_url=https://${shop}/`;
  await requestEmail(browser, email, `https://${shop}/`);
  await openLink(browser, await stage.mailbox.waitFor(email));
  const { text } = await browser.get(url);
  expect(rootOf(text)).toContain(email);
  const key = JSON.parse(decodeURIComponent(browser.cookies.get('remembered_accounts') ?? '[]'))[0].key;
  expect(key).toMatch(/\w/);
  expect(text).not.toContain(key);
});

test('only a page without an address or a secret may be kept', async () => {
  const cacheOf = async (path: string, client = service.client()) => (await client.get(path)).headers['cache-control'];
  expect(await cacheOf(`/auth?forward_url=https://${shop}/`)).toBe('private, no-cache');
  expect(await cacheOf('/auth?forward_url=https://unknown.example/')).toBe('private, no-cache');
  expect(await cacheOf('/tos')).toBe('public, no-cache');
  for (const path of [
    '/auth/link?t=x',
    '/auth/callback?code=x&state=y',
    '/oauth/device',
    '/dashboard',
    '/auth?login_hint=ann@mail.example',
  ])
    expect([path, await cacheOf(path)]).toEqual([path, 'no-store']);
  const browser = service.client();
  await requestEmail(browser, freshAddress(), `https://${shop}/`);
  expect(await cacheOf(`/auth?forward_url=https://${shop}/&step=code`, browser)).toBe('no-store');
});

test.each<[string, number, Record<string, string>]>([
  ['a range that does not exist', 416, { Range: 'bytes=999999999-' }],
  ['an If-Match that does not match', 412, { 'If-Match': '"other"' }],
  ['an If-Unmodified-Since before the build', 412, { 'If-Unmodified-Since': 'Mon, 01 Jan 2001 00:00:00 GMT' }],
])('a file requested with %s gets %i, and not the 500 of a failure', async (_, status, headers) => {
  const response = await service.client().get(`/assets/${scripts()[0]}`, headers);
  expect([response.status, response.json.error]).toEqual([status, expect.stringMatching(/\.$/)]);
  expect(response.headers['content-range']).toEqual(status === 416 ? expect.stringMatching(/^bytes \*\/\d+$/) : undefined);
});

test('files are sent as they were compressed at build', async () => {
  const [name] = scripts();
  const tags = new Set<unknown>();
  for (const [accepted, used, extension] of [
    ['br, gzip', 'br', '.br'],
    ['gzip', 'gzip', '.gz'],
    ['identity', undefined, ''],
  ]) {
    const { headers, status } = await service.client().get(`/assets/${name}`, { 'Accept-Encoding': String(accepted) });
    expect([status, headers['content-encoding'], headers.vary]).toEqual([200, used, 'Accept-Encoding']);
    expect(headers['cache-control']).toBe('public, max-age=31536000, immutable');
    expect(headers['content-type']).toMatch(/^text\/javascript/);
    expect(Number(headers['content-length'])).toBe(readFileSync(join(assets, name + extension)).length);
    tags.add(headers.etag);
  }
  expect(tags.size).toBe(3);
});

test('the script of the sign-in pages runs in browsers of 2020', () => {
  expect(scripts()).toHaveLength(1);
  const code = readFileSync(join(assets, scripts()[0]), 'utf8');
  expect(() => parse(code, { ecmaVersion: 2020, sourceType: 'module' })).not.toThrow();
  const newer =
    /\.(?:at|replaceAll|toSorted|toReversed|toSpliced|findLast|findLastIndex|hasOwn|canParse|groupBy|withResolvers|any)\(|structuredClone|randomUUID/g;
  expect(code.match(newer)).toBeNull();
});
