import { connect } from 'node:net';
import { describe, expect, test } from 'vitest';
import { type CallSpec, calls } from '../../contract/calls.ts';
import type { HttpResponse } from '../support/client.ts';
import { useService } from '../support/harness.ts';
import { pagePaths } from '../support/page-paths.ts';

const { stage } = await useService();
// Only without SMTP_URL is there an inbox.
const service = await stage.start({ SMTP_URL: '' });
const client = service.client();

type Headers = Record<string, string | string[] | undefined>;

/** Expects the headers that every response has. */
function expectProtected(what: unknown, headers: Headers) {
  expect([what, headers['content-security-policy']]).toEqual([what, expect.stringContaining("default-src 'none'")]);
  expect([what, headers['x-content-type-options']]).toEqual([what, 'nosniff']);
  expect([what, headers['referrer-policy']]).toEqual([what, expect.stringMatching(/^(?:no-referrer|same-origin)$/)]);
  expect([what, headers['cross-origin-resource-policy']]).toEqual([what, expect.stringMatching(/^(?:same|cross)-origin$/)]);
  expect([what, headers['x-powered-by']]).toEqual([what, undefined]);
  expect([what, headers['x-request-id']]).toEqual([what, expect.stringMatching(/^[0-9a-f]{32}$/)]);
}

const FILES = [
  '/robots.txt',
  '/manifest.webmanifest',
  '/openapi.json',
  '/llms.txt',
  '/docs/overview.md',
  '/docs/none.md',
  '/assets/none.js',
];
const PROBES = ['/healthz', '/readyz', '/metrics'];
const LOCAL = [
  '/demo',
  '/demo/style.css',
  '/demo/icon.svg',
  '/dev/inbox',
  '/dev/inbox/messages.json',
  '/dev/inbox/inbox.css',
  '/dev/inbox/inbox.js',
];
const LOCAL_OTHERS = ['/demo/sign-in', '/demo/callback', '/demo/confirm', '/dev/inbox/messages/none'];
const REFUSED = ['/%', '/api/%', '/api/none', '/no-such-page', '/objects/none', `/auth?${'a&'.repeat(60)}`, '/auth/link?t=x', '/mcp'];

/** A path gets one of them besides GET: the same code answers every path. */
const METHODS = ['HEAD', 'OPTIONS', 'POST', 'DELETE'];
const requested = [...pagePaths, ...FILES, ...PROBES, ...LOCAL, ...LOCAL_OTHERS, ...REFUSED];

test.each([...requested.entries()])('the response to path %i, %s, has the common security headers', async (at, path) => {
  for (const method of ['GET', METHODS[at % METHODS.length]]) {
    const { headers, status } = await client.send(path, { method });
    expectProtected([method, path, status], headers);
  }
});

test.each([...PROBES, ...LOCAL])('%s exists', async (path) => {
  expect((await service.client().get(path)).status).toBe(200);
});

test.each(Object.values(calls))('the response to $method $path has the common security headers', async ({ path, method }: CallSpec) => {
  for (const each of [method, method === 'GET' ? 'OPTIONS' : 'PATCH']) {
    const { headers, status } = await client.send(path.replace(/\{\w+\}/, 'en'), { method: each });
    expectProtected([each, path, status], headers);
  }
});

test('responses to probes must not be cached or framed', async () => {
  for (const path of PROBES) {
    const { headers } = await service.client().get(path);
    expect([path, headers['cache-control']]).toEqual([path, 'no-store']);
    expect([path, headers['content-security-policy']]).toEqual([path, "default-src 'none'; frame-ancestors 'none'"]);
  }
});

test('a redirect to PUBLIC_URL, an MCP response and a preflight response have the common security headers', async () => {
  const redirect = await client.get('/auth', { Host: `127.0.0.1:${service.port}` });
  expect(redirect.status).toBe(302);
  const message = await client.post('/mcp', { jsonrpc: '2.0', id: 1, method: 'ping' }, { Accept: 'application/json, text/event-stream' });
  expect(message.status).toBe(200);
  const preflight = await client.send('/api/verify-token', { method: 'OPTIONS', headers: { Origin: 'https://shop.example' } });
  expect([preflight.status, preflight.headers['access-control-allow-origin']]).toEqual([204, '*']);
  const responses: [string, HttpResponse][] = [
    ['redirect', redirect],
    ['message', message],
    ['preflight', preflight],
  ];
  for (const [what, { headers }] of responses) expectProtected(what, headers);
});

describe('a request that the HTTP parser rejects gets the common security headers', () => {
  test.each([
    ['not HTTP', 'NONSENSE\r\n\r\n', 400, 'bad_request'],
    ['a wrong version', 'GET / HTTP/9.9\r\nHost: x\r\n\r\n', 400, 'bad_request'],
    [
      'two lengths',
      'POST /api/auth/logout HTTP/1.1\r\nHost: x\r\nContent-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n',
      400,
      'bad_request',
    ],
    ['an invalid chunk', 'POST /api/auth/logout HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n', 400, 'bad_request'],
    ['large headers', `GET / HTTP/1.1\r\nHost: x\r\nX: ${'y'.repeat(100_000)}\r\n\r\n`, 431, 'headers_too_large'],
    ['no Host', 'GET /healthz HTTP/1.1\r\n\r\n', 400, 'bad_request'],
    ['an unknown expectation', 'GET /healthz HTTP/1.1\r\nHost: localhost\r\nExpect: miracle\r\n\r\n', 200, undefined],
  ])('%s', async (what, text, status, code) => {
    const received = await exchange(text);
    const [head, body = ''] = received.split('\r\n\r\n');
    const [line, ...lines] = head.split('\r\n');
    expect(line).toMatch(new RegExp(`^HTTP/1\\.1 ${status} `));
    expectProtected(what, Object.fromEntries(lines.map((each) => [each.split(':')[0].toLowerCase(), each.replace(/^[^:]+: /, '')])));
    expect(JSON.parse(body).code).toBe(code);
  });
});

/** Sends bytes on a new connection. @returns everything received */
function exchange(text: string): Promise<string> {
  return new Promise((resolve, reject) => {
    const socket = connect(service.port, '127.0.0.1', () => socket.write(text));
    let received = '';
    socket.on('data', (chunk) => {
      received += chunk;
      socket.end();
    });
    socket.on('close', () => resolve(received));
    socket.on('error', () => resolve(received));
    socket.setTimeout(20_000, () => reject(new Error('The connection hangs')));
  });
}
