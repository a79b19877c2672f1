import { expect, test } from 'vitest';
import { table } from './terminal.ts';

test('columns stand below each other, also beside characters of two cells or none', () => {
  expect(
    table([
      ['shop', 'a'],
      ['書店', 'b'],
      ['bu\u0308cher', 'c'],
      ['', 'd'],
    ]).split('\n'),
  ).toEqual(['shop    a', '書店    b', 'bu\u0308cher  c', '        d']);
  expect(table([])).toBe('');
});
