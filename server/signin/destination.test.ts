import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { isRedirectOf, type OAuthClient, readForwardUrl, withCode, withToken } from './destination.ts';

const refused = [
  'http://shop.example/',
  'https://user@shop.example/',
  'https://user:pass@shop.example/',
  'https://shop.example:443/',
  'https://shop.example:8443/',
  'HTTPS://shop.example/',
  'https://SHOP.example/',
  'https:/shop.example/',
  'https:shop.example',
  '//shop.example/',
  '/welcome',
  'javascript:alert(1)//https://shop.example/',
  'data:text/html,x',
  'https://shop.example\\@evil.example/',
  'https://shop.example/\\evil',
  'https://shop.example/a b',
  'https://shop.example/\t',
  'https://shop.example/\r\nLocation: https://evil.example',
  ' https://shop.example/',
  'https://shop.example/%00',
  'https://shop.example/?token=x',
  'https://shop.example/?a=1&token=x',
  'https://shop.example/?%74oken=x',
  'https://shop.example/?%2574oken=x',
  'https://shop.example/?TOKEN=x',
  'https://shop.example/?a=1;token=x',
  'https://shop.example/?token[]=x',
  'https://shop.example/?+token=x',
  'https://shop.example/?token',
  'https://shop.example./',
  'https://BÜCHER.example/',
  'https://b\u00adücher.example/',
  'https://ｓｈｏｐ.example/',
  'https://shop。example/',
  'https://bücher.example:443/',
  'https://user@bücher.example/',
  'https://bücher.example\u2024evil.example/',
  'https://shop.example/\ud83d',
  'https://shop.example/?a=\udca5',
  'https://shop.example/caf\ufffd',
  'https://shop.example/\u00a0',
  'https://192.0.2.1/',
  'https://[2001:db8::1]/',
  'https://0x7f000001/',
  'ftp://localhost/',
  `https://shop.example/${'a'.repeat(2048)}`,
  // 2,048 bytes at most, not characters.
  `https://shop.example/${'é'.repeat(1020)}`,
  '',
];

describe('forward_url', () => {
  test.each(refused)('rejects %j', (url) => {
    expect(() => readForwardUrl(url, true)).toThrow(expect.objectContaining({ code: 'bad_forward_url' }));
  });

  test.each([
    ['https://shop.example', 'shop.example'],
    ['https://www.shop.example/welcome?x=1#part', 'www.shop.example'],
    ['https://xn--bcher-kva.example/ü?tokens=1', 'xn--bcher-kva.example'],
    ['https://bücher.example/ü?q=ž', 'xn--bcher-kva.example'],
    ['https://www.bu\u0308cher.example', 'www.xn--bcher-kva.example'],
    ['https://пошта.укр', 'xn--80a1acn3a.xn--j1amh'],
    ['http://localhost:5173/cb', 'localhost'],
    ['http://127.0.0.1:8080', '127.0.0.1'],
    ['http://[::1]:8080/', '[::1]'],
  ])('accepts %s', (url, host) => {
    expect(readForwardUrl(url, true).host).toBe(host);
  });

  test.each(['http://localhost:4000/', 'https://localhost/', 'http://127.0.0.1/', 'http://[::1]/'])('rejects %s in production', (url) => {
    expect(() => readForwardUrl(url, false)).toThrow();
  });

  // Percent-encodings that came stay, also those that are not valid.
  test.each([
    ['https://shop.example/é/ü?name=ß&x=%C3%A9%e9%#ž', 'https://shop.example/%C3%A9/%C3%BC?name=%C3%9F&x=%C3%A9%e9%&token=T#%C5%BE'],
    ['https://shop.example/💥?q=日本', 'https://shop.example/%F0%9F%92%A5?q=%E6%97%A5%E6%9C%AC&token=T'],
    ['https://shop.example/e\u0301\u200b', 'https://shop.example/e%CC%81%E2%80%8B?token=T'],
    ['https://bücher.example', 'https://xn--bcher-kva.example?token=T'],
    ['https://bücher.example/ü', 'https://xn--bcher-kva.example/%C3%BC?token=T'],
    ['http://localhost:5173/ž', 'http://localhost:5173/%C5%BE?token=T'],
  ])('the redirect to %s is %s', (url, redirect) => {
    readForwardUrl(url, true);
    expect(withToken(url, 'T')).toBe(redirect);
  });

  test('an accepted URL is unchanged except for exactly one token parameter', () => {
    fc.assert(
      fc.property(fc.webUrl({ withQueryParameters: true, withFragments: true, validSchemes: ['https'] }), (url) => {
        let host: string;
        try {
          host = readForwardUrl(url, false).host;
        } catch {
          return;
        }
        const redirect = withToken(url, 'T0KEN');
        expect(new URL(redirect).hostname).toBe(host);
        expect(new URL(redirect).searchParams.getAll('token')).toEqual(['T0KEN']);
        expect([redirect.replace(/[?&]token=T0KEN/, ''), redirect.replace('token=T0KEN', '')]).toContain(url);
      }),
    );
  });
});

