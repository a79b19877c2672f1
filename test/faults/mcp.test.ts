// A stage of its own: its PostgreSQL is killed.
import { request } from 'node:http';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { callTool, generations, type McpClient } from '../api/mcp/clients.ts';
import { openStage, type Service, type Stage } from '../support/harness.ts';
import { type Cluster, createCluster } from '../support/postgres.ts';
import { freshAddress, freshDomain, signInDeveloper } from '../support/sign-ins.ts';
import { waitUntil } from '../support/waiting.ts';

// A separate cluster, which the tests stop.
let cluster: Cluster;
let stage: Stage;
let service: Service;
let key: string;
let session: string;
beforeAll(async () => {
  cluster = await createCluster();
  stage = await openStage({ seesOutages: true, clusterUrl: cluster.url('postgres') });
  service = await stage.start();
  const { client } = await signInDeveloper(stage, service);
  session = client.cookies.get('sid') ?? '';
  key = (await client.post('/api/api-keys', { name: 'Assistant', environment: 'live' })).json.key;
});
afterAll(async () => {
  await cluster.thaw();
  await stage.close();
  await cluster.remove();
});

const REFERENCE = /The reference number is ([0-9a-f]{32})\./;
const headers = { Accept: 'application/json, text/event-stream' };
const serves = async () => (await service.client().get('/readyz')).status === 200;

test('without the database a tool returns a reference number that is in the log, and no internal details', async () => {
  const client = await generations['sdk 1.x'](service.url);
  const known = await generations['client 2.x'](service.url, key);
  const register = () => callTool(client, 'register_domain', { domain: freshDomain(), email: freshAddress('owner') });
  await cluster.kill();
  try {
    for (const { failed } of [
      await register(),
      await callTool(client, 'verify_token', { token: 'x'.repeat(43), domain: 'shop.example' }),
    ]) {
      expect(failed).toMatch(/temporarily unavailable/);
      await expectKnownInLog(failed ?? '');
    }
    // The cache of keys lasts a second. After that the key cannot be checked, which must not count as an invalid key.
    const list = () =>
      service.client().post('/mcp', { jsonrpc: '2.0', id: 1, method: 'tools/list' }, { ...headers, Authorization: `Bearer ${key}` });
    await waitUntil('the key is forgotten', 30_000, async () => (await list()).status !== 200 || 'it is known');
    const refused = await list();
    expect([refused.status, Number(refused.headers['retry-after']) > 0, refused.headers['www-authenticate']]).toEqual([
      503,
      true,
      undefined,
    ]);
    await expectKnownInLog(refused.json.error.message);
    await expectResourcesToKeepSilent(client);
    // Tools without the database still work.
    expect((await callTool(client, 'list_frameworks')).failed).toBeNull();
  } finally {
    await cluster.start();
  }
  await waitUntil('the service serves again', 30_000, serves);
  expect((await register()).failed).toBeNull();
  expect((await callTool(known, 'list_sites')).failed).toBeNull();
  await Promise.all([client.close(), known.close()]);
});

test('a frozen database delays a response no longer than over the API', async () => {
  await cluster.freeze();
  try {
    const ask = {
      jsonrpc: '2.0',
      id: 1,
      method: 'tools/call',
      params: { name: 'register_domain', arguments: { domain: freshDomain(), email: freshAddress() } },
    };
    const [anonymous, known] = await Promise.all([
      service.client().post('/mcp', ask, headers),
      service.client().post('/mcp', ask, { ...headers, Authorization: `Bearer ${session}` }),
    ]);
    expect([anonymous.status, anonymous.json.result?.isError]).toEqual([200, true]);
    expect(known.status).toBe(503);
  } finally {
    await cluster.thaw();
  }
  await waitUntil('the service serves again', 30_000, serves);
});

test('a client that disconnects during a call does not delay the stop of the service', async () => {
  const leaving = await stage.start();
  await cluster.freeze();
  try {
    const body = JSON.stringify({
      jsonrpc: '2.0',
      id: 1,
      method: 'tools/call',
      params: { name: 'register_domain', arguments: { domain: freshDomain(), email: freshAddress() } },
    });
    await Promise.all(
      Array.from({ length: 20 }, async () => {
        const sent = request({
          port: leaving.port,
          path: '/mcp',
          method: 'POST',
          headers: { ...headers, Host: 'localhost', 'Content-Type': 'application/json' },
        });
        sent.on('error', () => {});
        await new Promise<void>((resolve) => sent.end(body, resolve));
        sent.destroy();
      }),
    );
  } finally {
    await cluster.thaw();
  }
  expect((await leaving.client().get('/healthz')).status).toBe(200);
  expect(await leaving.stop()).toBe(0);
  expect(leaving.output()).not.toMatch(/"level":(50|60)[^\n]*"err":(?!.*(timeout|terminat))/i);
});

async function expectKnownInLog(text: string): Promise<void> {
  expect(text).not.toMatch(/ at .*\.[cm]?[jt]s|node_modules|select |insert |ECONN|postgres|\/tmp\//i);
  const [, reference] = REFERENCE.exec(text) ?? [];
  expect([text, reference]).toEqual([text, expect.anything()]);
  await waitUntil('the log has the reference number', 30_000, () => service.output().includes(reference as string));
}

async function expectResourcesToKeepSilent(client: McpClient): Promise<void> {
  const words = await client.readResource({ uri: 'emailauth://sites/shop.example' }).then(
    () => '',
    (error) => String(error.message),
  );
  expect(words).not.toMatch(/ at .*\.[cm]?[jt]s|node_modules|select |ECONN|postgres/i);
}
