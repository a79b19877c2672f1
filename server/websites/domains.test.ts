import fc from 'fast-check';
import { expect, test } from 'vitest';
import { Fault } from '../../contract/errors.ts';
import { displayDomainOf, registrableOf, rootDomainOf } from './domains.ts';

function faultOf(input: string): string {
  try {
    return `accepted as ${rootDomainOf(input)}`;
  } catch (error) {
    if (error instanceof Fault && error.code === 'bad_domain' && error.field === 'domain') return error.message;
    throw error;
  }
}

test.each([
  ['shop.example', 'shop.example'],
  ['www.shop.example', 'shop.example'],
  ['a.b.c.shop.example', 'shop.example'],
  ['foo.test', 'foo.test'],
  ['SHOP.Example', 'shop.example'],
  ['shop.co.uk', 'shop.co.uk'],
  ['www.shop.co.uk', 'shop.co.uk'],
  ['me.vercel.app', 'me.vercel.app'],
  ['a.me.vercel.app', 'me.vercel.app'],
  ['me.github.io', 'me.github.io'],
  ['www.city.kawasaki.jp', 'city.kawasaki.jp'],
  ['münchen.example', 'xn--mnchen-3ya.example'],
  ['a.xn--55qx5d.cn', 'a.xn--55qx5d.cn'],
  ['localhost', 'localhost'],
  ['127.0.0.1', 'localhost'],
  ['[::1]', 'localhost'],
  ['co.uk', null],
  ['vercel.app', null],
  ['github.io', null],
  ['xn--55qx5d.cn', null],
  ['b.kawasaki.jp', null],
  ['com', null],
  ['10.0.0.1', null],
  ['127.0.0.2', null],
  ['[2001:db8::1]', null],
  ['shop.example.', null],
  ['shop..example', null],
  ['-.example', null],
  ['__proto__', null],
  ['', null],
  ['shop.example:80', null],
  ['shop.example/a', null],
  ['shop.example\u0000', null],
  ['sh\u00adop.example', null],
  [`${'a.'.repeat(200)}example`, null],
])('returns for the host %j the registrable domain %j', (host, domain) => {
  expect(registrableOf(host)).toBe(domain);
  expect(registrableOf(host)).toBe(domain);
});

test.each([
  ['shop.example', 'shop.example'],
  ['  shop.example\t', 'shop.example'],
  ['Shop.CO.uk', 'shop.co.uk'],
  ['me.vercel.app', 'me.vercel.app'],
  ['МОСКВА.рф', 'xn--80adxhks.xn--p1ai'],
  ['https://www.МОСКВА.рф/каталог', 'xn--80adxhks.xn--p1ai'],
  ['www.shop.example', 'shop.example'],
  ['https://shop.example', 'shop.example'],
  ['//shop.example', 'shop.example'],
  ['https://www.shop.example/cart?x#y', 'shop.example'],
  ['shop.example:8443', 'shop.example'],
  ['shop.example/', 'shop.example'],
  ['SHOP.Example.', 'shop.example'],
  ['www.co.uk', 'www.co.uk'],
])('accepts %j as the domain %j', (input, domain) => {
  expect(rootDomainOf(input)).toBe(domain);
});

