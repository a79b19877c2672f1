import { expect, test } from 'vitest';
import { dateTimeOf, dayOf, durationOf, formatWait, longDay, timeAgo, timeUntil } from './dates.ts';

const now = Date.UTC(2026, 2, 5, 12);

test.each([
  [0, 'en', 'now'],
  [59, 'en', 'now'],
  [60, 'en', '1 minute ago'],
  [7200, 'lt', 'prieš 2 valandas'],
  [3 * 86_400, 'uk', '3 дні тому'],
  [21 * 86_400, 'lv', 'pirms 3 nedēļām'],
  [400 * 86_400, 'ru', 'в прошлом году'],
])('%i seconds ago in %s is %s', (seconds, language, expected) => {
  expect(timeAgo(now - seconds * 1000, language, now)).toBe(expected);
});

test('a time in the future is now', () => expect(timeAgo(now + 5000, 'en', now)).toBe('now'));

test.each([
  [-5, 'now'],
  [20, 'in 20 seconds'],
  [61, 'in 1 minute'],
  [25 * 3600, 'tomorrow'],
  [49 * 3600, 'in 2 days'],
])('%i seconds from now is %s', (seconds, expected) => expect(timeUntil(now + seconds * 1000, 'en', now)).toBe(expected));

test('formats a day as day, short month and year, or Recently', () => {
  expect(dayOf('2026-03-05T12:00:00Z')).toBe('5 Mar 2026');
  expect(dayOf(undefined)).toBe('Recently');
});

test('formats a UTC day as the same day in every time zone', () =>
  // Versions of ICU differ in the comma.
  expect(longDay('2026-03-05')).toMatch(/^Thursday,? 5 March 2026$/));

test('formats a time to the second', () => expect(dateTimeOf('2026-03-05T12:00:07Z')).toMatch(/^[456] Mar 2026, \d\d:\d\d:07$/));

test('formats a wait in seconds up to a minute and a half, then in minutes, rounded up', () => {
  expect(formatWait(0.2, 'en')).toBe('in 1 second');
  expect(formatWait(89, 'lt')).toBe('po 89 sekundžių');
  expect(formatWait(121, 'ru')).toBe('через 3 минуты');
});

test('a duration is in minutes and seconds', () => {
  expect([0, 59, 60, 125].map(durationOf)).toEqual(['0 s', '59 s', '1 min', '2 min 5 s']);
});
