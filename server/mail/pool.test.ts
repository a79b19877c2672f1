import { expect, test } from 'vitest';
import { Breaker } from './pool.ts';

test('an open breaker admits one probe in every interval and closes with the first reply', () => {
  let now = 0;
  const breaker = new Breaker(5_000, () => now);
  expect([breaker.admits(), breaker.admits()]).toEqual([true, true]);
  expect([breaker.open(), breaker.open()]).toEqual([true, false]);
  expect(breaker.admits()).toBe(false);
  now = 5_000;
  expect([breaker.admits(), breaker.admits()]).toEqual([true, false]);
  breaker.releaseProbe();
  expect(breaker.admits()).toBe(true);
  expect([breaker.close(), breaker.close()]).toEqual([true, false]);
  expect([breaker.admits(), breaker.admits(), breaker.isOpen()]).toEqual([true, true, false]);
});
