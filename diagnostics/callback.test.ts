import { expect, test } from 'vitest';
import { evaluateCallback, evaluateForgedToken } from './callback.ts';
import type { PageResponse } from './request.ts';
import type { SessionPage } from './session.ts';
import { parseTarget, type Remedies, type Target } from './website.ts';

const remedies: Remedies = {
  urlOption: 'url',
  writeCallback: '',
  signIn: '',
  prove: String,
  register: String,
  wholeSignIn: '',
  nameLogin: '',
};

const response = (status: number, more: Partial<PageResponse> = {}): PageResponse => ({
  status,
  location: null,
  setCookies: [],
  body: '',
  ...more,
});
const targetOf = (domain: string, url?: string): Target =>
  parseTarget(domain, url, { urlOption: '--url', refuse: (message) => new Error(message) });
const evaluate = (response: PageResponse, { callback, isLocal }: Target = targetOf('shop.example')) =>
  evaluateCallback(response, { callback: callback as URL, isLocal, service: 'https://auth.example', remedies });

test.each<[number, string | null, boolean | null, RegExp]>([
  [400, null, true, /rejects a request/],
  [401, null, true, /rejects/],
  [403, null, true, /rejects/],
  [200, null, null, /like an ordinary page/],
  [404, null, false, /nothing at shop\.example\/auth\/callback/],
  [410, null, false, /nothing/],
  [405, null, false, /GET/],
  [429, null, null, /429/],
  [500, null, false, /500/],
  [503, null, false, /503/],
  [303, '/login', true, /redirects a visitor/],
  [302, 'https://shop.example/', true, /redirects a visitor/],
  [302, 'https://auth.example/auth?forward_url=x', true, /redirects a visitor/],
  [301, 'https://www.shop.example/auth/callback', false, /another host, www\.shop\.example/],
  [302, 'https://evil.example/', false, /another host/],
  [302, '//evil.example/', false, /another host/],
  [302, 'http://shop.example/auth/callback', false, /to http/],
  [302, null, false, /without a valid Location/],
  [302, 'http://[', false, /without a valid Location/],
  [302, 'javascript:alert(1)', false, /another host/],
])('a callback that answers %i with Location %s: ok is %s', (status, location, ok, detail) => {
  const finding = evaluate(response(status, { location }));
  expect(finding.ok).toBe(ok);
  expect(finding.detail).toMatch(detail);
  if (ok === false) expect(finding.fix).not.toBe('');
});

test('a page that answers 200 is not evidence, and a port other than 443 passes with advice', () => {
  expect(evaluate(response(200)).fix).toMatch(/with 400/);
  expect(evaluate(response(400), targetOf('shop.example', 'https://shop.example:8443/cb')).fix).toMatch(/port 443/);
  expect(evaluate(response(400), targetOf('localhost', 'http://localhost:5173/cb')).fix).toBe('');
});

const refused = response(400);
test.each<[string, PageResponse, PageResponse, boolean | null]>([
  ['refused', refused, response(400), true],
  ['refused, with a cookie', refused, response(400, { setCookies: ['csrf=1'] }), true],
  ['sent to the login', refused, response(303, { location: '/login' }), true],
  [
    'the cookie that every visitor gets',
    response(303, { setCookies: ['sid=1; Path=/'] }),
    response(303, { setCookies: ['sid=2; Path=/'] }),
    true,
  ],
  [
    'deleted cookies',
    refused,
    response(303, { setCookies: ['a=; Path=/', 'b=x; Max-Age=0', 'c=x; Expires=Thu, 01 Jan 1970 00:00:00 GMT'] }),
    true,
  ],
  ['a page like any other', response(200), response(200), null],
  ['a session', refused, response(303, { setCookies: ['session=abc; HttpOnly'] }), false],
  ['a session with 200', refused, response(200, { setCookies: ['session=abc; Max-Age=600'] }), false],
  [
    'a session beside the cookie that every visitor gets',
    response(200, { setCookies: ['a=1'] }),
    response(200, { setCookies: ['a=1', 'session=x'] }),
    false,
  ],
  [
    'the same cookie, but refused without a token',
    response(400, { setCookies: ['sid=1'] }),
    response(303, { setCookies: ['sid=2'] }),
    false,
  ],
  ['a crash', refused, response(500), false],
  ['when the service cannot be reached', refused, response(503), false],
])('response to a made-up token: %s', (_, plain, forged, ok) =>
  expect(evaluateForgedToken(plain, forged, { hasState: false }).ok).toBe(ok),
);

const account: SessionPage = {
  url: new URL('https://shop.example/account'),
  anonymous: { response: response(303), url: new URL('https://shop.example/account'), leavesTo: null },
  kind: 'guarded',
};

test.each<[string, PageResponse, boolean | null, boolean | null]>([
  ['a page that opens', response(303, { location: '/' }), true, false],
  ['a page that stays closed', response(303, { location: '/' }), false, true],
  ['a page that stays closed, with 200', response(200), false, true],
  ['400', response(400), null, true],
  ['an unknown page and the session cookie of before', response(303, { location: '/', setCookies: ['sid=2'] }), null, null],
  ['an unknown page and a redirect elsewhere', response(303, { location: '/' }), null, null],
  ['an unknown page and a new cookie', response(303, { location: '/', setCookies: ['session=1'] }), null, false],
  ['too many requests', response(429), null, null],
])('response to a made-up token with a valid state: %s', (_, forged, opensPage, ok) => {
  const plain = response(303, { location: '/login' });
  const finding = evaluateForgedToken(plain, forged, { hasState: true, known: ['sid'], page: account, opensPage });
  expect(finding.ok).toBe(ok);
});
