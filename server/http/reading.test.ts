import { expect, test } from 'vitest';
import { fieldsOf } from './reading.ts';

test('a repeated field is an array in the order of the text, and __proto__ is left out', () => {
  expect(fieldsOf('a=1&b=2&a=3&a=&__proto__=x&c')).toEqual({ a: ['1', '3', ''], b: '2', c: '' });
});
