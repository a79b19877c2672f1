// A stage of its own: its PostgreSQL changes addresses.
import { chmod, chown, mkdtemp, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import pg from 'pg';
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest';
import { type Authority, hasOpenssl, openAuthority } from '../support/certificates.ts';
import { openStage, type Service, type Stage } from '../support/harness.ts';
import { type Cluster, createCluster, createDatabase, query } from '../support/postgres.ts';
import { signInDeveloper } from '../support/sign-ins.ts';
import { waitUntil } from '../support/waiting.ts';

let cluster: Cluster;
let stage: Stage;
let service: Service | undefined;
beforeAll(async () => {
  cluster = await createCluster({ settings: { unix_socket_directories: '/tmp' } });
  stage = await openStage({ seesOutages: true, clusterUrl: cluster.url('postgres') });
}, 120_000);
afterEach(async () => {
  await service?.stop();
  service = undefined;
});
afterAll(async () => {
  await stage.close();
  await cluster.remove();
});

/** Starts a service and signs a developer in, so that all its kinds of connections are in use. */
async function serve(databaseUrl: string): Promise<void> {
  service = await stage.start({ DATABASE_URL: databaseUrl });
  const { client } = await signInDeveloper(stage, service);
  expect((await client.get('/api/websites')).status).toBe(200);
}

/** Returns what a service writes that does not start. */
async function refusal(databaseUrl: string): Promise<string> {
  const started: Service | Error = await stage.start({ DATABASE_URL: databaseUrl }).catch((error: Error) => error);
  if (started instanceof Error) return started.message;
  service = started;
  return 'It started.';
}

const urlOf = (changes: { pathname?: string; username?: string; search?: string }) =>
  Object.assign(new URL(stage.databaseUrl), changes).href;

test('the user, the socket and the name of a database are read as libpq reads them', async () => {
  const { port } = new URL(stage.databaseUrl);
  await query(stage.databaseUrl, 'create database "My%DB"');
  await serve(urlOf({ pathname: '/My%25DB' }));
  await service?.stop();
  await query(stage.databaseUrl, 'create database "a/b ü"');
  await serve(`postgres://postgres:postgres@/a%2Fb%20%C3%BC?host=/tmp&port=${port}`);
  expect(await query(urlOf({ pathname: '/My%25DB' }), 'select 1 from users')).toHaveLength(1);
  const users = await query(stage.databaseUrl, "select 1 from pg_stat_activity where datname = 'a/b ü' and client_port = -1");
  expect(users.length).toBeGreaterThan(3);
});

test.runIf(hasOpenssl)('sslmode means what it means in libpq, for every connection', async () => {
  const authority = await openAuthority();
  const folder = await mkdtemp(join(tmpdir(), 'emailauth-tls-'));
  try {
    const connections = (isEncrypted: boolean) =>
      query(
        stage.databaseUrl,
        `select application_name from pg_stat_ssl join pg_stat_activity using (pid)
         where datname = current_database() and application_name ~ '^emailauth(|-core|-jobs|-serving)$' and ssl = $1`,
        [isEncrypted],
      );
    // A server without TLS.
    await serve(urlOf({ search: '?sslmode=prefer' }));
    expect((await connections(false)).length).toBeGreaterThan(3);
    await service?.stop();
    expect(await refusal(urlOf({ search: '?sslmode=require' }))).toContain('The server does not support SSL connections');

    await enableTls(authority, folder);
    for (const mode of ['disable', 'allow', 'prefer', 'require', `verify-ca&sslrootcert=${authority.file}`]) {
      await serve(urlOf({ search: `?sslmode=${mode}` }));
      const isEncrypted = mode !== 'disable';
      const names = new Set((await connections(isEncrypted)).map((each) => each.application_name));
      expect([mode, names]).toEqual([mode, new Set(['emailauth', 'emailauth-core', 'emailauth-jobs', 'emailauth-serving'])]);
      expect([mode, await connections(!isEncrypted)]).toEqual([mode, []]);
      await service?.stop();
    }
    const full = `?sslmode=verify-full&sslrootcert=${authority.file}`;
    expect(await refusal(urlOf({ search: full }))).toContain('does not match certificate');
    await serve(urlOf({ search: full }).replace('127.0.0.1', 'localhost'));
    await service?.stop();
    const strangers = await openAuthority();
    expect(await refusal(urlOf({ search: `?sslmode=verify-ca&sslrootcert=${strangers.file}` }))).toMatch(
      /cannot be reached: .*certificate/,
    );
    await strangers.close();
  } finally {
    await authority.close();
    await rm(folder, { recursive: true });
  }
});

async function enableTls(authority: Authority, folder: string): Promise<void> {
  const [{ directory }] = await query(stage.databaseUrl, "select current_setting('data_directory') as directory");
  const { uid, gid } = await stat(String(directory));
  await chmod(folder, 0o711);
  for (const [name, text] of Object.entries(await authority.issue('localhost', 1))) {
    const file = join(folder, name);
    await writeFile(file, text, { mode: 0o600 });
    await chown(file, uid, gid);
    await query(stage.databaseUrl, `alter system set ssl_${name}_file = '${file}'`);
  }
  await query(stage.databaseUrl, 'alter system set ssl = on');
  await query(stage.databaseUrl, 'select pg_reload_conf()');
  await waitUntil('the server offers TLS', 30_000, async () => {
    const client = new pg.Client({ connectionString: stage.databaseUrl, ssl: { rejectUnauthorized: false } });
    return client.connect().then(
      () => client.end().then(() => true),
      () => false,
    );
  });
}

test('a database or role that cannot be used is refused at the start, with what to do', async () => {
  const url = cluster.url('postgres');
  await query(url, "create role tenant login password 'postgres'");
  await query(url, 'create database tenants');
  await query(cluster.url('tenants'), 'create schema tenant authorization tenant');
  const tenants = urlOf({ username: 'tenant', pathname: '/tenants' });
  expect(await refusal(tenants)).toMatch(
    /The role of DATABASE_URL \(.*\) may not create the schema graphile_worker, .*run: grant create on database tenants to tenant/,
  );
  await query(url, 'grant create on database tenants to tenant');
  await serve(tenants);
  await service?.stop();

  const plain = await createDatabase(url);
  await query(url, `grant create on database ${new URL(plain).pathname.slice(1)} to tenant`);
  expect(await refusal(Object.assign(new URL(plain), { username: 'tenant' }).href)).toContain('grant create on schema public');

  await query(url, "create database latin encoding 'LATIN1' locale 'C' template template0");
  expect(await refusal(cluster.url('latin'))).toMatch(/has the encoding LATIN1.*create database .* encoding 'UTF8'/);
});

test('idle_session_timeout of the server does not end the connections of the service', async () => {
  await query(
    stage.databaseUrl,
    "do $$ begin execute format('alter database %I set idle_session_timeout = 300', current_database()); end $$",
  );
  await serve(stage.databaseUrl);
  const pids = async () =>
    (await stage.query("select pid from pg_stat_activity where application_name like 'emailauth%' order by 1")).map(({ pid }) => pid);
  const before = await pids();
  // Connections of others end.
  for (let i = 0; i < 3; i++) {
    const other = new pg.Client(stage.databaseUrl);
    other.on('error', () => {});
    await other.connect();
    await new Promise((resolve) => other.once('end', resolve));
  }
  expect(await pids()).toEqual(expect.arrayContaining(before));
  expect((await service?.client().get('/readyz'))?.status).toBe(200);
});
