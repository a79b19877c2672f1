import type { IncomingMessage } from 'node:http';
import { expect, test } from 'vitest';
import { isFromThisMachine } from './loopback.ts';

const request = (remoteAddress: string | undefined, headers: Record<string, string | undefined>, httpVersion = '1.1') =>
  ({ socket: { remoteAddress }, headers, httpVersion }) as unknown as IncomingMessage;

test.each([
  ['127.0.0.1', 'localhost:3000'],
  ['127.0.0.1', '127.0.0.1'],
  ['::ffff:127.0.0.1', 'LOCALHOST'],
  ['::1', '[::1]:3000'],
])('%s asking %s is this machine', (address, host) => expect(isFromThisMachine(request(address, { host }))).toBe(true));

test.each([
  ['192.0.2.1', { host: 'localhost' }],
  ['::ffff:192.0.2.1', { host: 'localhost' }],
  [undefined, { host: 'localhost' }],
  ['127.0.0.1', {}],
  ['127.0.0.1', { host: 'evil.example' }],
  ['127.0.0.1', { host: 'localhost.evil.example:3000' }],
  ['127.0.0.1', { host: '127.0.0.1.nip.io' }],
  ['127.0.0.1', { host: 'evil.localhost' }],
  ['127.0.0.1', { host: 'localhost', 'x-forwarded-for': '127.0.0.1' }],
  ['127.0.0.1', { host: 'localhost', forwarded: 'for=127.0.0.1' }],
  ['127.0.0.1', { host: 'localhost', via: '1.1 varnish' }],
  ['127.0.0.1', { host: 'localhost', 'x-real-ip': '192.0.2.1' }],
])('%s with %j is not', (address, headers) => expect(isFromThisMachine(request(address, headers))).toBe(false));

test('a request in HTTP/1.0, as nginx forwards by default, is not from this machine', () => {
  expect(isFromThisMachine(request('127.0.0.1', { host: '127.0.0.1:3000' }, '1.0'))).toBe(false);
});
