import { expect, test } from 'vitest';
import type { BuiltPortalPage } from './built-web.ts';
import { portalDocuments } from './web-app.ts';

const html = '<head><meta name="description" content="old" /><title>Email Auth</title></head><body></body>';
const page: BuiltPortalPage = {
  entry: 'portal',
  scripts: ['assets/a.js'],
  calls: ['/api/x?a=1&b=LANGUAGE'],
  developerCalls: ['/api/mine'],
};
const terms: BuiltPortalPage = { ...page, texts: { title: 'Terms of Service', description: 'The terms.' } };
const documentOf = portalDocuments(html, 'https://auth.example', { '/tos': terms, '/dashboard': page, '/auth': { entry: 'signin' } });

test('a public page has its own title, description and canonical URL', () => {
  const document = documentOf(terms);
  expect(document).toContain('<title>Terms of Service · Email Auth</title>');
  expect(document).toContain('name="description" content="The terms."');
  expect(document).toContain('<link rel="canonical" href="https://auth.example/tos" />');
  expect(document).not.toContain('noindex');
});

test('asks search engines not to list another page', () => {
  expect(documentOf(page)).toContain('<meta name="robots" content="noindex" />');
  expect(documentOf(page)).not.toContain('canonical');
});

test('names what a page loads first, and for a developer their own data', () => {
  const links = (developer: { pageData: boolean } | null) =>
    [...documentOf(page, developer, 'lt').matchAll(/href="([^"]+)"/g)].map(([, href]) => href);
  expect(links(null)).toEqual(['/assets/a.js', '/api/x?a=1&amp;b=lt']);
  expect(links({ pageData: false })).toEqual([...links(null), '/api/auth/session']);
  expect(links({ pageData: true })).toEqual([...links(null), '/api/auth/session', '/api/mine']);
});
