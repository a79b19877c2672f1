import { lookup } from 'node:dns/promises';
import { readFile } from 'node:fs/promises';
import { connect } from 'node:net';
import { expect, test } from 'vitest';
import { createDescribeError } from './errors.ts';
import { FailureLog } from './failure-log.ts';

const silent = { error: () => {}, warn: () => {} } as unknown as ConstructorParameters<typeof FailureLog>[0];
const describeError = createDescribeError(new FailureLog(silent, async () => {}));

const rejectionOf = (work: Promise<unknown>) =>
  work.then(
    () => null,
    (error) => error,
  );
const connecting = (to: { path: string } | { port: number }) =>
  new Promise((resolve, reject) => connect({ host: '127.0.0.1', ...to }, () => resolve(null)).on('error', reject));

test.each([
  ['a missing socket file', () => connecting({ path: '/nowhere/.s.PGSQL.5432' })],
  ['a port on which no process listens', () => connecting({ port: 1 })],
  ['a name that cannot be resolved', () => lookup('database.invalid')],
])('%s is an unavailable database', async (_, work) => {
  const { fault, body } = describeError(await rejectionOf(work()));
  expect([fault.status, body.code, fault.retryAfter]).toEqual([503, 'unavailable', 2]);
});

test('an error of a file is none of the database', async () => {
  const { fault, body } = describeError(await rejectionOf(readFile('/nowhere/file')));
  expect([fault.status, body.code]).toEqual([500, 'internal']);
});
