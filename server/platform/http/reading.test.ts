import type { IncomingMessage } from 'node:http';
import { expect, test } from 'vitest';
import { fieldsOf, pathOf, toOriginForm } from './reading.ts';

test('a repeated field is an array in the order of the text, and __proto__ is left out', () => {
  expect(fieldsOf('a=1&b=2&a=3&a=&__proto__=x&c')).toEqual({ a: ['1', '3', ''], b: '2', c: '' });
});

test('a field with a NUL character is refused', () => {
  expect(() => fieldsOf('a=1&b=x%00y')).toThrow(expect.objectContaining({ code: 'bad_request' }));
});

test.each([
  ['/oauth/token?x=/y', 'a.example', '/oauth/token'],
  ['//evil.example/x', 'a.example', '//evil.example/x'],
  ['http://b.example/oauth/token?x', 'b.example', '/oauth/token'],
  ['HTTPS://b.example:8443/x//y', 'b.example:8443', '/x//y'],
  ['http://b.example', 'b.example', '/'],
  ['http://b.example?x=/y', 'b.example', '/'],
  ['http:///x', '', '/x'],
  ['/http://b.example/x', 'a.example', '/http://b.example/x'],
  ['*', 'a.example', '*'],
])('the request target %s has the host %j and the path %s', (url, host, path) => {
  const sent = { url, headers: { host: 'a.example' } } as IncomingMessage;
  toOriginForm(sent);
  expect([sent.headers.host, pathOf(sent)]).toEqual([host, path]);
});

test('a request without Host stays one', () => {
  const sent = { url: 'http://b.example/x', headers: {} } as IncomingMessage;
  toOriginForm(sent);
  expect(sent.headers.host).toBeUndefined();
});
