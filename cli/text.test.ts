import { expect, test } from 'vitest';
import { paragraph, table, wrap } from './text.ts';

test('columns are aligned, also with characters of two cells or none', () => {
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

test('text is wrapped between words, and a long word stays whole', () => {
  const record = `p=${'A'.repeat(30)}`;
  expect(wrap(`Add this record: ${record} now`, 12)).toEqual(['Add this', 'record:', record, 'now']);
});

test('code in backticks is not broken, and is colored instead where there are colors', () => {
  const text = `${'word '.repeat(14)}\`emailauth sites verify shop.example\`.`;
  expect(paragraph(text, { style: (_, code) => code }, '- ', '  ').split('\n')).toEqual([
    `- ${'word '.repeat(14).trim()}`,
    '  `emailauth sites verify shop.example`.',
  ]);
  expect(paragraph('Run `a b`.', { style: (_, code) => `<${code}>` })).toBe('Run <a b>.');
});
