import { expect, test } from 'vitest';
import { nextSteps } from './next-steps.ts';

test('returns three steps with the code to copy on a separate line', () => {
  const steps = nextSteps({ authUrl: 'https://auth.example.com/auth', domain: 'shop.example' });
  expect(steps.map((step) => step.split('\n').slice(1))).toEqual([
    ['https://auth.example.com/auth?forward_url=https%3A%2F%2Fshop.example%2Fauth%2Fcallback%3Fstate%3DSTATE'],
    ["curl 'https://auth.example.com/api/verify-token?token=TOKEN&domain=shop.example'"],
    [],
  ]);
});

test.each([
  ['https://auth.example.com/auth', "shop.example';id;'"],
  ["https://a';id;'.example.com/auth", 'shop.example'],
  ['javascript:alert(1)', 'shop.example'],
])('rejects values with shell syntax: %s, %s', (authUrl, domain) => {
  expect(() => nextSteps({ authUrl, domain })).toThrow(RangeError);
});
