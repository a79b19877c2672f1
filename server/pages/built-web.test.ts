import { expect, test } from 'vitest';
import { type BuiltPages, builtPageAt } from './built-web.ts';

const page = { entry: 'portal' as const, scripts: [], calls: [], developerCalls: ['/api/websites/mine/DOMAIN'] };
const pages: BuiltPages = { '/auth': { entry: 'signin' }, '/dashboard/websites/:domain': page, '/dashboard/websites/:domain/log': page };

test.each(['/auth', '/dashboard/websites/shop.example', '/dashboard/websites/dashboard/log'])('there is a page at %s', (path) => {
  expect(builtPageAt(pages, path)).not.toBeNull();
});

test.each([
  '/',
  '/auth/',
  '/dashboard/websites/',
  '/dashboard/websites//log',
  '/dashboard/websites/a/b',
  '/dashboard/websites/a/log/b',
  '/toString',
])('there is no page at %s', (path) => {
  expect(builtPageAt(pages, path)).toBeNull();
});

test.each([
  ['shop.example', ['/api/websites/mine/shop.example']],
  ['"><script>', []],
])('the page of the website %s loads %j', (domain, developerCalls) => {
  expect(builtPageAt(pages, `/dashboard/websites/${domain}`)).toMatchObject({ developerCalls });
});
