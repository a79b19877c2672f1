import { expect, test } from 'vitest';
import { domainInput, isLoopbackRedirectHost, isThisMachine, normalEmail } from './rules.ts';

test.each([
  ['ann@example.com', 'ann@example.com'],
  [' \tAnn@Example.COM ', 'ann@example.com'],
  ['ann+News@example.com', 'ann+news@example.com'],
  ["o'neil.!#$%&*/=?^_`{|}~-@example.com", "o'neil.!#$%&*/=?^_`{|}~-@example.com"],
  ['ann@ķekava.example', 'ann@xn--ekava-n5a.example'],
  ['ann@k\u0327ekava.example', 'ann@xn--ekava-n5a.example'],
  [`${'a'.repeat(64)}@example.com`, `${'a'.repeat(64)}@example.com`],
  [`a@${'b'.repeat(60)}.${'c'.repeat(60)}.${'d'.repeat(60)}.${'e'.repeat(62)}.example`, null],
  [
    `a@${'b'.repeat(60)}.${'c'.repeat(60)}.${'d'.repeat(60)}.${'e'.repeat(61)}.example`,
    `a@${'b'.repeat(60)}.${'c'.repeat(60)}.${'d'.repeat(60)}.${'e'.repeat(61)}.example`,
  ],
])('the normal form of %j is %j', (input, email) => expect(normalEmail(input)).toBe(email));

// Each would become ASCII by NFC, by lower case or by both.
test.each(['mi\u212ae@example.com', 'a\u1fefb@example.com', 'a\u037eb@example.com', '\u0130van@example.com', 'a\u017fb@example.com'])(
  'refuses %j, whose local part has a look-alike character',
  (input) => expect(normalEmail(input)).toBeNull(),
);

test.each([
  '',
  '@',
  'ann',
  'ann@',
  '@example.com',
  'ann@example',
  'ann@@example.com',
  'ann@b@example.com',
  'ann＠example.com',
  'ann﹫example.com',
  'аnn@example.com',
  'é@example.com',
  'e\u0301@example.com',
  'ann\u0301@example.com',
  'a\u200bnn@example.com',
  'ann@exam\u200bple.com',
  'ann\u00a0@example.com',
  '\u00a0ann@example.com',
  'a nn@example.com',
  'ann,bob@example.com',
  'ann@example.com,bob@example.com',
  'ann@example.com;',
  'ann@example.com\u037e',
  'ann@example.com\r\nBcc: bob@example.com',
  'ann\n@example.com',
  'ann@example.com\n',
  'ann@example.com\0',
  '"ann"@example.com',
  'Ann <ann@example.com>',
  'a(b)@example.com',
  'a:b@example.com',
  'a\\@example.com',
  '.ann@example.com',
  'ann.@example.com',
  'a..b@example.com',
  'ann@-example.com',
  'ann@example.com.',
  'ann@example.com\u3002',
  'ann@[127.0.0.1]',
  'ann@127.0.0.1',
  'ann@0x7f.1',
  'ann@example.com:25',
  'ann@example.com/x',
  'ann@example.com?x',
  'ann@%65xample.com',
  'ann@exa_mple.com',
  `${'a'.repeat(65)}@example.com`,
  `ann@${'b'.repeat(64)}.com`,
])('%j is not an address', (input) => expect(normalEmail(input)).toBeNull());

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
