import { expect, test } from 'vitest';
import type { SiteAnswer } from './ask-site.ts';
import { judgeCallback, judgeRefusal } from './callback.ts';
import type { Ways } from './look.ts';
import { readTarget, type Target } from './target.ts';

const ways: Ways = { url: 'url', write: '', signIn: '', prove: String, register: String };

const answer = (status: number, more: Partial<SiteAnswer> = {}): SiteAnswer => ({
  status,
  location: null,
  setCookies: [],
  body: '',
  ...more,
});
const read = (domain: string, url?: string): Target => readTarget(domain, url, { ways, refuse: (message) => new Error(message) });
const target = read('shop.example');
const callback = target.callback as URL;
const judge = (given: SiteAnswer) => judgeCallback(given, target, callback, 'https://auth.example', ways);

test.each<[number, string | null, boolean | null, RegExp]>([
  [400, null, true, /refuses a visit/],
  [401, null, true, /refuses/],
  [403, null, true, /refuses/],
  [200, null, null, /as any page would/],
  [404, null, false, /nothing at shop\.example\/auth\/callback/],
  [410, null, false, /nothing/],
  [405, null, false, /GET/],
  [429, null, null, /429/],
  [500, null, false, /500/],
  [503, null, false, /503/],
  [303, '/login', true, /sends/],
  [302, 'https://shop.example/', true, /sends/],
  [302, 'https://auth.example/auth?forward_url=x', true, /sends/],
  [301, 'https://www.shop.example/auth/callback', false, /another host, www\.shop\.example/],
  [302, 'https://evil.example/', false, /another host/],
  [302, '//evil.example/', false, /another host/],
  [302, 'http://shop.example/auth/callback', false, /to http/],
  [302, null, false, /without saying/],
  [302, 'http://[', false, /without saying/],
  [302, 'javascript:alert(1)', false, /another host/],
])('a callback that answers %i %s: %s', (status, location, ok, detail) => {
  const verdict = judge(answer(status, { location }));
  expect(verdict.ok).toBe(ok);
  expect(verdict.detail).toMatch(detail);
  if (ok === false) expect(verdict.fix).not.toBe('');
});

test('a page for every address says nothing, and a port that visitors are never sent to passes, with advice', () => {
  expect(judge(answer(200)).fix).toMatch(/with 400/);
  const elsewhere = read('shop.example', 'https://shop.example:8443/cb');
  expect(judgeCallback(answer(400), elsewhere, elsewhere.callback as URL, '', ways).fix).toMatch(/port 443/);
  const local = read('localhost', 'http://localhost:5173/cb');
  expect(judgeCallback(answer(400), local, local.callback as URL, '', ways).fix).toBe('');
});

const refused = answer(400);
test.each<[string, SiteAnswer, SiteAnswer, boolean | null]>([
  ['refused', refused, answer(400), true],
  ['refused, with a cookie', refused, answer(400, { setCookies: ['csrf=1'] }), true],
  ['sent to the login', refused, answer(303, { location: '/login' }), true],
  ['the cookie that everybody gets', answer(303, { setCookies: ['sid=1; Path=/'] }), answer(303, { setCookies: ['sid=2; Path=/'] }), true],
  [
    'cookies taken away',
    refused,
    answer(303, { setCookies: ['a=; Path=/', 'b=x; Max-Age=0', 'c=x; Expires=Thu, 01 Jan 1970 00:00:00 GMT'] }),
    true,
  ],
  ['a page like any other', answer(200), answer(200), null],
  ['a session', refused, answer(303, { setCookies: ['session=abc; HttpOnly'] }), false],
  ['a session with 200', refused, answer(200, { setCookies: ['session=abc; Max-Age=600'] }), false],
  [
    'a session beside the cookie that everybody gets',
    answer(200, { setCookies: ['a=1'] }),
    answer(200, { setCookies: ['a=1', 'session=x'] }),
    false,
  ],
  ['the same cookie, but refused without a token', answer(400, { setCookies: ['sid=1'] }), answer(303, { setCookies: ['sid=2'] }), false],
  ['a crash', refused, answer(500), false],
  ['out of reach of the service', refused, answer(503), false],
])('a made-up token: %s', (_, plain, forged, ok) => expect(judgeRefusal(plain, forged).ok).toBe(ok));
