import { execFileSync } from 'node:child_process';
import { styleText } from 'node:util';
import { expect, test } from 'vitest';
import { fitColumns, foreign, paragraph, printable, printableJson, records, shellLine, table, truncate, wrap } from './terminal.ts';

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

const plain = (columns: number) => ({ columns, style: (_: string, text: string) => text });

test('records are a table, or one block for each row where the table is wider than the terminal', () => {
  const rows = [
    ['shop.example', 'yes'],
    ['bakery.example', 'no'],
  ];
  expect(records(['DOMAIN', 'VERIFIED'], rows, plain(80))).toBe('DOMAIN          VERIFIED\nshop.example    yes\nbakery.example  no');
  expect(records(['DOMAIN', 'VERIFIED'], rows, plain(20))).toBe('shop.example\n  VERIFIED  yes\n\nbakery.example\n  VERIFIED  no');
});

test('lines that are longer than the terminal is wide are wrapped between words, below the text of their item', () => {
  expect(fitColumns('short\n- one two three four', 10)).toBe('short\n- one two\n  three\n  four');
  expect(fitColumns('see https://shop.example/a/long/path', 10)).toBe('see\nhttps://shop.example/a/long/path');
  expect(fitColumns('any text', Number.POSITIVE_INFINITY)).toBe('any text');
});

test('a patch is not wrapped', () => {
  const patch = '--- a.js\n+++ a.js\n@@ -1,1 +1,1 @@\n-const before = 1;\n+const after = 2;';
  expect(fitColumns(patch, 10)).toBe(patch);
});

test('a line of progress is truncated to a number of columns, also with characters of two cells', () => {
  expect(truncate('ten cells.', 10)).toBe('ten cells.');
  expect(truncate('eleven cell', 10)).toBe('eleven ce…');
  expect(truncate('日本日本日本', 8)).toBe('日本日…');
  expect(truncate('bu\u0308cher', 4)).toBe('bu\u0308c…');
  expect(truncate('two\nlines', 20)).toBe('two lines');
});

test.each([
  ['plain', 'plain'],
  ['\x1b[31mred\x1b[0m', '␛[31mred␛[0m'],
  ['a\nb\tc\x9b5m\u202e', 'a␊b␉c␡5m␡'],
])('what others wrote is one line without control characters: %j', (text, shown) => {
  expect(foreign(text)).toBe(shown);
});

test.each(['plain', 'two words', '$(touch pwned)', '`id`', "it's", '"', 'a\nb', '\x1b[31m', "\x07'\\", '~', '*', 'ü', '\u202e', '-x', ''])(
  'a POSIX shell reads %j back from a printed command',
  (word) => {
    const line = shellLine(['printf', '%s', word, `A=${word}`]);
    expect(line).not.toMatch(/\p{Cc}|\p{Bidi_Control}/u);
    expect(execFileSync('bash', ['-c', line], { encoding: 'utf8' })).toBe(`${word}A=${word}`);
  },
);
