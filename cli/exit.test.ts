import { expect, test } from 'vitest';
import { ApiError } from '../contract/client.ts';
import { CommandError, describeFailure, EXIT } from './exit.ts';

test('an error with an exit code keeps its message', () => {
  const error = Object.assign(new Error('Port 4400 is in use.'), { exitCode: 1 });
  expect(describeFailure(error)).toEqual({ exitCode: 1, code: 'failure', message: 'Port 4400 is in use.', hint: '' });
});

test('an error of a command keeps its code and its hint', () => {
  const { exitCode, code, hint } = describeFailure(new CommandError(EXIT.conflict, 'files_exist', 'auth.js is there.', 'Use --force.'));
  expect([exitCode, code, hint]).toEqual([6, 'files_exist', 'Use --force.']);
});

test.each([
  [400, 'bad_email', 3],
  [401, 'sign_in_needed', 4],
  [403, 'person_needed', 4],
  [403, 'proof_needed', 4],
  [403, 'test_key', 4],
  [403, 'insufficient_scope', 4],
  [403, 'foreign_origin', 1],
  [404, 'website_not_found', 5],
  [409, 'domain_taken', 6],
  [413, 'icon_too_large', 3],
  [422, 'bad_icon', 3],
  [429, 'rate_limited', 7],
  [500, 'internal', 1],
  [502, 'internal', 8],
  [503, 'unavailable', 8],
  [0, 'unreachable', 8],
] as const)('status %d with code %s exits with %d', (status, code, exitCode) => {
  const error = new ApiError(status, { error: 'A sentence.', hint: 'A hint.', ...(code !== 'unreachable' && { code }) });
  expect(describeFailure(error)).toEqual({ exitCode, code, message: 'A sentence.', hint: 'A hint.' });
});

test.each([
  [1, '1 second'],
  [59, '59 seconds'],
  [600, '10 minutes'],
  [7200, '2 hours'],
])('Retry-After of %d s becomes %s', (retryAfter, words) => {
  const { hint } = describeFailure(new ApiError(429, { error: 'Too many requests.', code: 'rate_limited' }, { retryAfter }));
  expect(hint).toBe(`Try again in ${words}.`);
});

test('any other error is an internal error, in one line', () => {
  const { exitCode, code, message } = describeFailure(new TypeError('x is not a function'));
  expect([exitCode, code]).toEqual([1, 'fault']);
  expect(message).toBe('Internal error of emailauth: x is not a function');
});
