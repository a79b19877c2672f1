import { expect, test } from 'vitest';
import { plain } from './plain.ts';

test('nothing that came from the network steers the terminal', () => {
  expect(plain('a\x1b]0;title\x07b')).toBe('a ]0;title b');
  expect(plain('a\x9b31mb\r\nc\u202ed\u2066e\u2028f')).toBe('a 31mb c d e f');
  expect(plain({ 'k\x1by': ['\x1b[2J', { deep: '\x00' }] })).toEqual({ 'k y': [' [2J', { deep: ' ' }] });
});

test('what is shown stays as it is', () => {
  const value = { text: 'Bücher — 書店 👩‍💻', count: 3, none: null, yes: true, list: [1, 'a b'] };
  expect(plain(value)).toEqual(value);
  expect(plain(undefined)).toBe(undefined);
});
