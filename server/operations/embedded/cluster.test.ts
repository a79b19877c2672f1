import { expect, test } from 'vitest';
import { sharedBuffersFor } from './cluster.ts';

const GIGABYTE = 1024 ** 3;

test.each([
  [GIGABYTE / 4, '128MB'],
  [GIGABYTE / 2, '128MB'],
  [GIGABYTE, '256MB'],
  [3.7 * GIGABYTE, '947MB'],
  [8 * GIGABYTE, '2048MB'],
  [64 * GIGABYTE, '2048MB'],
])('gives a quarter of %d bytes of memory to the cache of PostgreSQL, within its bounds', (memory, sharedBuffers) => {
  expect(sharedBuffersFor(memory)).toBe(sharedBuffers);
});
