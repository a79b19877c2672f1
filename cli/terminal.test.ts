import { styleText } from 'node:util';
import { expect, test } from 'vitest';
import { printable, printableJson } from './terminal.ts';

const hostile = 'shop\x1b[2J\x1b]0;owned\x07\r\x9b31m\u202e.example\x7f';

test('printable removes what a terminal interprets', () => {
  expect(printable(hostile)).toBe('shop[2J]0;owned31m.example');
  expect(printable('a\x1b[8mb\x1b[1;31mc')).toBe('a[8mb[1;31mc');
});

test('printable keeps line ends, tabs and the styles of the terminal', () => {
  const styles = ['bold', 'dim', 'red', 'green', 'yellow', 'cyan', 'underline'] as const;
  const text = `a\tb\nšž 日本\n${styles.map((style) => styleText(style, style, { validateStream: false })).join(' ')}`;
  expect(printable(text)).toBe(text);
});

test('printableJson escapes such characters and parses to the same value', () => {
  const text = printableJson({ [hostile]: [hostile] });
  expect(JSON.parse(text)).toEqual({ [hostile]: [hostile] });
  expect(text.replaceAll('\n', '')).toMatch(/^[\x20-\x7e]+$/);
});
