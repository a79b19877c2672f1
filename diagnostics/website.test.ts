import { expect, test } from 'vitest';
import { parseTarget } from './website.ts';

class Refused extends Error {}
const read = (domain: string, url?: string) =>
  parseTarget(domain, url, { urlOption: '--url', refuse: (message, hint) => Object.assign(new Refused(message), { hint }) });

test.each<[string, string | undefined, string, string | undefined]>([
  ['shop.example', undefined, 'shop.example', 'https://shop.example/auth/callback'],
  [' Shop.Example ', undefined, 'shop.example', 'https://shop.example/auth/callback'],
  ['bücher.example', undefined, 'xn--bcher-kva.example', 'https://xn--bcher-kva.example/auth/callback'],
  ['shop.example', 'https://www.shop.example/done?lang=lv#x', 'shop.example', 'https://www.shop.example/done'],
  ['localhost', undefined, 'localhost', undefined],
  ['localhost', 'http://127.0.0.1:5173/cb', 'localhost', 'http://127.0.0.1:5173/cb'],
])('%s %s', (domain, url, host, callback) => {
  const target = read(domain, url);
  expect([target.domain, target.callback?.href]).toEqual([host, callback]);
});

test.each([
  ['https://shop.example', undefined],
  ['shop.example/x', undefined],
  ['192.0.2.1', undefined],
  ['', undefined],
  ['a b', undefined],
  ['shop.example', 'shop.example/cb'],
  ['shop.example', 'https://evilshop.example/cb'],
  ['shop.example', 'https://shop.example.evil.example/cb'],
  ['shop.example', 'https://shop.example@evil.example/cb'],
  ['shop.example', 'https://user:word@shop.example/cb'],
  ['shop.example', 'http://shop.example/cb'],
  ['shop.example', 'http://localhost/cb'],
  ['shop.example', 'https://shop.example./cb'],
  ['shop.example', 'https://127.0.0.1/cb'],
  ['shop.example', 'https://2130706433/cb'],
  ['shop.example', 'https://0x7f000001/cb'],
  ['shop.example', 'https://0177.0.0.1/cb'],
  ['shop.example', 'https://[::1]/cb'],
  ['shop.example', 'https://[::ffff:127.0.0.1]/cb'],
  ['shop.example', 'https://[64:ff9b::7f00:1]/cb'],
  ['shop.example', 'https://169.254.169.254/latest/meta-data/'],
  ['shop.example', 'https://localhost/cb'],
  ['shop.example', 'javascript:alert(1)'],
  ['shop.example', 'file:///etc/passwd'],
  ['localhost', 'http://192.0.2.1/cb'],
])('%s %s: refused', (domain, url) => {
  const refused = (() => {
    try {
      return read(domain, url);
    } catch (error) {
      return error;
    }
  })();
  expect(refused).toBeInstanceOf(Refused);
  expect(refused).toMatchObject({ hint: expect.stringMatching(/example|localhost/) });
});
