import { expect, test } from 'vitest';
import { describePages } from './web-app.ts';

const html = '<head><meta name="description" content="old" /><title>Email Auth</title></head><body></body>';
const { pageOf } = describePages(html, 'https://auth.example');

test('a public page has its own title, description and canonical URL', () => {
  const page = pageOf('/tos');
  expect(page).toContain('<title>Terms of Service · Email Auth</title>');
  expect(page).toMatch(/name="description" content="The terms/);
  expect(page).toContain('<link rel="canonical" href="https://auth.example/tos" />');
  expect(page).not.toContain('noindex');
});

test.each(['/dashboard', '/nothing', '/webservices/email-auth/register/success'])('asks search engines not to list %s', (path) => {
  expect(pageOf(path)).toContain('<meta name="robots" content="noindex" />');
  expect(pageOf(path)).not.toContain('canonical');
});
