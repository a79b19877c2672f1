import { expect, test } from 'vitest';
import { proxyFor } from './connection.ts';

const PROXY = 'http://proxy.example.com:3128';

test.each([
  ['https://auth.example.com', ''],
  ['https://auth.example.com', 'example.org'],
  ['https://auth.example.com', 'h.example.com'],
  ['https://auth.example.com', 'auth.example.com:8443'],
  ['https://10.1.2.3', '10.2.0.0/16'],
  ['https://10.1.2.3', '2.3'],
  ['https://10.1.2.3', '10.0.0.0/99'],
  ['https://auth.example.com', 'localhost,,.org'],
])('%s goes through the proxy with NO_PROXY=%s', (url, list) => {
  expect(proxyFor(new URL(url), { HTTPS_PROXY: PROXY, NO_PROXY: list })?.url.host).toBe('proxy.example.com:3128');
});

test.each([
  ['https://auth.example.com', '*'],
  ['https://auth.example.com', 'auth.example.com'],
  ['https://auth.example.com', 'AUTH.Example.com:443'],
  ['https://auth.example.com', 'example.com'],
  ['https://auth.example.com', '.example.com'],
  ['https://auth.example.com', '*.example.com'],
  ['https://auth.example.com:8443', 'a.example auth.example.com:8443'],
  ['https://10.1.2.3', '10.0.0.0/8'],
  ['https://10.1.2.3', '10.1.2.3'],
  ['https://[::1]', '::1'],
  ['https://[::1]:8443', '[::1]:8443'],
  ['https://[fd00::1]', 'fd00::/8'],
])('%s goes through no proxy with NO_PROXY=%s', (url, list) => {
  expect(proxyFor(new URL(url), { HTTPS_PROXY: PROXY, NO_PROXY: list })).toBeNull();
});

test('lower case takes precedence, and a variable for http is not for https', () => {
  const env = { HTTPS_PROXY: PROXY, https_proxy: 'other.example:8080', no_proxy: 'nowhere', NO_PROXY: '*' };
  expect(proxyFor(new URL('https://auth.example.com'), env)).toMatchObject({
    variable: 'https_proxy',
    url: { host: 'other.example:8080' },
  });
  expect(proxyFor(new URL('https://auth.example.com'), { HTTP_PROXY: PROXY })).toBeNull();
  expect(proxyFor(new URL('http://localhost:4400'), env)).toBeNull();
});

test.each(['socks5://127.0.0.1:1080', 'http://', 'not a proxy'])('%j is not the address of a proxy', (text) => {
  expect(() => proxyFor(new URL('https://auth.example.com'), { HTTPS_PROXY: text })).toThrow(
    'HTTPS_PROXY is not the address of an HTTP proxy.',
  );
});
