import { readFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { pageAt, pages, sourcesOf } from './pages.ts';

test.each([
  ['/developer/', '/developer'],
  ['/dashboard/websites/shop.example', '/dashboard/websites/:domain/:tab?'],
  ['/dashboard/websites/shop.example/log', '/dashboard/websites/:domain/:tab?'],
  ['/webservices/email-auth/register', '/webservices/email-auth/register'],
])('%s is the page %s', (path, found) => {
  expect(pageAt(path)?.path).toBe(found);
});

test.each([
  '/auth',
  '/auth/link',
  '/none',
  '/dashboard/websites/',
  '/dashboard/websites/a/b/c',
  '/developer/x',
  '/',
  '/webservices/email-auth',
  '/webservices/email-auth/frameworks/express',
])('the portal has no page at %s', (path) => {
  expect(pageAt(path)).toBeUndefined();
});

describe('the component', () => {
  const sources = Object.values(pages).flatMap((page) => ('component' in page ? sourcesOf(page) : []));
  test.each([...new Set(sources)])('%s is exported by its file', (source) => {
    const [file, name] = source.split('#');
    expect(readFileSync(`${import.meta.dirname}/${file}`, 'utf8')).toMatch(new RegExp(`^export (?:function|const) ${name}\\b`, 'm'));
  });
});
