import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import fc from 'fast-check';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { openDns } from '../../diagnostics/dns.ts';
import { type NameServer, openNameServer } from '../../test/support/dns.ts';
import { createGuardedFetch, isPublicAddress } from './guarded-fetch.ts';

let names: NameServer;
let fetchInProduction: ReturnType<typeof createGuardedFetch>;
let fetchLocally: ReturnType<typeof createGuardedFetch>;
/** Requests that reached a server on this machine. */
let received: { method?: string; type?: string; body: string }[];
const server = createServer(async (request, response) => {
  let body = '';
  for await (const chunk of request) body += chunk;
  received.push({ method: request.method, type: request.headers['content-type'], body });
  if (request.url === '/large') response.end('x'.repeat(70_000));
  else if (request.url === '/redirect') response.writeHead(302, { Location: '/' }).end();
  else if (request.url === '/999') response.writeHead(999).end();
  else if (request.url !== '/never') response.writeHead(200, { 'Cache-Control': 'max-age=60' }).end('{"ok":true}');
});
const origin = () => `http://localhost:${(server.address() as AddressInfo).port}`;

beforeAll(async () => {
  received = [];
  names = await openNameServer();
  const options = { servers: [names.address], isAllowedAddress: isPublicAddress };
  fetchInProduction = createGuardedFetch({ dns: openDns(options), isLocal: false });
  fetchLocally = createGuardedFetch({ dns: openDns({ ...options, usesSystemLookup: () => true }), isLocal: true });
  await new Promise<void>((resolve) => server.listen(0, 'localhost', resolve));
});
afterAll(async () => {
  server.closeAllConnections();
  server.close();
  await names.close();
});

test.each([
  'https://127.0.0.1/',
  'https://2130706433/',
  'https://[::1]/',
  'https://[::ffff:10.0.0.1]/',
  'https://10.0.0.1/',
  'https://172.16.0.1/',
  'https://192.168.0.1/',
  'https://100.64.0.1/',
  'https://0.0.0.0/',
  'https://127.1/',
  'https://0x7f000001/',
  'https://0177.0.0.1/',
  'https://127。0。0。1/',
  'https://[::]/',
  'https://[::ffff:127.0.0.1]/',
  'https://[64:ff9b::7f00:1]/',
  'https://[fe80::1]/',
  'https://[fd00::1]/',
  'https://169.254.169.254/latest/meta-data',
  'https://localhost/',
  'https://service.localhost/',
  'http://example.com/',
  'file:///etc/passwd',
  'data:text/plain,x',
])('does not request %s in production', async (url) => {
  await expect(fetchInProduction(url)).rejects.toThrow(TypeError);
});

test('does not connect to a name that resolves to a private address, whatever else it resolves to', async () => {
  names.setAddresses('inside.example', ['10.0.0.1', '127.0.0.1', '169.254.169.254']);
  await expect(fetchInProduction('https://inside.example/')).rejects.toMatchObject({ code: 'ENOTPUBLIC' });
});

test('requests loopback hosts in local mode, without following redirects', async () => {
  const response = await fetchLocally(origin());
  expect([response.status, response.headers.get('cache-control'), await response.json()]).toEqual([200, 'max-age=60', { ok: true }]);
  expect((await fetchLocally(`${origin()}/redirect`)).status).toBe(302);
});

test('does not request http on another host in local mode', async () => {
  await expect(fetchLocally('http://example.com/')).rejects.toThrow('is not https');
});

test('sends a form as a back-channel logout does', async () => {
  await fetchLocally(origin(), { method: 'POST', body: new URLSearchParams({ logout_token: 'a b' }), redirect: 'manual' });
  expect(received.at(-1)).toEqual({ method: 'POST', type: 'application/x-www-form-urlencoded', body: 'logout_token=a+b' });
});

test('names a status that HTTP does not define', async () => {
  await expect(fetchLocally(`${origin()}/999`)).rejects.toThrow('the host responded with the status 999');
});

test('ends with an error for a response that is too large, and when the caller aborts', async () => {
  await expect(fetchLocally(`${origin()}/large`)).rejects.toThrow('more than');
  const stop = new AbortController();
  const pending = fetchLocally(`${origin()}/never`, { signal: stop.signal });
  stop.abort();
  await expect(pending).rejects.toThrow();
});

test.each([
  '1.1.1.1',
  '8.8.8.8',
  '100.63.255.255',
  '100.128.0.0',
  '172.15.255.255',
  '172.32.0.1',
  '192.169.0.1',
  '223.255.255.255',
  '2606:4700::1111',
  '2a00:1450::1',
])('%s is public', (address) => expect(isPublicAddress(address)).toBe(true));

test.each([
  '0.0.0.0',
  '10.0.0.1',
  '100.64.0.1',
  '100.127.255.255',
  '127.0.0.1',
  '127.255.255.254',
  '169.254.169.254',
  '172.16.0.1',
  '172.31.255.255',
  '192.0.0.8',
  '192.0.2.1',
  '192.88.99.1',
  '192.168.1.1',
  '198.18.0.1',
  '198.19.255.255',
  '198.51.100.1',
  '203.0.113.1',
  '224.0.0.1',
  '239.255.255.255',
  '240.0.0.1',
  '255.255.255.255',
  '::',
  '::1',
  '::10.0.0.1',
  '::ffff:10.0.0.1',
  '::ffff:8.8.8.8',
  '::ffff:7f00:1',
  '64:ff9b::a00:1',
  '64:ff9b:1::1',
  '100::1',
  '2001::1',
  '2001:db8::1',
  '2002:7f00:1::1',
  '3fff::1',
  '5f00::1',
  'fc00::1',
  'fd12:3456::1',
  'fe80::1',
  'fe80::1%eth0',
  '2606:4700::1111%eth0',
  'fec0::1',
  'ff02::1',
  '',
  'localhost',
  '127.1',
  '0x7f.1',
  '1.1.1.1 ',
])('%j is not public', (address) => expect(isPublicAddress(address)).toBe(false));

test('no mapped or NAT64 form lets an IPv4 address through', () => {
  fc.assert(
    fc.property(fc.ipV4(), fc.constantFrom('::ffff:', '::', '64:ff9b::'), (address, prefix) => {
      expect(isPublicAddress(`${prefix}${address}`)).toBe(false);
    }),
  );
});
