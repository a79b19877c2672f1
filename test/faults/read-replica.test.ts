import { isDeepStrictEqual } from 'node:util';
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { Output } from '../../contract/routes.ts';
import { openStage, type Service, type Stage } from '../harness.ts';
import { hasPgBouncer, startPgBouncer } from '../pgbouncer.ts';
import { type Cluster, createCluster, query } from '../postgres.ts';
import { type Developer, freshAddress, freshDomain, signInDeveloper, visitorToken } from '../sign-ins.ts';
import { waitUntil } from '../waiting.ts';

// The tests run in order: the last ones stop the standby.
let primary: Cluster;
let standby: Cluster;
let stage: Stage;
let readUrl: string;
let service: Service;
let owner: Developer;
let website: Output<'createWebsite'>;
beforeAll(async () => {
  primary = await createCluster();
  standby = await primary.createStandby();
  stage = await openStage({ clusterUrl: primary.url('postgres') });
  readUrl = standby.url(new URL(stage.databaseUrl).pathname.slice(1));
  service = await stage.start({ DATABASE_READ_URL: readUrl });
  owner = await signInDeveloper(stage, service);
  website = await addSite();
}, 120_000);
afterAll(async () => {
  await stage.close();
  await Promise.all([standby.remove(), primary.remove()]);
});

const addSite = async () => (await owner.client.post('/api/websites', { domain: freshDomain() })).json as Output<'createWebsite'>;
const signIn = (email = freshAddress('visitor')) => visitorToken(stage, service.client(), website.domain, email).then(() => email);
const get = async <Result>(path: string, { client } = owner): Promise<Result> => {
  const response = await client.get(path);
  expect([path, response.status, response.status === 200 ? '' : response.text]).toEqual([path, 200, '']);
  return response.json as Result;
};
const history = (id = website.id) => get<Output<'websiteHistory'>>(`/api/websites/${id}/stats?days=30`);
const openedOf = async (id: string) => (await get<Output<'websiteStats'>>('/api/websites/figures')).find((site) => site.id === id)?.opened;
const logins = async () => (await get<Output<'overview'>>('/api/overview')).totalLogins;
const visitors = async () => {
  const { json } = await owner.client.post(`/api/websites/${website.id}/visitors/export`);
  return (json as Output<'exportVisitors'>).visitors.map(({ email }) => email);
};
const logged = async () =>
  (await get<Output<'websiteLog'>>(`/api/websites/${website.id}/log`)).events.filter(({ kind }) => kind === 'opened');
