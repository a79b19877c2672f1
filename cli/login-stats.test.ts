import { expect, test } from 'vitest';
import { parseDailyLogins, parseDays, summarize } from './login-stats.ts';

const days = [5, 0, 3, 3].map((count, i) => ({ date: `2026-11-${21 - i}`, count }));

test('the statistics cover the requested days', () => {
  expect(summarize(days, 30)).toEqual({ days, today: 5, total: 11, average: 3 });
  expect(summarize(days, 2)).toEqual({ days: days.slice(0, 2), today: 5, total: 5, average: 3 });
  expect(summarize([], 30)).toEqual({ days: [], today: 0, total: 0, average: 0 });
});

test.each([
  [undefined, 30],
  ['1', 1],
  ['07', 7],
  ['30', 30],
])('--days %s is %d', (text, number) => expect(parseDays(text)).toBe(number));

test.each(['0', '31', 'x', '', '-1', '7.5', '1e1', '007'])('--days %j is refused', (text) => {
  expect(() => parseDays(text)).toThrow('--days takes a number from 1 to 30.');
});

test.each([
  null,
  'days',
  { days },
  [null],
  [{ date: '\x1b[2J2026-11-21', count: 1 }],
  [{ date: '2026-19-51', count: 1 }],
  [{ date: '2026-11-21', count: '1' }],
  [{ date: '2026-11-21', count: -1 }],
  [{ date: '2026-11-21', count: 1.5 }],
])('the response %j is refused', (response) => expect(() => parseDailyLogins(response)).toThrow('no statistics'));

test('days keep only their date and count', () => {
  expect(parseDailyLogins([{ date: '2026-11-21', count: 2, more: '\x1b[2J' }])).toEqual([{ date: '2026-11-21', count: 2 }]);
});
