import { expect, test } from 'vitest';
import { domainInput, isLoopbackRedirectHost, isThisMachine, returnPageOf } from './urls.ts';

test.each([
  ['localhost', true, true],
  ['127.0.0.1', true, true],
  ['[::1]', true, true],
  ['::1', true, false],
  ['127.9.9.9', true, false],
  ['a.localhost', true, false],
  ['localhost.example.com', false, false],
  ['127.example.com', false, false],
  ['128.0.0.1', false, false],
  ['0.0.0.0', false, false],
  ['[::2]', false, false],
  ['', false, false],
])('%j is this machine: %s, and a loopback redirect host: %s', (hostname, machine, redirect) => {
  expect([isThisMachine(hostname), isLoopbackRedirectHost(hostname)]).toEqual([machine, redirect]);
});

test.each([
  ['shop.example', 'shop.example'],
  [' https://www.shop.example/path?x=1#y ', 'shop.example'],
  ['HTTP://Shop.Example:8080', 'Shop.Example'],
  ['//shop.example', 'shop.example'],
  ['www.shop.example', 'shop.example'],
  ['shop.example/path', 'shop.example'],
  ['shop.example:443', 'shop.example'],
  ['shop.example.', 'shop.example'],
  ['https://ann@shop.example/', 'shop.example'],
  ['app.shop.example', 'app.shop.example'],
  ['www.example', 'www.example'],
  ['žalia.example', 'žalia.example'],
  ['ann@shop.example', 'ann@shop.example'],
  ['ftp://shop.example', 'ftp://shop.example'],
  ['not a domain', 'not a domain'],
  ['', ''],
])('the domain in %j is %j', (text, domain) => {
  expect(domainInput(text)).toBe(domain);
});

test.each([
  ['https://shop.example/callback?state=x&return_to=%2Fcart%3Fid%3D1', 'https://shop.example/cart?id=1'],
  ['https://shop.example/callback?return_to=/', 'https://shop.example/'],
  ['https://shop.example/welcome?from=mail', 'https://shop.example'],
  ['http://localhost:4000/callback?return_to=/account', 'http://localhost:4000/account'],
  ['https://shop.example/callback?return_to=', 'https://shop.example'],
  ['https://shop.example/callback?return_to=//evil.example/', 'https://shop.example'],
  ['https://shop.example/callback?return_to=/%5Cevil.example/', 'https://shop.example'],
  ['https://shop.example/callback?return_to=https://evil.example/', 'https://shop.example'],
  ['https://shop.example/callback?return_to=.evil.example/', 'https://shop.example'],
  ['https://shop.example/callback?return_to=@evil.example/', 'https://shop.example'],
  ['https://shop.example/callback?return_to=/%09/evil.example', 'https://shop.example'],
  ['https://shop.example/callback?return_to=/a&return_to=//evil.example', 'https://shop.example/a'],
])('a signed-in person continues from %j to %j', (forwardUrl, page) => {
  expect(returnPageOf(forwardUrl)).toBe(page);
  expect(new URL(page).origin).toBe(new URL(forwardUrl).origin);
});
