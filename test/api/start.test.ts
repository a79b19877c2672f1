// A stage of its own: it has an embedded PostgreSQL in its data directory, which it kills.
import { readdir, readFile, stat } from 'node:fs/promises';
import { totalmem } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest';
import { readPostmaster } from '../../server/operations/embedded/cluster.ts';
import { openStage, type Service, type Stage } from '../support/harness.ts';
import { query } from '../support/postgres.ts';
import { freshAddress, requestEmail, tokenOf } from '../support/sign-ins.ts';
import { freePort, waitUntil } from '../support/waiting.ts';

// As with `npm start`: no database, SMTP server or secret is configured.
const nothing = { DATABASE_URL: '', SMTP_URL: '', SECRET_KEY: '', MAIL_FROM: '' };
const GIGABYTE = 1024 ** 3;
let stage: Stage;
let port: string;
beforeAll(async () => {
  stage = await openStage();
  port = String(await freePort());
});
afterAll(async () => {
  await stage.close();
  for (const { pid } of await left()) process.kill(pid, 'SIGKILL');
});

const started: Service[] = [];
async function start(): Promise<Service> {
  const service = await stage.start({ ...nothing, PORT: port });
  started.push(service);
  return service;
}
// A data directory can be used by one service at a time, also after a failed test.
afterEach(async () => {
  await Promise.all(started.splice(0).map((service) => service.stop()));
});

/** Returns the processes whose command line has the data directory of this stage. */
async function left(): Promise<{ pid: number; command: string }[]> {
  const pids = (await readdir('/proc')).filter((name) => /^\d+$/.test(name));
  const commands = await Promise.all(pids.map((pid) => readFile(`/proc/${pid}/cmdline`, 'utf8').catch(() => '')));
  return pids
    .map((pid, i) => ({ pid: Number(pid), command: commands[i].replaceAll('\0', ' ') }))
    .filter(({ command }) => command.includes(stage.dataDir));
}

const untilAllEnded = () =>
  waitUntil('no process is left', 30_000, async () => {
    const processes = await left();
    return processes.length === 0 || JSON.stringify(processes);
  });

/** Signs a visitor in with the email in the development inbox. */
async function signIn(service: Service): Promise<string> {
  const [client, email] = [service.client(), freshAddress()];
  await requestEmail(client, email, 'http://localhost:5555/welcome');
  let link = '';
  await waitUntil('the email is in the inbox', 30_000, async () => {
    link = (await client.get(`/dev/inbox/messages.json?to=${email}`)).json[0]?.link ?? '';
    return link !== '';
  });
  const location = String((await client.get(link)).headers.location);
  const result = await service.client().get(`/api/verify-token?token=${tokenOf(location)}&domain=localhost`);
  expect(result.json).toMatchObject({ email, valid: true, domain: 'localhost' });
  return email;
}

/** Checks that the cache of the embedded PostgreSQL has a quarter of the memory. */
async function expectCache(): Promise<void> {
  const [port, password] = await Promise.all(
    ['postgres-port', 'postgres-password'].map((name) => readFile(join(stage.dataDir, name), 'utf8')),
  );
  const url = `postgres://emailauth:${password.trim()}@127.0.0.1:${port.trim()}/emailauth`;
  const [{ bytes }] = await query(url, "select setting::bigint * 8192 as bytes from pg_settings where name = 'shared_buffers'");
  const memory = Math.min(totalmem(), process.constrainedMemory() || totalmem());
  const expected = Math.min(2 * GIGABYTE, Math.max(GIGABYTE / 8, memory / 4));
  expect(Math.abs(Number(bytes) - expected)).toBeLessThan(1024 ** 2);
}

test('starts without settings, also where the port is in use, prints its URLs and signs a visitor in; SIGINT leaves no process', {
  timeout: 240_000,
}, async () => {
  const service = await start();
  for (const text of [service.url, '/demo', '/dev/inbox', 'dmin password'])
    await waitUntil(`the output has ${text}`, 30_000, () => service.output().includes(text) || service.output());
  await signIn(service);
  expect((await service.client().get('/demo')).status).toBe(200);
  expect((await left()).length).toBeGreaterThan(0);
  await expectCache();
  const second = await stage.start({ PORT: port });
  await waitUntil('the second service logs that its port is in use', 60_000, () => /in use/.test(second.output()) || second.output());
  service.signal('SIGINT');
  expect(await service.stop()).toBe(0);
  await untilAllEnded();
  const secrets = (await readdir(stage.dataDir, { recursive: true })).filter(
    (name) => /secret|password/i.test(name) && !/postgres|pg_/.test(name),
  );
  expect(secrets.length).toBeGreaterThan(0);
  for (const name of secrets) {
    const { mode } = await stat(join(stage.dataDir, name));
    expect([name, (mode & 0o777).toString(8)]).toEqual([name, '600']);
  }
});

test('takes over the embedded database with its data after a kill -9 of the service, and restarts it after one of PostgreSQL', {
  timeout: 240_000,
}, async () => {
  const first = await start();
  const [client, email] = [first.client(), freshAddress()];
  await requestEmail(client, email, 'http://localhost:5555/welcome');
  await first.kill();
  const second = await start();
  expect((await client.get(`/api/auth/attempt?email=${email}`)).json).toEqual({ status: 'waiting' });
  await signIn(second);
  const cluster = join(stage.dataDir, 'postgres');
  const killed = Number(readPostmaster(cluster)?.pid);
  process.kill(killed, 'SIGKILL');
  // A server starts only after the last process of the one before it has ended, which can still respond until then.
  await waitUntil('another PostgreSQL is ready', 60_000, () => {
    const { pid, ready } = readPostmaster(cluster) ?? { pid: killed, ready: false };
    return (ready && pid !== killed) || `process ${pid}, ready: ${ready}`;
  });
  await second.ready();
  await signIn(second);
  await second.stop();
  await untilAllEnded();
});
