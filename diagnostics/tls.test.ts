import { lookup } from 'node:dns';
import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { openDns } from './dns.ts';
import { evaluateExpiry, followRedirects } from './tls.ts';

const locations: Record<string, string> = {
  secure: 'https://localhost/',
  above: 'https://www.localhost/',
  hop: '/secure',
  loop: '/loop',
  elsewhere: 'https://localhost.evil.example/',
};
let server: Server;
let origin: string;
beforeAll(async () => {
  server = createServer((request, response) => {
    const location = locations[(request.url ?? '').slice(1)];
    response.writeHead(location ? 301 : 200, location ? { Location: location } : {}).end();
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  origin = `http://localhost:${(server.address() as AddressInfo).port}`;
});
afterAll(() => void server.close());

test.each<[string, boolean, RegExp]>([
  ['secure', true, /to https/],
  ['above', true, /to https/],
  ['hop', true, /to https/],
  ['plain', false, /answers 200 without TLS/],
  ['loop', false, /in a loop/],
  ['elsewhere', false, /another website, localhost\.evil\.example/],
])('a redirect of http: %s', async (path, ok, detail) => {
  const finding = await followRedirects(new URL(`${origin}/${path}`), {
    dns: { ...openDns({ servers: null, isAllowedAddress: null }), lookup },
    userAgent: 'test',
    signal: AbortSignal.timeout(30_000),
  });
  expect(finding.detail).toMatch(detail);
  expect(finding.ok).toBe(ok);
});

test.each([
  [14.5, true],
  [13.9, false],
  [1.5, false],
])('a certificate that expires in %f days: ok is %s', (days, ok) => {
  const now = Date.parse('2026-11-21T12:00:00Z');
  const finding = evaluateExpiry('shop.example', new Date(now + days * 86_400_000).toUTCString(), 'TLS 1.3', now);
  expect(finding.ok).toBe(ok);
  if (days === 1.5) expect(finding.detail).toContain('in 1 day, on 2026-11-23');
});
