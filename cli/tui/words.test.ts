import { expect, test } from 'vitest';
import { dayParts, firstFitting, formatShort, fullDay, glyphsFor, sanitize, shortDay, truncate } from './words.ts';

test('formats days', () => {
  expect(fullDay('2026-11-21')).toBe('Sat 21 Nov 2026');
  expect(shortDay('2026-09-01')).toBe('Tue 01 Sep');
  expect(dayParts('2024-02-29')).toEqual({ weekday: 'Thu', day: '29', month: 'Feb', year: '2024' });
});

test.each([
  [0, '0'],
  [999, '999'],
  [1000, '1k'],
  [1290, '1.2k'],
  [45_678, '45k'],
  [999_999, '999k'],
  [3_100_000, '3.1M'],
  [Number.MAX_SAFE_INTEGER, '9007T'],
])('%d in short is %s', (count, text) => expect(formatShort(count)).toBe(text));

test('the first text that fits is taken; a text is truncated between words', () => {
  expect(firstFitting(['a long text', 'short'], 11)).toBe('a long text');
  expect(firstFitting(['a long text', 'short'], 10)).toBe('short');
  expect(firstFitting(['a long text', 'two words'], 8)).toBe('two…');
  expect(truncate('The service cannot be reached.', 20, '...')).toBe('The service...');
  expect(truncate('The service', 11)).toBe('The service');
  expect(truncate('unbroken', 4)).toBe('unb…');
});

test('sanitize removes what a terminal interprets', () => {
  expect(sanitize('\x1b[2Ja\u009b31m\r\nb\x07\t c\u202e \u2028d ')).toBe('[2Ja 31m b c d');
});

test.each([
  [{ LANG: 'C.UTF-8' }, 'linux', '▲'],
  [{ LANG: 'en_GB.utf8' }, 'darwin', '▲'],
  [{ LANG: 'en_GB.UTF-8', LC_ALL: 'C' }, 'linux', '^'],
  [{ LANG: 'C' }, 'linux', '^'],
  [{}, 'linux', '^'],
  [{}, 'win32', '^'],
  [{ WT_SESSION: '1' }, 'win32', '▲'],
])('the locale of %j on %s draws with %s', (env, platform, mark) => expect(glyphsFor(env, platform).mark).toBe(mark));
