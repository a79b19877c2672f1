import { expect, test } from 'vitest';
import { safePath } from './storage.ts';

const origin = 'https://auth.example';

test.each([
  ['/developer', '/developer'],
  ['/developer?token=a#b', '/developer?token=a#b'],
  ['developer', '/developer'],
  ['https://auth.example/developer?x=1', '/developer?x=1'],
])('%s is followed', (target, path) => {
  expect(safePath(target, '/home', origin)).toBe(path);
});

test.each([
  '//evil.example',
  '/\\evil.example',
  '\\\\evil.example',
  '/\t/evil.example',
  'https://evil.example/developer',
  'https://auth.example@evil.example/',
  'https://auth.example.evil.example/',
  'http://auth.example/developer',
  'https://auth.example:8443/',
  'javascript:alert(1)',
  'data:text/html,x',
  '/.//evil.example',
  'https://auth.example//evil.example',
  'https://',
])('%s is not', (target) => {
  expect(safePath(target, '/home', origin)).toBe('/home');
});
