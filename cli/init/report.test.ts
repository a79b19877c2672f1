import { expect, test } from 'vitest';
import { patchOf } from './report.ts';

const plain = { style: (_: string, text: string) => text };
const marked = { style: (format: string, text: string) => `<${format}>${text}` };
const bytes = (text: string) => Buffer.from(text);

test('shows a new file in full', () => {
  expect(patchOf({ path: 'a.js', before: null, after: bytes('one\ntwo\n') }, plain)).toBe(
    '--- /dev/null\n+++ a.js\n@@ -0,0 +1,2 @@\n+one\n+two',
  );
});

test('shows the changes of an existing file', () => {
  const before = bytes('1\n2\n3\n4\n5\n6\n7\n8\n9\n');
  const after = bytes('1\n2\n3\n4\nfive\n6\n7\n8\n9\n');
  expect(patchOf({ path: 'a', before, after }, plain)).toBe('--- a\n+++ a\n@@ -2,7 +2,7 @@\n 2\n 3\n 4\n-5\n+five\n 6\n 7\n 8');
});

test('shows only the addition to a file that is completed', () => {
  const shown = (before: string, addition: string) =>
    patchOf({ path: '.env', before: bytes(before), after: bytes(before + addition), addition }, plain);
  expect(shown('KEY=secret', '\nA=1\nB=2\n')).toBe('--- .env\n+++ .env\n@@ -1,0 +2,2 @@\n+A=1\n+B=2');
  expect(shown('KEY=secret\r\nK=2\r\n', 'A=1\r\n')).toBe('--- .env\n+++ .env\n@@ -2,0 +3,1 @@\n+A=1');
  expect(shown('', 'A=1\n')).toBe('--- .env\n+++ .env\n@@ -0,0 +1,1 @@\n+A=1');
});

test('colors additions and removals', () => {
  const patch = patchOf({ path: 'a', before: bytes('x\ny\n'), after: bytes('x\nz') }, marked);
  expect(patch.split('\n')).toEqual([
    '<bold>--- a',
    '<bold>+++ a',
    '<dim>@@ -1,2 +1,2 @@',
    ' x',
    '<red>-y',
    '<green>+z',
    '<dim>\\ No newline at end of file',
  ]);
});

test('removes what a terminal interprets', () => {
  const before = bytes('\x1b]0;owned\x07 \x9b2J \u202Etxt \ttab\r\n');
  const patch = patchOf({ path: 'a', before, after: bytes('') }, plain);
  // biome-ignore lint/suspicious/noControlCharactersInRegex: they are what this is about.
  expect(patch).not.toMatch(/[\x00-\x08\x0b-\x1f\x7f-\x9f\u202e]/);
  expect(patch).toContain('-␛]0;owned␇ ␡2J ␡txt \ttab');
});
