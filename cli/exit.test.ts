import { expect, test } from 'vitest';
import { describeExit } from './exit.ts';

test('an error with an exit code is told as its sentence', () => {
  expect(describeExit(Object.assign(new Error('Port 3000 is in use.'), { exitCode: 1 }))).toEqual({
    sentence: 'Port 3000 is in use.',
    code: 1,
  });
});

test('any other error shows where it came from', () => {
  const { sentence, code } = describeExit(new TypeError('x is not a function'));
  expect(code).toBe(1);
  expect(sentence).toContain('exit.test.ts');
});