const [UNREACHABLE, LAGGING] = [
  /DATABASE_READ_URL \(127\.0\.0\.1:\d+\/test_\w+\) cannot be used \(/g,
  /is more than 60 s behind; statistics are read from DATABASE_URL/g,
];
/** A failure that is not a time-out, which a busy machine can cause. */
const FAILED = /DATABASE_READ_URL .* cannot be used \((?!57014|.*timeout).*/;
const count = (lines: RegExp, of = service) => of.output().match(lines)?.length ?? 0;

/** Returns the number of connections for reading at a server. */
const readersAt = async (cluster: Cluster, name = 'emailauth-read') =>
  Number((await query(cluster.url('postgres'), 'select count(*) from pg_stat_activity where application_name = $1', [name]))[0].count);

/**
 * Repeats a request until the standby is read: after a slow response, the service reads from the primary for some seconds.
 * @param check whether the response is one of the standby
 */
async function readsStandby(check: () => Promise<boolean>, name?: string) {
  await waitUntil('the standby is read', 30_000, async () => (await check()) && (await readersAt(standby, name)) > 0);
  // The connection that asked the primary for its role may still be closing; one that reads stays open for a minute.
  await waitUntil('the primary is not read', 30_000, async () => (await readersAt(primary, name)) === 0);
}

async function replayed() {
  const [{ lsn }] = await query(primary.url('postgres'), 'select pg_current_wal_flush_lsn()::text as lsn');
  await waitUntil('the standby has replayed everything', 30_000, async () => {
    const [{ done }] = await query(standby.url('postgres'), 'select pg_last_wal_replay_lsn() >= $1::pg_lsn as done', [lsn]);
    return done === true;
  });
}

async function pause() {
  await query(standby.url('postgres'), 'select pg_wal_replay_pause()');
  await waitUntil('the replay is paused', 30_000, async () => {
    const [{ state }] = await query(standby.url('postgres'), 'select pg_get_wal_replay_pause_state() as state');
    return state === 'paused' || String(state);
  });
}

test('reads statistics from the replica, and what must be current from the primary while the replica is behind', {
  timeout: 60_000,
}, async () => {
  const before = await signIn();
  await replayed();
  await readsStandby(async () => (await history()).total.opened === 1);
  const total = await logins();

  await pause();
  const after = await signIn();
  // The statistics are those of the replica …
  await readsStandby(async () =>
    isDeepStrictEqual([(await history()).total.opened, await openedOf(website.id), await logins()], [1, 1, total]),
  );
  // … and exports, the log, and all that was just added those of the primary.
  expect((await visitors()).sort()).toEqual([before, after].sort());
  expect((await logged()).map(({ email }) => email)).toEqual([after, before]);
  const added = await addSite();
  expect((await history(added.id)).total.opened).toBe(0);
  expect(await openedOf(added.id)).toBe(0);
  const { activeApplications } = await get<Output<'overview'>>('/api/overview');
  const created = await owner.client.post('/api/clients', { name: 'Shop', redirectUris: ['https://shop.example/callback'] });
  expect([created.status, created.text]).toEqual([200, expect.anything()]);
  expect((await get<Output<'overview'>>('/api/overview')).activeApplications).toBe(activeApplications + 1);
  // A website that was just given up is not found, though the replica still has it.
  await stage.query("update websites set email = 'other@mail.example' where id = $1", [added.id]);
  expect((await owner.client.get(`/api/websites/${added.id}/stats?days=30`)).status).toBe(404);
  expect([service.output().match(FAILED), count(LAGGING)]).toEqual([null, 0]);
});

test('reads from the primary once the replica is more than 60 s behind, with one log line, and from the replica when it has caught up', {
  timeout: 180_000,
}, async () => {
  await waitUntil('the primary is read', 120_000, async () => (await history()).total.opened === 2);
  for (let call = 0; call < 5; call++) expect((await history()).total.opened).toBe(2);
  await waitUntil('the log has the line', 30_000, async () => count(LAGGING) === 1);
  expect((await service.client().get('/readyz')).status).toBe(200);

  await query(standby.url('postgres'), 'select pg_wal_replay_resume()');
  await replayed();
  // Statements on the replica are visible in its activity, with the time of the newest one.
  const [{ now }] = await query(standby.url('postgres'), 'select clock_timestamp() as now');
  await waitUntil('the replica is read again', 30_000, async () => {
    expect((await history()).total.opened).toBe(2);
    const newest = "select count(*) from pg_stat_activity where application_name = 'emailauth-read' and query_start > $1";
    return Number((await query(standby.url('postgres'), newest, [now]))[0].count) > 0;
  });
  await pause();
  await signIn();
  // A busy replica is replaced by the primary, which has the new sign-in, for some seconds.
  await waitUntil('the replica is read', 30_000, async () => (await history()).total.opened === 2);
  await query(standby.url('postgres'), 'select pg_wal_replay_resume()');
  await replayed();
});

test('reads the activity of an account and the log of an application from the replica, with what was just done', {
  timeout: 60_000,
}, async () => {
  const url = new URL(readUrl);
  url.searchParams.set('application_name', 'activity');
  const other = await stage.start({ DATABASE_READ_URL: url.href });
  const client = other.client();
  client.cookies = new Map(owner.client.cookies);
  const actions = async () => (await get<Output<'auditLogs'>>('/api/audit-logs?limit=3', { ...owner, client })).map(({ action }) => action);
  const saveProfile = async (name: string) => expect((await client.put('/api/user/profile', { name })).status).toBe(200);
  await saveProfile('First');
  expect((await actions())[0]).toBe('profile_changed');
  expect((await get<Output<'auditLogs'>>('/api/audit-logs?action=profile', { ...owner, client })).length).toBe(1);
  const key = (await client.post('/api/api-keys', { name: 'a key', environment: 'live' })).json as Output<'createApiKey'>;
  const calls = async () => (await get<Output<'apiKeyUsage'>>(`/api/api-keys/${key.id}/usage`, { ...owner, client })).total;
  const counted = () => query(stage.databaseUrl, 'select calls from api_key_days where api_key = $1', [key.id]);
  await replayed();
  await readsStandby(async () => (await calls()) === 0, 'activity');

  await pause();
  await other.client().get('/api/websites', { Authorization: `Bearer ${key.key}` });
  await waitUntil('the call is counted', 30_000, async () => (await counted()).length === 1);
  // The usage of a key is that of the replica, and the list has the change that the replica does not have.
  await readsStandby(async () => (await calls()) === 0, 'activity');
  await saveProfile('Second');
  expect((await actions()).slice(0, 2)).toEqual(['profile_changed', 'api_key_created']);
  await query(standby.url('postgres'), 'select pg_wal_replay_resume()');
  await replayed();
  expect(await calls()).toBe(1);
  expect(other.output()).not.toMatch(FAILED);
  await other.stop();
});

test.skipIf(!hasPgBouncer)('reads from a replica behind PgBouncer in transaction mode', { timeout: 90_000 }, async () => {
  const bouncer = await startPgBouncer(standby.url('postgres'), 'transaction', { default_pool_size: 2 });
  const other = await stage.start({ DATABASE_READ_URL: bouncer.url(readUrl) });
  const client = other.client();
  client.cookies = new Map(owner.client.cookies);
  const opened = async () =>
    (await get<Output<'websiteHistory'>>(`/api/websites/${website.id}/stats?days=30`, { ...owner, client })).total.opened;
  const before = (await history()).total.opened;
  await replayed();
  await pause();
  await signIn();
  // More requests at once than PgBouncer has connections.
  await waitUntil('all requests read from the replica', 30_000, async () =>
    (await Promise.all(Array.from({ length: 12 }, opened))).every((result) => result === before),
  );
  const paths = ['/api/audit-logs', `/api/websites/${website.id}/log`, `/api/websites/${website.id}/visitors`, '/api/status'];
  for (const path of paths) await get(path, { ...owner, client });
  await query(standby.url('postgres'), 'select pg_wal_replay_resume()');
  await replayed();
  expect(await opened()).toBe(before + 1);
  expect(other.output()).not.toMatch(FAILED);
  await other.stop();
  await bouncer.stop();
});

test('reads from the standby when DATABASE_READ_URL lists several servers', { timeout: 60_000 }, async () => {
  const several = new URL(stage.databaseUrl);
  several.searchParams.set('host', '127.0.0.1,127.0.0.1');
  several.searchParams.set('application_name', 'several');
  several.searchParams.set('port', `${several.port},${new URL(readUrl).port}`);
  const other = await stage.start({ DATABASE_READ_URL: several.href });
  const client = other.client();
  client.cookies = new Map(owner.client.cookies);
  await readsStandby(async () => (await get<Output<'overview'>>('/api/overview', { ...owner, client })).totalLogins > 0, 'several');
  await other.stop();
});

test('reads from the primary while the replica does not respond, and while it cannot be reached', { timeout: 120_000 }, async () => {
  const { opened } = (await history()).total;
  await standby.freeze();
  expect((await history()).total.opened).toBe(opened);
  await standby.thaw();
  await standby.kill();
  await signIn();
  for (let call = 0; call < 3; call++) expect((await history()).total.opened).toBe(opened + 1);
  expect((await visitors()).length).toBe(opened + 1);
  expect((await logged()).length).toBe(opened + 1);
  expect((await service.client().get('/readyz')).status).toBe(200);

  const started = await stage.start({ DATABASE_READ_URL: readUrl, WORKERS: '1' });
  const client = started.client();
  client.cookies = new Map(owner.client.cookies);
  for (let call = 0; call < 3; call++) await get('/api/overview', { ...owner, client });
  await started.stop();
  expect(count(UNREACHABLE, started)).toBe(1);
  expect(started.output()).toContain('(ECONNREFUSED)');
});
