import { beforeAll, describe, expect, test } from 'vitest';
import { type Service, useProduction, useService } from '../support/harness.ts';
import { type Developer, signInDeveloper } from '../support/sign-ins.ts';

const INSPECTOR = 'https://inspector.example';
const EVIL = 'https://evil.example';
const list = { jsonrpc: '2.0', id: 1, method: 'tools/list' };
const status = { jsonrpc: '2.0', id: 2, method: 'tools/call', params: { name: 'get_status', arguments: {} } };
const registration = { redirect_uris: [`${INSPECTOR}/callback`], token_endpoint_auth_method: 'none' };

const { stage, service: local } = await useService();
const { service: open } = await useProduction();
let listed: Service;
let developer: Developer;
beforeAll(async () => {
  listed = await stage.start({ MCP_ORIGINS: `${INSPECTOR}, http://localhost:6274` });
  developer = await signInDeveloper(stage, local);
});

const preflight = (
  service: Service,
  path: string,
  origin: string,
  method = 'POST',
  headers = 'authorization,content-type,mcp-protocol-version',
) =>
  service.client().send(path, {
    method: 'OPTIONS',
    headers: { Origin: origin, 'Access-Control-Request-Method': method, 'Access-Control-Request-Headers': headers },
  });

/** The origins that may call /mcp and register clients of each service. */
const services: [string, () => Service, string[], string[]][] = [
  ['in local mode', () => local, [], [INSPECTOR, EVIL, 'null']],
  [
    'in local mode with MCP_ORIGINS',
    () => listed,
    [INSPECTOR, 'http://localhost:6274'],
    [EVIL, 'null', 'http://localhost:6275', `${INSPECTOR}.evil.example`],
  ],
  ['in production', () => open, [INSPECTOR, EVIL, 'null', 'http://localhost:6274'], []],
];

describe.each(services)('%s', (_, at, allowed, refused) => {
  const isAny = (origin: string, value: unknown) => expect(['*', origin]).toContain(value);

  test('pages of allowed origins may call /mcp, without cookies', async () => {
    for (const origin of allowed) {
      for (const method of ['POST', 'GET', 'DELETE']) {
        const asked = await preflight(at(), '/mcp', origin, method);
        expect([origin, asked.status]).toEqual([origin, 204]);
        isAny(origin, asked.headers['access-control-allow-origin']);
        expect(asked.headers['access-control-allow-methods']).toContain(method);
        expect(asked.headers['access-control-allow-headers']).toBe('authorization,content-type,mcp-protocol-version');
        expect(asked.headers['access-control-allow-credentials']).toBeUndefined();
      }
      const wrong = { Authorization: 'Bearer unknown' };
      for (const [headers, method, expected] of [
        [{}, 'POST', 200],
        [wrong, 'POST', 401],
        [{}, 'GET', 405],
      ] as const) {
        const body = method === 'POST' ? JSON.stringify(list) : undefined;
        const called = await at()
          .client()
          .send('/mcp', { method, body, headers: { 'Content-Type': 'application/json', Origin: origin, ...headers } });
        expect([origin, called.status]).toEqual([origin, expected]);
        isAny(origin, called.headers['access-control-allow-origin']);
        expect(called.headers['access-control-allow-credentials']).toBeUndefined();
        for (const exposed of ['Mcp-Session-Id', 'WWW-Authenticate', 'MCP-Protocol-Version'])
          expect(called.headers['access-control-expose-headers']).toContain(exposed);
      }
    }
  });

  test('pages of other origins may neither call /mcp nor register a client', async () => {
    for (const origin of refused) {
      const asked = await preflight(at(), '/mcp', origin);
      const called = await at().client().post('/mcp', list, { Origin: origin });
      expect([origin, asked.status, called.status]).toEqual([origin, 403, 403]);
      const registering = await preflight(at(), '/oauth/register', origin);
      const registered = await at().client().post('/oauth/register', registration, { Origin: origin });
      for (const { headers } of [asked, called, registering, registered]) {
        expect([origin, headers['access-control-allow-origin']]).toEqual([origin, undefined]);
        expect(headers['access-control-allow-headers']).toBeUndefined();
      }
    }
  });

  test('pages of allowed origins may register a client, and read why they may not', async () => {
    for (const origin of allowed) {
      const asked = await preflight(at(), '/oauth/register', origin, 'POST', 'content-type');
      expect([asked.status, asked.headers['access-control-allow-headers']]).toEqual([204, 'content-type']);
      const registered = await at().client().post('/oauth/register', registration, { Origin: origin });
      const wrong = await at().client().post('/oauth/register', { redirect_uris: 'none' }, { Origin: origin });
      expect([registered.status, wrong.status]).toEqual([201, 400]);
      for (const { headers } of [asked, registered, wrong]) {
        isAny(origin, headers['access-control-allow-origin']);
        expect(headers['access-control-allow-credentials']).toBeUndefined();
      }
    }
  });

  test('any page may read the documents by which a client finds the service', async () => {
    for (const path of [
      '/.well-known/oauth-protected-resource/mcp',
      '/.well-known/oauth-authorization-server',
      '/.well-known/openid-configuration',
    ]) {
      const asked = await preflight(at(), path, EVIL, 'GET', 'mcp-protocol-version');
      expect([path, asked.status, asked.headers['access-control-allow-headers']]).toEqual([path, 204, 'mcp-protocol-version']);
      const read = await at().client().get(path, { Origin: EVIL });
      expect([path, read.status]).toEqual([path, 200]);
      for (const { headers } of [asked, read]) isAny(EVIL, headers['access-control-allow-origin']);
    }
  });
});

