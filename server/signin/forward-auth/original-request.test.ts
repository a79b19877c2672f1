import { describe, expect, test } from 'vitest';
import { readOriginalRequest } from './original-request.ts';

const read = (app: string, headers: Record<string, string> = {}, { isLocal = false, method = 'GET' } = {}) =>
  readOriginalRequest(app, { headers: { 'x-forwarded-uri': '/', ...headers }, method }, isLocal);
/** Returns a text as Node.js reads its UTF-8 bytes in a path or header. */
const asBytes = (text: string) => Buffer.from(text).toString('latin1');

describe('the app', () => {
  test.each([
    ['notes.example.com', 'https://notes.example.com'],
    ['Notes.Example.COM', 'https://notes.example.com'],
    ['notes.example.com.', 'https://notes.example.com'],
    ['notes.example.com:443', 'https://notes.example.com'],
    ['www.example.com', 'https://www.example.com'],
    ['a.b.c.example.com', 'https://a.b.c.example.com'],
    ['nginx.example.com', 'https://nginx.example.com'],
    ['b%C3%BCcher.example', 'https://xn--bcher-kva.example'],
    [asBytes('Bücher.example'), 'https://xn--bcher-kva.example'],
    ['xn--bcher-kva.example', 'https://xn--bcher-kva.example'],
  ])('of %j is %s', (app, origin) => {
    const url = new URL(origin);
    expect(read(app)).toMatchObject({ origin, host: url.hostname, hostname: url.hostname });
  });

  test.each([
    ['localhost:4000', 'http://localhost:4000'],
    ['LOCALHOST:4000', 'http://localhost:4000'],
    ['localhost', 'http://localhost'],
    ['localhost:80', 'http://localhost'],
    ['127.0.0.1:4000', 'http://127.0.0.1:4000'],
    ['[::1]:4000', 'http://[::1]:4000'],
    ['%5B::1%5D:4000', 'http://[::1]:4000'],
  ])('of %j is %s in local mode, and not valid in production', (app, origin) => {
    const { host, hostname } = new URL(origin);
    expect(read(app, {}, { isLocal: true })).toMatchObject({ origin, host, hostname });
    expect(() => read(app)).toThrow('has to name the host of the app: /api/forward-auth/notes.example.com');
  });

  test.each([
    '',
    'nginx',
    'example',
    'notes.example.com..',
    '.example.com',
    'notes.example.com:8443',
    'notes.example.com:80',
    'notes.example.com:',
    'https://notes.example.com',
    'notes.example.com/',
    'notes.example.com%2F',
    'user@notes.example.com',
    'notes.example.com,evil.example',
    'notes.example.com%20evil.example',
    'notes.example.com%00',
    'notes.example.com%23',
    'notes.example.com%5C',
    '*.example.com',
    '$host',
    '192.0.2.1',
    '127.1',
    '[2001:db8::1]',
    '::1',
    'localhost.example.com:4000',
    'localhost:99999',
    'app.localhost:4000',
    '%ff.example',
    '%',
    `${'a'.repeat(63)}.`.repeat(4),
  ])('of %j is not valid', (app) => {
    for (const isLocal of [false, true]) expect(() => read(app, {}, { isLocal })).toThrow('has to name the host');
  });

  test('never depends on headers', () => {
    const headers = {
      host: 'evil.example',
      forwarded: 'host=evil.example;proto=http',
      'x-forwarded-host': 'evil.example',
      'x-forwarded-proto': 'http',
      'x-forwarded-port': '8443',
      'x-forwarded-uri': '/a?b=1',
      'x-original-url': 'https://evil.example/evil',
      'x-original-uri': '/evil',
      'x-original-method': 'POST',
      'x-forwarded-method': 'GET',
      accept: 'text/html',
    };
    const origin = 'https://notes.example.com';
    expect(read('notes.example.com', headers)).toMatchObject({ origin, path: '/a', returnPath: '/a?b=1', isNavigation: true });
  });
});

describe('the path', () => {
  test.each([
    ['/', '/'],
    ['/a/b?c=d&e=%2F%2e%2e&f=/../g', '/a/b?c=d&e=%2F%2e%2e&f=/../g'],
    ['/%E2%82%AC?q=%0A', '/%E2%82%AC?q=%0A'],
    [asBytes('/žalia?q=ā'), '/%C5%BEalia?q=%C4%81'],
    ['/a"<b>', '/a%22%3Cb%3E'],
    ['/wiki//b', '/wiki//b'],
    ['/.well-known/x', '/.well-known/x'],
    ['/...', '/...'],
  ])('%j is kept for the return as %j', (target, returnPath) => {
    expect(read('notes.example.com', { 'x-forwarded-uri': target }).returnPath).toBe(returnPath);
    expect(read('notes.example.com', { 'x-forwarded-uri': undefined as never, 'x-original-uri': target }).returnPath).toBe(returnPath);
  });

  test.each([
    '//evil.example/',
    '//',
    '/\\evil.example',
    '/a\\..\\b',
    '/a b',
    '/a\tb',
    '/a\r\nSet-Cookie: b',
    '/a\0',
    '/a%00b',
    '/a\x7f',
    '/a#b',
    '/..',
    '/a/../b',
    '/a/./b',
    '/%2e%2E/evil',
    '/.%2e//evil.example',
    `/${'a'.repeat(1000)}`,
    `/${asBytes('ž').repeat(400)}`,
  ])('%j is replaced by / for the return', (target) => {
    expect(read('notes.example.com', { 'x-forwarded-uri': target }).returnPath).toBe('/');
  });

  test.each(['', '*', 'a', 'https://evil.example/', 'evil.example:443', '@evil.example/', '.evil.example/', ':8443/', ' /', '\\', '?a'])(
    '%j is not valid',
    (target) => {
      expect(() => read('notes.example.com', { 'x-forwarded-uri': target })).toThrow('as X-Forwarded-Uri');
    },
  );
});

test('only a GET that accepts HTML is a navigation', () => {
  const isNavigation = (headers: Record<string, string>, method?: string) => read('notes.example.com', headers, { method }).isNavigation;
  const accept = 'text/html,*/*;q=0.8';
  expect(isNavigation({ accept, 'x-forwarded-method': 'GET' })).toBe(true);
  expect(isNavigation({ accept, 'x-original-method': 'GET' })).toBe(true);
  expect(isNavigation({ accept })).toBe(true);
  expect(isNavigation({ accept }, 'POST')).toBe(false);
  expect(isNavigation({ accept, 'x-forwarded-method': 'POST' })).toBe(false);
  expect(isNavigation({ accept, 'x-original-method': 'HEAD' })).toBe(false);
  expect(isNavigation({ accept: '*/*', 'x-forwarded-method': 'GET' })).toBe(false);
  expect(isNavigation({ 'x-forwarded-method': 'GET' })).toBe(false);
});
