// A stage of its own: its primary is replaced by a standby.
import { execa } from 'execa';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { openHome } from '../cli/command.ts';
import type { Client } from '../support/client.ts';
import { openStage, type Service, type Stage } from '../support/harness.ts';
import { type Cluster, createCluster, query } from '../support/postgres.ts';
import { entry } from '../support/program.ts';
import { openRelay, type Relay, throughRelay } from '../support/relay.ts';
import { addWebsite, freshAddress, signInDeveloper } from '../support/sign-ins.ts';
import { freePort, repeatUntilEnded, waitUntil } from '../support/waiting.ts';
import { waitWithin } from './full-run.ts';

/** How soon the service must serve again after a promotion. */
const RECOVERY_MS = 5_000;
/** How soon /readyz must report a read-only server. */
const DETECTION_MS = 2_000;

// The tests run in order: the standby of the first ones is the primary of the last one.
let primary: Cluster;
let standby: Cluster;
let relay: Relay;
let stage: Stage;
let relayedUrl: string;
beforeAll(async () => {
  primary = await createCluster();
  standby = await primary.createStandby();
  await query(primary.url('postgres'), "alter system set synchronous_standby_names = '*'");
  await query(primary.url('postgres'), 'select pg_reload_conf()');
  await waitUntil('the standby is synchronous', 60_000, async () => {
    const [found] = await query(primary.url('postgres'), 'select sync_state from pg_stat_replication');
    return found?.sync_state === 'sync' || JSON.stringify(found);
  });
  relay = await openRelay(portOf(primary));
  stage = await openStage({ seesOutages: true, clusterUrl: primary.url('postgres') });
  relayedUrl = throughRelay(stage.databaseUrl, relay);
}, 120_000);
afterAll(async () => {
  await stage.close();
  await relay.close();
  await Promise.all([standby.remove(), primary.remove()]);
});

const portOf = (cluster: Cluster) => Number(new URL(cluster.url('postgres')).port);
const onStandby = (sql: string) => query(Object.assign(new URL(stage.databaseUrl), { port: String(portOf(standby)) }).href, sql);
const requestEmail = (service: Service, domain: string, email = freshAddress()) =>
  service.client().post('/api/auth/domain-auth', { email, forward_url: `https://${domain}/` });
const ping = (service: Service) => () => service.client().get('/healthz');
const readiness = async (service: Service) => {
  const { status, json } = await service.client().get('/readyz');
  return { status, database: json.missing?.find(({ name }: { name: string }) => name === 'database')?.detail };
};

/** Waits until sign-ins and the portal work on the promoted server, and stops the service. */
async function expectRecovery(service: Service, client: Client, domain: string, newDomain: string): Promise<void> {
  const accepted = async () => (await requestEmail(service, domain)).status === 200;
  await waitWithin('sign-ins succeed again', RECOVERY_MS, ping(service), accepted);
  await waitWithin('/readyz returns 200', RECOVERY_MS, ping(service), async () => (await readiness(service)).status === 200);
  expect((await client.post('/api/websites', { domain: newDomain })).status).toBe(200);
  expect(await service.stop()).toBe(0);
}

/** Returns what `emailauth start` writes when it does not start. */
async function startFailure(databaseUrl: string): Promise<string> {
  const { stderr, exitCode } = await execa(process.execPath, [entry, 'start'], {
    env: {
      PATH: process.env.PATH,
      DATA_DIR: stage.dataDir,
      DATABASE_URL: databaseUrl,
      PORT: String(await freePort()),
      LOG_LEVEL: 'silent',
    },
    extendEnv: false,
    reject: false,
    timeout: 50_000,
  });
  return `${exitCode}: ${stderr}`;
}

test('returns 503 with the cause from /readyz and for sign-ins while the server is read-only, and recovers without a restart', {
  timeout: 90_000,
}, async () => {
  const service = await stage.start();
  const domain = await addWebsite(stage, service);
  const { client } = await signInDeveloper(stage, service);
  const setReadOnly = async (to: 'on' | 'off') => {
    await query(primary.url('postgres'), `alter system set default_transaction_read_only = ${to}`);
    await query(primary.url('postgres'), 'select pg_reload_conf()');
  };
  await setReadOnly('on');
  try {
    await waitWithin('/readyz returns 503', DETECTION_MS, ping(service), async () => (await readiness(service)).status === 503);
    expect(await readiness(service)).toEqual({ status: 503, database: 'The server is read-only: default_transaction_read_only is on' });
    const responses = [
      await requestEmail(service, domain),
      await client.post('/api/websites', { domain: 'read-only.example' }),
      await service.client().post('/api/websites/register', { domain: 'read-only.example', email: freshAddress() }),
    ];
    for (const { status, json } of responses) expect([status, json.code]).toEqual([503, 'unavailable']);
    expect((await service.client().get(`/api/websites/domain/${domain}`)).status).toBe(200);
  } finally {
    await setReadOnly('off');
  }
  await waitWithin('/readyz returns 200', RECOVERY_MS, ping(service), async () => (await readiness(service)).status === 200);
  expect((await requestEmail(service, domain)).status).toBe(200);
  expect((await client.post('/api/websites', { domain: 'writable.example' })).status).toBe(200);
  expect(await service.stop()).toBe(0);
});