test.each([
  ['https://a.example', 'https://a.example?token=t'],
  ['https://a.example/?', 'https://a.example/?token=t'],
  ['https://a.example/??', 'https://a.example/??&token=t'],
  ['https://a.example/?x=1&', 'https://a.example/?x=1&token=t'],
  ['https://a.example/?x=1#/route?y', 'https://a.example/?x=1&token=t#/route?y'],
  ['https://a.example/#?', 'https://a.example/?token=t#?'],
])('inserts the token before the fragment of %s', (url, expected) => {
  expect(withToken(url, 't')).toBe(expected);
});

test('an authorization response contains the issuer (RFC 9207)', () => {
  expect(withCode('http://127.0.0.1:1/callback', 'c', 's&', 'https://auth.example')).toBe(
    'http://127.0.0.1:1/callback?code=c&state=s%26&iss=https%3A%2F%2Fauth.example',
  );
});

describe('redirect_uri', () => {
  const native: OAuthClient = { id: 'cli', redirectUris: ['/callback'], kind: 'native' };
  const web: OAuthClient = { id: 'web', redirectUris: ['https://app.example/cb'], kind: 'web' };

  test.each(['http://127.0.0.1:49152/callback', 'http://[::1]:1/callback'])('a native client may use %s', (uri) => {
    expect(isRedirectOf(native, uri)).toBe(true);
  });

  test.each([
    'http://localhost:49152/callback',
    'http://127.0.0.1/callback',
    'http://127.0.0.1:0/callback',
    'http://127.0.0.1:65536/callback',
    'http://127.0.0.1:49152/callback/',
    'http://127.0.0.1:49152/callback?x',
    'http://127.0.0.1:49152/other',
    'https://127.0.0.1:49152/callback',
    'http://127.0.0.1:49152@evil.example/callback',
    'http://127.0.0.1.evil.example:1/callback',
    'http://127.0.0.2:49152/callback',
  ])('a native client may not use %s', (uri) => {
    expect(isRedirectOf(native, uri)).toBe(false);
  });

  test.each(['https://app.example/cb/', 'https://app.example/cb?x', 'https://APP.example/cb', 'http://app.example/cb'])(
    'a web client may not use %s, which is not exactly its URI',
    (uri) => {
      expect(isRedirectOf(web, uri)).toBe(false);
    },
  );

  test('a web client may not use another port of its loopback URI', () => {
    const local: OAuthClient = { id: 'web', redirectUris: ['http://localhost:4400/developer'], kind: 'web' };
    expect(isRedirectOf(local, 'http://localhost:4400/developer')).toBe(true);
    expect(isRedirectOf(local, 'http://localhost:4401/developer')).toBe(false);
  });

  test.each<[string, boolean]>([
    ['http://localhost:1/cb', true],
    ['http://127.0.0.1:65535/cb', true],
    ['http://127.0.0.1:65536/cb', false],
    ['http://[::1]:1/cb', false],
    ['http://localhost:1/cb/', false],
    ['http://localhost.evil.example:1/cb', false],
    ['http://localhost:1@evil.example/cb', false],
    ['https://app.example:1/cb', false],
  ])(
    'an application with the URIs http://localhost/cb, http://127.0.0.1:3000/cb and https://app.example/cb may use %s: %j',
    (uri, expected) => {
      const redirectUris = ['http://localhost/cb', 'http://127.0.0.1:3000/cb', 'https://app.example/cb'];
      expect(isRedirectOf({ id: 'app', redirectUris, kind: 'application' }, uri)).toBe(expected);
    },
  );

  test('a web client may use its own URI', () => expect(isRedirectOf(web, 'https://app.example/cb')).toBe(true));
});
