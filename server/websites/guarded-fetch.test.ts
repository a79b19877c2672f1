import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { openDns } from '../../diagnostics/dns.ts';
import { type NameServer, openNameServer } from '../../test/dns.ts';
import { createGuardedFetch } from './guarded-fetch.ts';
import { isPublicAddress } from './public-addresses.ts';

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
  else if (request.url !== '/never') response.writeHead(200, { 'Cache-Control': 'max-age=60' }).end('{"ok":true}');
});
const origin = () => `http://localhost:${(server.address() as AddressInfo).port}`;

beforeAll(async () => {
  received = [];
  names = await openNameServer();
  const options = { servers: [names.address], isAllowedAddress: isPublicAddress };
  fetchInProduction = createGuardedFetch({ dns: openDns(options), local: false });
  fetchLocally = createGuardedFetch({ dns: openDns({ ...options, usesSystemLookup: () => true }), local: true });
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

test('ends with an error for a response that is too large, and when the caller aborts', async () => {
  await expect(fetchLocally(`${origin()}/large`)).rejects.toThrow('more than');
  const stop = new AbortController();
  const pending = fetchLocally(`${origin()}/never`, { signal: stop.signal });
  stop.abort();
  await expect(pending).rejects.toThrow();
});
