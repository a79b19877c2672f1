import { expect, test } from 'vitest';
import { Breaker } from './pool.ts';

test('an open breaker admits one probe in every interval and closes with the first reply', () => {
  let now = 0;
  const breaker = new Breaker(() => now);
  expect([breaker.admits(), breaker.admits()]).toEqual([true, true]);
  expect([breaker.open('unreachable'), breaker.open('unreachable')]).toEqual([true, false]);
  expect(breaker.admits()).toBe(false);
  now = 5_000;
  expect([breaker.admits(), breaker.admits()]).toEqual([true, false]);
  breaker.releaseProbe();
  expect(breaker.admits()).toBe(true);
  expect([breaker.close(), breaker.close()]).toEqual([true, false]);
  expect([breaker.admits(), breaker.admits(), breaker.isOpen()]).toEqual([true, true, false]);
});

test('a login that is refused is tried again after one, two, four and five minutes', () => {
  let now = 0;
  const breaker = new Breaker(() => now);
  breaker.open('login');
  const probes: number[] = [];
  for (; now < 20 * 60_000; now += 1_000) {
    if (!breaker.admits()) continue;
    probes.push(now / 60_000);
    expect(breaker.open('login')).toBe(false);
  }
  expect(probes).toEqual([1, 3, 7, 12, 17]);
  breaker.releaseProbe();
  expect([breaker.admits(), breaker.open('unreachable')]).toEqual([true, true]);
  now += 5_000;
  expect(breaker.admits()).toBe(true);
});
