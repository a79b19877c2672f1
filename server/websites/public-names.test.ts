import { createSocket } from 'node:dgram';
import { once } from 'node:events';
import { promisify } from 'node:util';
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { type NameServer, openNameServer } from '../../test/dns.ts';
import { openPublicNames } from './public-names.ts';

const HOST = 'shop.example';
let names: NameServer;
beforeAll(async () => {
  names = await openNameServer();
});
afterAll(() => names.close());
beforeEach(() => names.setAddresses(HOST, []));

type Found = { address: string; family: number }[];
const find = (host = HOST, options: { thisMachine?: boolean; dnsServers?: string[] } = {}): Promise<Found> => {
  const { lookup } = openPublicNames({ dnsServers: [names.address], ...options });
  return promisify(lookup as never as (host: string, options: object, done: (error: Error | null, found: Found) => void) => void)(host, {
    all: true,
  });
};

test('only the public addresses of a name are answered with, each time anew', async () => {
  names.setAddresses(HOST, ['10.0.0.1', '1.1.1.1', '169.254.169.254', '127.0.0.1']);
  expect(await find()).toEqual([{ address: '1.1.1.1', family: 4 }]);
  names.setAddresses(HOST, ['127.0.0.1']);
  await expect(find()).rejects.toMatchObject({ code: 'ENOTPUBLIC' });
});

test('a name that is not there, and a name server that does not answer, are told apart', async () => {
  await expect(find()).rejects.toMatchObject({ code: 'ENOTFOUND' });
  const silent = createSocket('udp4').bind(0, '127.0.0.1');
  await once(silent, 'listening');
  await expect(find(HOST, { dnsServers: [`127.0.0.1:${silent.address().port}`] })).rejects.toMatchObject({ code: 'EAI_AGAIN' });
  silent.close();
});

test('localhost is nothing but this machine, and only where that was asked for', async () => {
  await expect(find('localhost')).rejects.toMatchObject({ code: expect.stringMatching(/^ENOT/) });
  const [{ address }] = await find('localhost', { thisMachine: true });
  expect(['127.0.0.1', '::1']).toContain(address);
});