test('does not start on a read-only server, and reports the cause and a remedy', { timeout: 90_000 }, async () => {
  const name = new URL(stage.databaseUrl).pathname.slice(1);
  const url = Object.assign(new URL(standby.url(name)), { port: String(portOf(standby)) }).href;
  await query(primary.url('postgres'), 'create database readonly');
  await query(primary.url('postgres'), 'alter database readonly set default_transaction_read_only = on');
  const [onStandbyServer, onReadOnly] = await Promise.all([startFailure(url), startFailure(primary.url('readonly'))]);
  expect(onStandbyServer).toMatch(/^1: PostgreSQL at \S+ is read-only: it is a standby\. Promote it, or .* primary in DATABASE_URL\.$/m);
  expect(onReadOnly).toMatch(
    /^1: PostgreSQL at \S+ is read-only: default_transaction_read_only is on\. Turn it off .* in DATABASE_URL\.$/m,
  );
  const home = await openHome('http://localhost:1');
  const ran = await home.run(['db', 'migrate', '--json'], { env: { DATABASE_URL: primary.url('readonly') } });
  expect(ran.json().error.message).toMatch(/is read-only: default_transaction_read_only is on/);
  await home.close();
});

test('moves all connections from a demoted primary to the promoted one and loses no acknowledged sign-in', {
  timeout: 120_000,
}, async () => {
  const service = await stage.start({ DATABASE_URL: relayedUrl });
  const domain = await addWebsite(stage, service);
  const { client } = await signInDeveloper(stage, service);
  // Opens connections of every pool.
  await Promise.all(Array.from({ length: 8 }, (_, i) => (i % 2 ? client.get('/api/websites') : requestEmail(service, domain))));

  const acknowledged: string[] = [];
  const statuses = new Set<number>();
  const request = async () => {
    const email = freshAddress();
    const { status } = await requestEmail(service, domain, email);
    statuses.add(status);
    if (status === 200) acknowledged.push(email);
  };
  const load = Array.from({ length: 4 }, () => repeatUntilEnded(request));
  await waitUntil('sign-ins succeed', 60_000, () => acknowledged.length > 20);
  await query(primary.url('postgres'), 'alter system set default_transaction_read_only = on');
  await query(primary.url('postgres'), 'select pg_reload_conf()');
  await waitWithin('/readyz returns 503', DETECTION_MS, ping(service), async () => (await readiness(service)).status === 503);
  await query(standby.url('postgres'), "alter system set synchronous_standby_names = ''");
  await query(standby.url('postgres'), 'select pg_promote()');
  const before = acknowledged.length;
  relay.switchTo(portOf(standby));
  await waitWithin('sign-ins succeed again', RECOVERY_MS, ping(service), () => acknowledged.length > before);
  await waitWithin('/readyz returns 200', RECOVERY_MS, ping(service), async () => (await readiness(service)).status === 200);
  await Promise.all(load.map((end) => end()));

  expect([...statuses].filter((status) => status !== 200 && status !== 503)).toEqual([]);
  const kept = new Set((await onStandby('select email from sign_in_attempts')).map(({ email }) => email));
  expect(acknowledged.filter((email) => !kept.has(email))).toEqual([]);
  expect((await client.post('/api/websites', { domain: 'promoted.example' })).status).toBe(200);
  await waitUntil('all connections lead to the promoted server', 30_000, async () => {
    const rows = await onStandby("select distinct application_name as name from pg_stat_activity where application_name like 'emailauth%'");
    const names = rows.map(({ name }) => name).sort();
    return names.join() === 'emailauth,emailauth-core,emailauth-jobs,emailauth-serving' || names.join();
  });
  await waitWithin('the promoted server has the locks', RECOVERY_MS, ping(service), async () => {
    const locks = await onStandby("select from pg_locks where locktype = 'advisory' and mode = 'ShareLock' and granted");
    return locks.length > 0;
  });
  expect(await service.stop()).toBe(0);
});

test('continues with the promoted server after the primary freezes', { timeout: 120_000 }, async () => {
  const next = await standby.createStandby();
  const service = await stage.start({ DATABASE_URL: relayedUrl });
  const domain = await addWebsite(stage, service);
  const { client } = await signInDeveloper(stage, service);
  await Promise.all(Array.from({ length: 16 }, (_, i) => (i % 2 ? client.get('/api/websites') : requestEmail(service, domain))));
  await standby.freeze();
  try {
    expect((await requestEmail(service, domain)).status).toBe(503);
    await query(next.url('postgres'), 'select pg_promote()');
    relay.switchTo(portOf(next));
    await expectRecovery(service, client, domain, 'thawed.example');
  } finally {
    await standby.thaw();
    await next.remove();
  }
});

test('with several hosts in DATABASE_URL, uses the one that accepts writes and follows a promotion', { timeout: 120_000 }, async () => {
  const next = await standby.createStandby();
  try {
    const { pathname } = new URL(stage.databaseUrl);
    const hosts = [await freePort(), portOf(next), portOf(standby)].map((port) => `127.0.0.1:${port}`);
    const service = await stage.start({ DATABASE_URL: `postgres://postgres:postgres@${hosts}${pathname}?target_session_attrs=read-write` });
    const domain = await addWebsite(stage, service);
    const { client } = await signInDeveloper(stage, service);
    expect((await requestEmail(service, domain)).status).toBe(200);
    const home = await openHome('http://localhost:1');
    const ran = await home.run(['db', 'migrate'], { env: { DATABASE_URL: `postgres://postgres:postgres@${hosts}${pathname}` } });
    expect(ran.exitCode).toBe(0);
    await home.close();

    await standby.kill();
    await query(next.url('postgres'), 'select pg_promote()');
    await expectRecovery(service, client, domain, 'several-hosts.example');
  } finally {
    await next.remove();
  }
});
