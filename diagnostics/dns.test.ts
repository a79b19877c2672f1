import { createSocket } from 'node:dgram';
import { once } from 'node:events';
import { promisify } from 'node:util';
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { isThisMachine } from '../contract/urls.ts';
import { isPublicAddress } from '../server/websites/guarded-fetch.ts';
import { type NameServer, openNameServer } from '../test/support/dns.ts';
import { type DnsOptions, openDns, parseDnsServers } from './dns.ts';

const HOST = 'shop.example';
let names: NameServer;
beforeAll(async () => {
  names = await openNameServer();
});
afterAll(() => names.close());
beforeEach(() => names.setAddresses(HOST, []));

type Found = { address: string; family: number }[];
const lookUp = (host = HOST, options: Partial<DnsOptions> = {}): Promise<Found> => {
  const { lookup } = openDns({ servers: [names.address], isAllowedAddress: isPublicAddress, ...options });
  return promisify(lookup as never as (host: string, options: object, done: (error: Error | null, found: Found) => void) => void)(host, {
    all: true,
  });
};

test('lookup returns only the public addresses of a name, queried for each connection', async () => {
  names.setAddresses(HOST, ['10.0.0.1', '1.1.1.1', '169.254.169.254', '127.0.0.1']);
  expect(await lookUp()).toEqual([{ address: '1.1.1.1', family: 4 }]);
  names.setAddresses(HOST, ['127.0.0.1']);
  await expect(lookUp()).rejects.toMatchObject({ code: 'ENOTPUBLIC' });
});

test('a name that does not exist and a name server that does not answer give different codes', async () => {
  await expect(lookUp()).rejects.toMatchObject({ code: 'ENOTFOUND' });
  const silent = createSocket('udp4').bind(0, '127.0.0.1');
  await once(silent, 'listening');
  await expect(lookUp(HOST, { servers: [`127.0.0.1:${silent.address().port}`] })).rejects.toMatchObject({ code: 'EAI_AGAIN' });
  silent.close();
});

test('localhost is resolved only where the system lookup is allowed for it', async () => {
  await expect(lookUp('localhost')).rejects.toMatchObject({ code: expect.stringMatching(/^ENOT/) });
  const [{ address }] = await lookUp('localhost', { usesSystemLookup: isThisMachine });
  expect(['127.0.0.1', '::1']).toContain(address);
});

test('DNS_SERVERS is a list of addresses; anything else is refused', () => {
  expect([parseDnsServers(undefined), parseDnsServers(' ')]).toEqual([null, null]);
  expect(parseDnsServers('9.9.9.9, 127.0.0.1:5353')).toEqual(['9.9.9.9', '127.0.0.1:5353']);
  expect(() => openDns({ servers: ['name.example'], isAllowedAddress: null })).toThrow();
});
