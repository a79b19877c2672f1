import { setTimeout as wait } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { batched } from './batch.ts';

test('rows that arrive together share a statement of at most 64 rows', async () => {
  const sizes: number[] = [];
  const double = batched('test', async (rows: number[]) => {
    sizes.push(rows.length);
    await wait(5);
    return rows.map((row) => row * 2);
  });
  const results = await Promise.all(Array.from({ length: 100 }, (_, index) => double(index)));
  expect(results).toEqual(Array.from({ length: 100 }, (_, index) => index * 2));
  expect(sizes).toEqual([64, 36]);
});

test('a row that the database refuses fails alone', async () => {
  const refuse = batched('test', async (rows: number[]) => {
    await wait(1);
    if (rows.includes(7)) throw Object.assign(new Error('invalid input'), { code: '22021' });
    return rows;
  });
  const results = await Promise.allSettled(Array.from({ length: 20 }, (_, index) => refuse(index)));
  expect(results.flatMap((result, index) => (result.status === 'rejected' ? [index] : []))).toEqual([7]);
});

test.each([1, 3])('after a deadlock, each of %i rows is tried once more, alone', async (count) => {
  const sizes: number[] = [];
  const deadlocked = batched('test', async (rows: number[]) => {
    sizes.push(rows.length);
    if (sizes.length === 1) throw Object.assign(new Error('deadlock detected'), { code: '40P01' });
    return rows;
  });
  expect(await Promise.all(Array.from({ length: count }, (_, index) => deadlocked(index)))).toEqual([0, 1, 2].slice(0, count));
  expect(sizes).toEqual([count, ...Array(count).fill(1)]);
});

test('when the database is away, waiting rows fail with the first statement', async () => {
  let calls = 0;
  const away = batched('test', async (): Promise<number[]> => {
    calls++;
    await wait(5);
    throw new Error('Connection terminated');
  });
  const results = await Promise.allSettled(Array.from({ length: 50 }, () => away(1)));
  expect(results.every(({ status }) => status === 'rejected')).toBe(true);
  expect(calls).toBe(1);
});
