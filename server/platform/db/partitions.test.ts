import { expect, test } from 'vitest';
import { rangesFrom } from './partitions.ts';

const day = (text: string) => new Date(`${text}T00:00:00Z`);
const ranges = (...args: Parameters<typeof rangesFrom>) =>
  rangesFrom(...args).map(({ from, to }) => `${from.toISOString().slice(0, 10)} ${to.toISOString().slice(0, 10)}`);
const noon = new Date('2026-11-23T12:00:00Z');
const tomorrow = new Date('2026-11-24T12:00:00Z');

test('ranges follow the last partition up to the one that contains the given time', () => {
  expect(ranges('day', day('2026-11-24'), { now: noon, until: tomorrow, first: null })).toEqual(['2026-11-24 2026-11-25']);
  expect(ranges('day', day('2026-11-25'), { now: noon, until: tomorrow, first: null })).toEqual([]);
  expect(ranges('month', day('2026-12-01'), { now: noon, until: new Date('2027-01-02T00:00:00Z'), first: null })).toEqual([
    '2026-12-01 2027-01-01',
    '2027-01-01 2027-02-01',
  ]);
});

test('periods in which the service did not run get no partition', () => {
  expect(ranges('day', day('2026-10-02'), { now: noon, until: tomorrow, first: null })).toEqual([
    '2026-11-23 2026-11-24',
    '2026-11-24 2026-11-25',
  ]);
});

test('rows that have no partition get one, however old they are', () => {
  const first = new Date('2026-09-30T23:59:59Z');
  expect(ranges('month', day('2026-08-01'), { now: noon, until: tomorrow, first })).toEqual([
    '2026-09-01 2026-10-01',
    '2026-10-01 2026-11-01',
    '2026-11-01 2026-12-01',
  ]);
});
