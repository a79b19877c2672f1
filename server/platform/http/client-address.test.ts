import type { IncomingMessage } from 'node:http';
import { expect, test } from 'vitest';
import { blockOfNetwork, clientAddressOf, isFromThisMachine, isLoopbackHostHeader, networkOf, siteOfNetwork } from './client-address.ts';

test.each([
  ['192.0.2.1', '192.0.2.1'],
  ['::ffff:192.0.2.1', '192.0.2.1'],
  ['2001:db8:1:2:3:4:5:6', '2001:db8:1:2::/64'],
  ['2001:DB8:1:2::ffff', '2001:db8:1:2::/64'],
  ['2001:db8::1', '2001:db8:0:0::/64'],
  ['fe80::1%eth0', 'fe80:0:0:0::/64'],
  ['::1', '0:0:0:0::/64'],
  // 6to4, and the prefixes of translators.
  ['2002:c000:201::1', '192.0.2.1'],
  ['2002:c000:201:ffff::1', '192.0.2.1'],
  ['64:ff9b::192.0.2.1', '192.0.2.1'],
  ['64:FF9B::c000:201', '192.0.2.1'],
  ['::ffff:0:192.0.2.1', '192.0.2.1'],
  ['::ffff:c000:201', '192.0.2.1'],
  ['64:ff9b:0:0:0:1:c000:201', '64:ff9b:0:0::/64'],
  ['2003:c000:201::1', '2003:c000:201:0::/64'],
  ['unknown', 'unknown'],
  ['', 'unknown'],
])('%j counts as %s', (address, network) => expect(networkOf(address)).toBe(network));

const request = (forwarded?: string) =>
  ({ socket: { remoteAddress: '10.0.0.1' }, headers: { 'x-forwarded-for': forwarded } }) as unknown as IncomingMessage;

test('without a proxy a forged X-Forwarded-For is ignored', () => {
  expect(clientAddressOf(request('1.2.3.4'), 0)).toBe('10.0.0.1');
});

test('behind n proxies the address is the n-th from the right', () => {
  expect(clientAddressOf(request('9.9.9.9, 1.2.3.4'), 1)).toBe('1.2.3.4');
  expect(clientAddressOf(request('9.9.9.9, 1.2.3.4, 5.6.7.8'), 2)).toBe('1.2.3.4');
  expect(clientAddressOf(request(undefined), 1)).toBe('10.0.0.1');
});

test.each([
  ['198.51.100.1:4711', '198.51.100.1'],
  ['[2001:db8::1]:4711', '2001:db8:0:0::/64'],
  ['[2001:db8::1]', '2001:db8:0:0::/64'],
  ['2001:db8::1', '2001:db8:0:0::/64'],
  ['[::ffff:198.51.100.1]:4711', '198.51.100.1'],
  ['2002:c633:6414::1', '198.51.100.20'],
  ['64:ff9b::198.51.100.20', '198.51.100.20'],
])('an X-Forwarded-For entry %s counts as %s', (entry, network) => {
  expect(clientAddressOf(request(`203.0.113.7, ${entry}`), 1)).toBe(network);
});

test.each(['unknown', '_hidden', '', ' ', '198.51.100.1:', '198.51.100.1:123456', '198.51.100:80', '[198.51.100.1', '[]:80', 'a:b'])(
  'an X-Forwarded-For entry %j is replaced by the peer',
  (entry) => {
    expect(clientAddressOf(request(`203.0.113.7, ${entry}`), 1)).toBe('10.0.0.1');
  },
);

test.each([
  ['2001:db8:1:2::/64', '2001:db8:1::/48'],
  ['192.0.2.1', '192.0.2.1'],
  ['unknown', 'unknown'],
])('the /48 of %s is %s', (network, site) => expect(siteOfNetwork(network)).toBe(site));

test.each([
  ['2001:db8:1:2::/64', '2001:db8:1::/48'],
  ['2001:db8:0:0::/64', '2001:db8:0::/48'],
  ['192.0.2.1', '192.0.2.0/24'],
  ['10.0.0.254', '10.0.0.0/24'],
  ['unknown', 'unknown'],
])('%s belongs to %s', (network, block) => expect(blockOfNetwork(network)).toBe(block));

const requestFrom = (remoteAddress: string | undefined, headers: Record<string, string | undefined>, httpVersion = '1.1') =>
  ({ socket: { remoteAddress }, headers, httpVersion }) as unknown as IncomingMessage;

test.each([
  ['127.0.0.1', 'localhost:4400'],
  ['127.0.0.1', '127.0.0.1'],
  ['::ffff:127.0.0.1', 'LOCALHOST'],
  ['::1', '[::1]:4400'],
])('a request from %s to %s is from this machine', (address, host) => expect(isFromThisMachine(requestFrom(address, { host }))).toBe(true));

test.each([
  ['192.0.2.1', { host: 'localhost' }],
  ['::ffff:192.0.2.1', { host: 'localhost' }],
  [undefined, { host: 'localhost' }],
  ['127.0.0.1', {}],
  ['127.0.0.1', { host: 'evil.example' }],
  ['127.0.0.1', { host: 'localhost.evil.example:4400' }],
  ['127.0.0.1', { host: '127.0.0.1.nip.io' }],
  ['127.0.0.1', { host: 'evil.localhost' }],
  ['127.0.0.1', { host: 'localhost', 'x-forwarded-for': '127.0.0.1' }],
  ['127.0.0.1', { host: 'localhost', forwarded: 'for=127.0.0.1' }],
  ['127.0.0.1', { host: 'localhost', via: '1.1 varnish' }],
  ['127.0.0.1', { host: 'localhost', 'x-real-ip': '192.0.2.1' }],
])('a request from %s with %j is not from this machine', (address, headers) =>
  expect(isFromThisMachine(requestFrom(address, headers))).toBe(false),
);

test('a request in HTTP/1.0, as nginx forwards by default, is not from this machine', () => {
  expect(isFromThisMachine(requestFrom('127.0.0.1', { host: '127.0.0.1:4400' }, '1.0'))).toBe(false);
});

test.each(['127.1', '127.0.0.1.nip.io', '0x7f.0.0.1', 'localhost:', 'localhost:x', '[::1', ':80', '', undefined])(
  'the Host header %j is not this machine',
  (host) => expect(isLoopbackHostHeader(host)).toBe(false),
);