test.each([
  ['app.shop.example', 'Give the root domain only: shop.example'],
  ['https://app.shop.example/', 'Give the root domain only: shop.example'],
  ['www.app.shop.example', 'Give the root domain only: shop.example'],
  ['me@shop.example', 'Give the root domain only: shop.example'],
  ['co.uk', 'co.uk is a public suffix. Give a domain below it, such as example.co.uk'],
  ['https://vercel.app/', 'vercel.app is a public suffix. Give a domain below it, such as example.vercel.app'],
  ['10.0.0.1', 'An IP address cannot be registered. Give a domain such as example.com'],
  ['https://8.8.8.8:443/', 'An IP address cannot be registered. Give a domain such as example.com'],
  ['2001:db8::1', 'An IP address cannot be registered. Give a domain such as example.com'],
  ['[2001:db8::1]', 'An IP address cannot be registered. Give a domain such as example.com'],
  ['0x8080808', 'An IP address cannot be registered. Give a domain such as example.com'],
  ['localhost', 'localhost cannot be registered: a service in local mode has it already, and no other accepts it.'],
  ['localhost:4000', 'localhost cannot be registered: a service in local mode has it already, and no other accepts it.'],
  ['app.localhost', 'localhost cannot be registered: a service in local mode has it already, and no other accepts it.'],
  ['127.0.0.1', 'localhost cannot be registered: a service in local mode has it already, and no other accepts it.'],
  ['::1', 'localhost cannot be registered: a service in local mode has it already, and no other accepts it.'],
  ['', 'Please enter a valid domain (e.g., example.com)'],
  ['...', 'Please enter a valid domain (e.g., example.com)'],
  ['shop', 'Please enter a valid domain (e.g., example.com)'],
  ['shop example', 'Please enter a valid domain (e.g., example.com)'],
  ['<script>.example', 'Please enter a valid domain (e.g., example.com)'],
  ['javascript:alert(1)', 'Please enter a valid domain (e.g., example.com)'],
  ['shop.example,other.example', 'Please enter a valid domain (e.g., example.com)'],
  ['*.shop.example', 'Give the root domain only: shop.example'],
  ['shop_1.example', 'Please enter a valid domain (e.g., example.com)'],
  ['-shop.example', 'Please enter a valid domain (e.g., example.com)'],
  ['.example', 'Please enter a valid domain (e.g., example.com)'],
  ['ѕhор', 'Please enter a valid domain (e.g., example.com)'],
  ['2130706433', 'localhost cannot be registered: a service in local mode has it already, and no other accepts it.'],
  ['ftp://shop.example', 'Give the root domain only: shop.example'],
  ['sub.me.vercel.app', 'Give the root domain only: me.vercel.app'],
  ['shop.example\r\nBcc: x@y.example', 'Give the root domain only: y.example'],
  [`${'a'.repeat(64)}.example`, 'Please enter a valid domain (e.g., example.com)'],
])('refuses %j: %s', (input, message) => {
  expect(faultOf(input)).toBe(message);
});

test('returns domains in lower case and ASCII, which are accepted unchanged', () => {
  const label = fc.stringMatching(/^[a-zA-Z0-9ėšü]([a-zA-Z0-9ėšü-]{0,8}[a-zA-Z0-9ėšü])?$/);
  const host = fc
    .array(label, { minLength: 1, maxLength: 3 })
    .chain((labels) => fc.constantFrom('example', 'com', 'co.uk', 'vercel.app', 'test').map((suffix) => [...labels, suffix].join('.')));
  fc.assert(
    fc.property(host, (input) => {
      const domain = registrableOf(input);
      if (domain === null) return;
      expect(domain).toMatch(/^[a-z0-9.-]+$/);
      expect(rootDomainOf(domain)).toBe(domain);
      expect(registrableOf(`www.${domain}`)).toBe(domain);
      expect(displayDomainOf(domain)).not.toBe('');
    }),
  );
});

test('refuses any other text with a sentence', () => {
  fc.assert(
    fc.property(fc.string({ unit: 'binary', maxLength: 60 }), (input) => {
      expect(faultOf(input).length).toBeGreaterThan(10);
    }),
  );
});

test('returns the same for hosts that the cache has evicted', () => {
  for (let i = 0; i < 25_000; i++) registrableOf(`h${i}.shop.example`);
  expect(registrableOf('h0.shop.example')).toBe('shop.example');
  expect(registrableOf('h24999.shop.example')).toBe('shop.example');
});

test('decodes domains for display', () => {
  expect(displayDomainOf('xn--mnchen-3ya.example')).toBe('münchen.example');
  expect(displayDomainOf('shop.example')).toBe('shop.example');
});
