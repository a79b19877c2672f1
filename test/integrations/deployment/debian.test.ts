// A stage of its own: its service runs behind the proxies of Debian.
import { spawnSync } from 'node:child_process';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { RATE_LIMITS } from '../../../contract/rate-limits.ts';
import { hasOpenssl, openAuthority } from '../../support/certificates.ts';
import { Client } from '../../support/client.ts';
import { hasHaproxy, startHaproxy } from '../../support/haproxy.ts';
import { openStage, type Service, type Stage } from '../../support/harness.ts';
import { pngOfBytes } from '../../support/images.ts';
import { hasProxy, startProxy } from '../../support/proxies.ts';
import { signInDeveloper } from '../../support/sign-ins.ts';
import { freePort } from '../../support/waiting.ts';

let stage: Stage;
beforeAll(async () => {
  stage = await openStage();
});
afterAll(() => stage.close());

describe.each(['nginx', 'caddy'] as const)('behind %s', (name) => {
  if (!hasProxy(name)) console.warn(`\n!! The test with ${name} is skipped: on Debian, apt-get install nginx-core caddy\n`);
  test.skipIf(!hasProxy(name))('sign-ins and uploads work, and limits count the address that the proxy reports', async () => {
    const [port, servicePort] = [await freePort(), await freePort()];
    const url = `http://localhost:${port}`;
    const service = await stage.start({ NODE_ENV: 'production', PORT: String(servicePort), PUBLIC_URL: url, TRUST_PROXY: '1' });
    // Both proxies have the same address.
    await stage.query('delete from rate_limits');
    const end = await startProxy(name, 'operations.md', port, {
      '127.0.0.1:4400': `127.0.0.1:${servicePort}`,
      'auth.example.com {': `${url} {\n\tbind 127.0.0.1`,
    });
    try {
      await expectToWork(service, () => new Client(url));
    } finally {
      await end();
      await service.stop();
    }
  });
});

/** Signs a developer in and uploads an icon through a proxy, and checks that a forged address does not avoid the limits. */
async function expectToWork(service: Service, open: () => Client): Promise<void> {
  const proxied: Service = { ...service, client: open };
  const { client } = await signInDeveloper(stage, proxied);
  const { uploadURL } = (await client.post('/api/objects/upload')).json;
  const headers = { 'Content-Type': 'image/png' };
  expect((await client.send(uploadURL, { method: 'PUT', body: pngOfBytes(4_900_000), headers })).status).toBe(200);
  const statuses: number[] = [];
  for (let n = 0; n <= RATE_LIMITS.failed_verify.points; n++) {
    statuses.push((await client.get('/api/verify-token?token=x', { 'X-Forwarded-For': `192.0.2.${n}` })).status);
  }
  expect([statuses.at(0), statuses.at(-1)]).toEqual([200, 429]);
}

if (!hasHaproxy || !hasOpenssl) console.warn('\n!! The test with HAProxy is skipped: on Debian, apt-get install haproxy openssl\n');
test.skipIf(!hasHaproxy || !hasOpenssl)(
  'behind HAProxy with TLS, sign-ins and uploads work, and limits count the address that it reports',
  async () => {
    const authority = await openAuthority();
    const { key, cert } = await authority.issue('localhost', 30);
    const servicePort = await freePort();
    // The documented configuration has two servers.
    const haproxy = await startHaproxy({ a: servicePort, b: servicePort }, cert + key);
    const url = `https://localhost:${haproxy.port}`;
    const service = await stage.start({ NODE_ENV: 'production', PORT: String(servicePort), PUBLIC_URL: url, TRUST_PROXY: '1' });
    await stage.query('delete from rate_limits');
    try {
      await haproxy.bothUp();
      const ca = await readFile(authority.file, 'utf8');
      await expectToWork(service, () => new Client(url, ca));
    } finally {
      await haproxy.stop();
      await service.stop();
      await authority.close();
    }
  },
);

const unit = join(import.meta.dirname, '../../../server/deploy/emailauth.service');
const hasSystemd = spawnSync('systemd-analyze', ['--version']).status === 0;
if (!hasSystemd) console.warn('\n!! The test of the systemd unit is skipped: on Debian, apt-get install systemd\n');

test.skipIf(!hasSystemd)('the systemd unit has an exposure level of at most 2.0', () => {
  const { status, stdout } = spawnSync('systemd-analyze', ['security', '--offline=true', '--threshold=20', unit], { encoding: 'utf8' });
  expect([status, stdout.split('\n').findLast((line) => line.includes('Overall exposure level'))]).toEqual([0, expect.anything()]);
});
