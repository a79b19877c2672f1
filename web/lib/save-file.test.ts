import { expect, test } from 'vitest';
import { toCsv } from './save-file.ts';

test('quotes separators and quotation marks', () => {
  expect(
    toCsv([
      ['a', 'b,c'],
      ['say "hi"', 'two\nlines'],
      [1, 'ü'],
    ]),
  ).toBe('a,"b,c"\r\n"say ""hi""","two\nlines"\r\n1,ü\r\n');
});

test.each(['=1+1', '+1', '-1', '@SUM(A1)', '\tx', '\rx'])('does not let a spreadsheet run %j', (text) => {
  expect(toCsv([[text]])).toMatch(/^"?'/);
});

test('keeps negative numbers', () => expect(toCsv([[-5]])).toBe('-5\r\n'));
