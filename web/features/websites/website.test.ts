import { expect, test } from 'vitest';
import { faultOfForwardUrl, homeOf, signInUrl } from './website.ts';

test('uses https, and http for a local host', () => {
  expect(homeOf('shop.example')).toBe('https://shop.example/');
  expect(homeOf('localhost')).toBe('http://localhost/');
});

test('keeps the forward_url unchanged', () => {
  const url = new URL(signInUrl('https://auth.example', 'https://shop.example/?a=1&b=2#c', 'lt'));
  expect([url.origin, url.pathname]).toEqual(['https://auth.example', '/auth']);
  expect(Object.fromEntries(url.searchParams)).toEqual({ forward_url: 'https://shop.example/?a=1&b=2#c', language: 'lt' });
});

test.each(['https://shop.example/', 'https://shop.example', 'https://www.shop.example/welcome?state=1#top'])('accepts %s', (url) => {
  expect(faultOfForwardUrl(url, 'shop.example')).toBeNull();
});

test.each(['https://bücher.example/', 'https://www.bücher.example/ü', 'https://xn--bcher-kva.example/'])(
  'accepts the Unicode host of %s',
  (url) => {
    expect(faultOfForwardUrl(url, 'xn--bcher-kva.example')).toBeNull();
  },
);

test.each([
  '',
  'shop.example',
  'http://shop.example/',
  'https://shop.example:8443/',
  'https://other.example/',
  'https://notshop.example/',
  'https://shop.example.evil.example/',
  'https://user@shop.example/',
  'https://shop.example/?token=1',
  'javascript:alert(1)',
])('refuses %s', (url) => {
  expect(faultOfForwardUrl(url, 'shop.example')).toMatch(/\w+ \w+/);
});
