// A stage of its own: its instances start at once and are replaced.
import { afterAll, beforeAll, expect, test } from 'vitest';
import { openStage, type Service, type Stage } from '../support/harness.ts';
import { addWebsite, freshAddress, openLink, requestEmail, tokenOf, visitorToken } from '../support/sign-ins.ts';
import { openSlowConnections } from '../support/slow-connections.ts';
import { freePort, repeatUntilEnded, waitUntil } from '../support/waiting.ts';
import { inRun } from './full-run.ts';

let stage: Stage;
beforeAll(async () => {
  stage = await openStage({ seesOutages: true });
});
afterAll(() => stage.close());

test('five instances start concurrently on an empty database and apply each migration once', {
  timeout: inRun({ short: 240_000, full: 900_000 }),
}, async () => {
  for (let i = 0; i < inRun({ short: 3, full: 20 }); i++) {
    const empty = await openStage({ seesOutages: true, empty: true });
    try {
      const services = await Promise.all(Array.from({ length: 5 }, () => empty.start()));
      const tables = await empty.query(
        "select table_name as name from information_schema.tables where table_name like '%migration%' and table_schema = 'public'",
      );
      expect(tables).toHaveLength(1);
      const names = (await empty.query(`select * from ${tables[0].name}`)).map((row) => JSON.stringify(row.name));
      expect(names.length).toBeGreaterThan(0);
      expect(new Set(names).size).toBe(names.length);
      // On a busy machine the first self-check may fail.
      for (const service of services) expect(service.output()).not.toMatch(/"level":(50|60)(?!.*a probe failed)/);
    } finally {
      await empty.close();
    }
  }
});

test('SIGTERM finishes requests in progress, refuses new ones and exits with 0', async () => {
  const service = await stage.start();
  const clients = Array.from({ length: 50 }, () => service.client());
  await Promise.all(clients.map((client) => client.get('/healthz')));
  const responses = clients.map((client) => client.get('/api/verify-token?token=nothing'));
  await Promise.race(responses);
  expect(await service.stop()).toBe(0);
  for (const { status } of await Promise.all(responses)) expect(status).toBe(200);
  await expect(service.client().get('/healthz')).rejects.toThrow(/ECONNREFUSED/);
});

test('a rolling restart of three instances under load fails no request', { timeout: 240_000 }, async () => {
  const ports = await Promise.all([freePort(), freePort(), freePort()]);
  const settings = (i: number) => ({ PORT: String(ports[i]), PUBLIC_URL: 'http://localhost:1' });
  const instances: (Service | null)[] = await Promise.all(ports.map((_, i) => stage.start(settings(i))));
  const failures: unknown[] = [];
  let sent = 0;
  const inFlight = new Map<Service, number>();
  let step = 'all are up';
  // On a busy machine a request may time out while it waits for PostgreSQL, whatever restarts; such a 503 is repeated twice.
  const sendThrice = async (service: Service): Promise<number> => {
    for (let attempt = 1; ; attempt++) {
      const { status } = await service.client().get('/api/verify-token?token=nothing');
      if (status !== 503 || attempt === 3) return status;
    }
  };
  // Like a load balancer: a new connection for each request, to a running instance; an instance is removed before it stops.
  const send = async () => {
    const service = instances.filter((instance) => instance !== null)[sent++ % 2];
    inFlight.set(service, (inFlight.get(service) ?? 0) + 1);
    await sendThrice(service).then(
      (status) => status < 500 || failures.push(`${step}: ${status}`),
      (error) => failures.push(`${step}: ${error.message}`),
    );
    inFlight.set(service, (inFlight.get(service) ?? 0) - 1);
  };
  const load = Array.from({ length: 4 }, () => repeatUntilEnded(send));
  for (let i = 0; i < ports.length; i++) {
    const leaving = instances[i] as Service;
    instances[i] = null;
    await waitUntil('its requests are finished', 30_000, () => !inFlight.get(leaving));
    step = `${ports[i]} stops`;
    expect(await leaving.stop()).toBe(0);
    step = `${ports[i]} starts`;
    instances[i] = await stage.start(settings(i));
    step = `${ports[i]} is back`;
  }
  await waitUntil('enough requests were sent', 60_000, () => sent > 200);
  await Promise.all(load.map((end) => end()));
  expect(failures).toEqual([]);
});

test('invalid settings are all reported at once with remedies, and the service does not start', async () => {
  const start = stage.start({
    NODE_ENV: 'production',
    PUBLIC_URL: 'https://login.example',
    SECRET_KEY: 'short',
    ADMIN_PASSWORD: 'short',
    SMTP_URL: '',
    TRUST_PROXY: 'x',
  });
  const error = await start.then(
    () => null,
    (reason: Error) => reason,
  );
  for (const name of ['SECRET_KEY', 'ADMIN_PASSWORD', 'SMTP_URL', 'TRUST_PROXY']) expect(error?.message).toContain(name);
});

test.each([65, -65])('a clock that is %d minutes off at one instance does not change expiry', async (minutes) => {
  const right = await stage.start();
  const shift = `const now = Date.now; Date.now = () => now() + ${minutes * 60_000}; const D = Date;
    globalThis.Date = class extends D { constructor(...given) { if (given.length) super(...given); else super(D.now()); } };`;
  const off = await stage.start({ PUBLIC_URL: right.url, NODE_OPTIONS: `--import=data:text/javascript,${encodeURIComponent(shift)}` });
  const shop = await addWebsite(stage, right);
  const [client, email] = [off.client(), freshAddress()];
  await requestEmail(client, email, `https://${shop}/`);
  const [attempt] = await stage.query('select extract(epoch from expires_at - now())::int as life from sign_in_attempts where email = $1', [
    email,
  ]);
  expect(Math.abs(Number(attempt.life) - 600)).toBeLessThan(60);
  const mail = await stage.mailbox.waitFor(email);
  const there = right.client();
  there.cookies = client.cookies;
  const token = tokenOf(await openLink(there, mail));
  expect((await off.client().get(`/api/verify-token?token=${token}`)).json).toMatchObject({ valid: true });
  expect((await right.client().get(`/api/verify-token?token=${await visitorToken(stage, off.client(), shop)}`)).json.valid).toBe(true);
  await Promise.all([right.stop(), off.stop()]);
});

test('1,000 slow connections do not keep other requests from their response', async () => {
  const service = await stage.start();
  const slow = await openSlowConnections(service.port, 1000);
  expect((await service.client().get('/api/verify-token?token=nothing')).status).toBe(200);
  for (const socket of slow) socket.destroy();
  expect(await service.stop()).toBe(0);
});

test('two worker processes serve as one instance and leave no process behind', async () => {
  const service = await stage.start({ WORKERS: '2' });
  const shop = await addWebsite(stage, service);
  for (let i = 0; i < 10; i++) {
    const token = await visitorToken(stage, service.client(), shop);
    expect((await service.client().get(`/api/verify-token?token=${token}`)).json.valid).toBe(true);
    expect((await service.client().get(`/api/verify-token?token=${token}`)).json.reason).toBe('used');
  }
  expect(await service.stop()).toBe(0);
  await expect(service.client().get('/healthz')).rejects.toThrow(/ECONNREFUSED/);
});
