import { expect, test } from 'vitest';
import { placeOf } from './grants.ts';

test.each([
  ['https://claude.example/callback', 'claude.example'],
  ['https://claude.example/other?x=1', 'claude.example'],
  ['https://claude.example:8443/callback', 'claude.example:8443'],
  ['https://www.claude.example/callback', 'www.claude.example'],
  ['https://claude.example.evil.example/', 'claude.example.evil.example'],
  ['https://localhost.evil.example/', 'localhost.evil.example'],
  ['https://app.localhost/', 'app.localhost'],
  ['http://localhost/callback', 'localhost'],
  ['http://localhost:5173/callback', 'localhost'],
  ['https://localhost:5173/callback', 'localhost'],
  ['http://127.0.0.1:49152/callback', 'localhost'],
  ['http://127.8.8.8/callback', 'localhost'],
  ['http://[::1]:49152/callback', 'localhost'],
  ['cursor://accounts.google.com/cb', 'cursor:'],
  ['com.example.app:/cb', 'com.example.app:'],
  ['com.example.app://claude.example/cb', 'com.example.app:'],
  [undefined, null],
  [['https://claude.example/'], null],
  ['', null],
])('a consent for %j is one for %j', (redirectUri, place) => {
  expect(placeOf(redirectUri)).toBe(place);
});