test('a session cookie does not authenticate a request of any page at /mcp, and a bearer token does', async () => {
  const { client, email } = developer;
  const key = (await client.post('/api/api-keys', { name: 'Inspector', environment: 'live' })).json.key;
  const Cookie = [...client.cookies].map(([name, value]) => `${name}=${value}`).join('; ');
  for (const [service, origin] of [
    [open, INSPECTOR],
    [open, open.url],
    [listed, INSPECTOR],
    [local, local.url],
  ] as const) {
    const byCookie = await service.client().post('/mcp', status, { Origin: origin, Cookie });
    expect([byCookie.status, byCookie.text.includes(email)]).toEqual([expect.toSatisfy((code) => code === 200 || code === 401), false]);
    const byKey = await service.client().post('/mcp', status, { Origin: origin, Authorization: `Bearer ${key}` });
    expect([byKey.status, byKey.text.includes(email)]).toEqual([200, true]);
  }
});

test('/mcp takes every Accept that includes JSON', async () => {
  const send = (headers: Record<string, string>) => local.client().send('/mcp', { method: 'POST', body: JSON.stringify(list), headers });
  const type = { 'Content-Type': 'application/json' };
  const accepted = ['*/*', 'application/*', 'application/json', 'application/json, text/event-stream', 'text/html, */*;q=0.1', ''];
  for (const accept of accepted) {
    const { status: code, headers, json } = await send({ ...type, Accept: accept });
    expect([accept, code, headers['content-type'], json.result?.tools.length > 0]).toEqual([accept, 200, 'application/json', true]);
  }
  expect((await send(type)).status).toBe(200);
  for (const accept of ['text/html', 'text/event-stream', 'application/json;q=0'])
    expect((await send({ ...type, Accept: accept })).status).toBe(406);
});

test('an unknown address below /.well-known/ gets JSON 404, which any page may read', async () => {
  const paths = [
    '',
    '/',
    '/none',
    '/none.md',
    '/oauth-protected-resource',
    '/oauth-authorization-server/mcp',
    '/openid-configuration/mcp',
    '/NONE/x',
  ];
  for (const path of paths) {
    for (const method of ['GET', 'POST']) {
      const {
        status: code,
        headers,
        json,
        text,
      } = await local.client().send(`/.well-known${path}`, { method, headers: { Accept: 'text/html' } });
      expect([path, code, json.code, text.length < 500]).toEqual([path, 404, 'not_found', true]);
      expect(headers).toMatchObject({ 'content-type': expect.stringContaining('application/json'), 'access-control-allow-origin': '*' });
    }
    expect((await preflight(local, `/.well-known${path}`, EVIL, 'GET', 'mcp-protocol-version')).status).toBe(204);
  }
});
