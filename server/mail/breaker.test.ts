import { expect, test } from 'vitest';
import { createBreaker } from './breaker.ts';

test('an open breaker admits one probe in every interval and closes with the first answer', () => {
  let now = 0;
  const breaker = createBreaker(5_000, () => now);
  expect([breaker.admits(), breaker.admits()]).toEqual([true, true]);
  expect([breaker.failed(), breaker.failed()]).toEqual([true, false]);
  expect(breaker.admits()).toBe(false);
  now = 5_000;
  expect([breaker.admits(), breaker.admits()]).toEqual([true, false]);
  breaker.unused();
  expect(breaker.admits()).toBe(true);
  expect([breaker.answered(), breaker.answered()]).toEqual([true, false]);
  expect([breaker.admits(), breaker.admits(), breaker.isOpen()]).toEqual([true, true, false]);
});
