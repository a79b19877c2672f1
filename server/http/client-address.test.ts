import type { IncomingMessage } from 'node:http';
import { expect, test } from 'vitest';
import { clientAddressOf, networkOf, siteOfNetwork } from './client-address.ts';

test.each([
  ['192.0.2.1', '192.0.2.1'],
  ['::ffff:192.0.2.1', '192.0.2.1'],
  ['2001:db8:1:2:3:4:5:6', '2001:db8:1:2::/64'],
  ['2001:DB8:1:2::ffff', '2001:db8:1:2::/64'],
  ['2001:db8::1', '2001:db8:0:0::/64'],
  ['fe80::1%eth0', 'fe80:0:0:0::/64'],
  ['::1', '0:0:0:0::/64'],
  ['unknown', 'unknown'],
  ['', 'unknown'],
])('%j counts as %s', (address, network) => expect(networkOf(address)).toBe(network));

const request = (forwarded?: string) =>
  ({ socket: { remoteAddress: '10.0.0.1' }, headers: { 'x-forwarded-for': forwarded } }) as unknown as IncomingMessage;

test('without a proxy a forged X-Forwarded-For says nothing', () => {
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
])('a proxy that forwards %s means %s', (entry, network) => {
  expect(clientAddressOf(request(`203.0.113.7, ${entry}`), 1)).toBe(network);
});

test.each(['unknown', '_hidden', '', ' ', '198.51.100.1:', '198.51.100.1:123456', '198.51.100:80', '[198.51.100.1', '[]:80', 'a:b'])(
  'for %j the peer counts',
  (entry) => {
    expect(clientAddressOf(request(`203.0.113.7, ${entry}`), 1)).toBe('10.0.0.1');
  },
);

test.each([
  ['2001:db8:1:2::/64', '2001:db8:1::/48'],
  ['192.0.2.1', '192.0.2.1'],
  ['unknown', 'unknown'],
])('%s is part of %s', (network, site) => expect(siteOfNetwork(network)).toBe(site));
