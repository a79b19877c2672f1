import { expect, test } from 'vitest';
import { codeFault, domainInput, isLoopbackRedirectHost, isThisMachine, normalEmail, readCode, readEmail } from './rules.ts';

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
  'ada@mail.example',
  'Ada@Mail.Example',
  '\u00a0ada@mail.example\u00a0',
  '\u3000ada@mail.example\u2009',
  'ada@mail.example\n',
  '\r\nada@mail.example\r\n',
  'ada@mail.example\u2028',
  '\ufeffada@mail.example',
  'ada\u200b@\u2060mail.\u00adexample\u200d',
  '\u200ea\u200dda@mail.example\u200f',
  '\u202aada@mail.example\u202c',
  '\u2066ada@mail.example\u2069',
  'ada@mail.example\ufe0f',
  'ada@mail.example\u3164',
  'mailto:ada@mail.example',
  'MAILTO: ada@mail.example',
  'mailto:ada@mail.example?subject=Hello&cc=eve@mail.example',
  'mailto:%61da%40mail.example',
  '<ada@mail.example>',
  ' < ada@mail.example > ',
  '<mailto:ada@mail.example?subject=x>',
  'Ada <ada@mail.example>',
  'Ada\u00a0Lovelace\u200b <ada@mail.example>\n',
  'Lovelace, Ada <ada@mail.example>',
  'Ada\t<ada@mail.example>',
  '"Ada (Lovelace)" <ada@mail.example>',
  'Ада Лавлейс<ada@mail.example>',
  'ada@mail.example <ada@mail.example>',
  "'Ada@mail.example' <ada@mail.example>",
  '"ada@mail.example"',
  "'ada@mail.example'",
  '`ada@mail.example`',
  '“ada@mail.example”',
  '„ada@mail.example“',
  '«ada@mail.example»',
  '‘ ada@mail.example ’',
  '"Ada <ada@mail.example>"',
  '"mailto:ada@mail.example"',
])('%j is read as the address ada@mail.example', (input) => expect(readEmail(input)).toBe('ada@mail.example'));

test.each([
  ["o'neil'@mail.example", "o'neil'@mail.example"],
  ['ada+tag@mail.example', 'ada+tag@mail.example'],
  ['mailto:ada%2Btag@mail.example', 'ada+tag@mail.example'],
  ['Ada <ada@пошта.укр>', 'ada@xn--80a1acn3a.xn--j1amh'],
  ['ada@xn--mgbp3ewd.example', 'ada@xn--mgbp3ewd.example'],
])('%j is read as the address %s', (input, email) => expect(readEmail(input)).toBe(email));

test.each([
  '',
  '\u200b',
  '<>',
  'mailto:',
  'ada',
  'a da@mail.example',
  'ada\u00a0lovelace@mail.example',
  'ada@mail .example',
  'ada＠mail.example',
  'ada﹫mail.example',
  'аda@mail.example',
  'mi\u212ae@mail.example',
  'ada@mail.example\0',
  '\u0007ada@mail.example',
  'ada@mail.example\u0085',
  'ada@mail.example\r\nBcc: eve@mail.example',
  'ada@mail.example\neve@mail.example',
  'Ada\r\nBcc: eve <ada@mail.example>',
  'Bcc: eve@mail.example <ada@mail.example>',
  'eve@mail.example <ada@mail.example>',
  'eve@mail.example, Ada <ada@mail.example>',
  '<ada@mail.example>, <eve@mail.example>',
  'Ada <ada@mail.example>, Eve <eve@mail.example>',
  '<<ada@mail.example>>',
  'Ada <ada@mail.example',
  'Ada ada@mail.example>',
  'Ada <ada@mail.example> eve@mail.example',
  'ada@mail.example,eve@mail.example',
  'mailto:ada@mail.example,eve@mail.example',
  'mailto:ada@mail.example%2Ceve@mail.example',
  'mailto:ada@mail.example%0d%0aBcc:eve@mail.example',
  'mailto:%ffda@mail.example',
  'mailto:mailto:ada@mail.example',
  '"ada"@mail.example',
  // The joiner is a letter of this domain, and not the address without it.
  'ada@نامه\u200cای.example',
])('%j is not read as an address', (input) => expect(readEmail(input)).toBeNull());

const BANGLA = '১২৩৪৫৬';
test.each([
  '123456',
  ' 123 456\n',
  '123-456',
  '12–34—56',
  '123\u2011456',
  '123\u00a0456',
  '1 2 3 4 5 6',
  '1\u200b2\ufeff3\u20604\u00ad5\u200e6',
  '#123456',
  '(123 456).',
  '１２３４５６',
  '１２３　４５６',
  '١٢٣٤٥٦',
  '۱۲۳۴۵۶',
  '१२३४५६',
  '๑๒๓๔๕๖',
  '𝟏𝟐𝟑𝟒𝟓𝟔',
  '𝟷𝟸𝟹𝟺𝟻𝟼',
  '1２३4٥۶',
  BANGLA,
  '123456 is your code for shop24.example',
  '123456 – jūsų prisijungimo prie 2x4-123456a.example kodas',
  '123456 ir jūsu kods vietnei shop-654321.example',
  'Arba įveskite šį kodą lange, kuriame pradėjote:\n123456',
  '123456: enter this code where you began, or open the link. Both expire in 10 minutes.',
  'Вони дійсні 10 хвилин. 123 456',
  'Код: 123-456, 10 минут',
  '@auth24.example #123456',
  '123456\n\n@auth.example #123456',
  'Requested: 2026-11-26 12:45 UTC\n\n123456',
])('the code in %j is 123456', (input) => expect(readCode(input).code).toBe('123456'));

test.each([
  ['', 'The code has six digits: 6 are missing.'],
  ['code', 'The code has six digits: 6 are missing.'],
  ['12345', 'The code has six digits: 1 is missing.'],
  ['12 ٣', 'The code has six digits: 3 are missing.'],
  ['①②③④⑤⑥', 'The code has six digits: 6 are missing.'],
  ['1234567', 'Give only the six digits of the code.'],
  ['123456 654321', 'Give only the six digits of the code.'],
  ['123456 or 654321', 'Give only the six digits of the code.'],
  ['123 456 or 654 321', 'Give only the six digits of the code.'],
])('%j has no code: %s', (input, fault) => {
  const read = readCode(input);
  expect([read.code, codeFault(read)]).toEqual([null, fault]);
});

test('reads the digits of every script', () => {
  const digits = Array.from({ length: 0x11_0000 }, (_, code) => code)
    .filter((code) => code < 0xd800 || code > 0xdfff)
    .map((code) => String.fromCodePoint(code))
    .filter((character) => /\p{Nd}/u.test(character));
  expect(digits.length).toBeGreaterThanOrEqual(650);
  for (let at = 0; at < digits.length; at += 10) expect(readCode(digits.slice(at + 1, at + 7).join('')).code).toBe('123456');
});

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
