import { execa } from 'execa';
import pg from 'pg';
import { afterEach, beforeAll, describe, expect, test } from 'vitest';
import { MIGRATIONS } from '../../server/db/migrate.ts';
import { entry } from '../cli/command.ts';
import { openStage, type Service, type Stage } from '../harness.ts';
import { freshAddress, freshDomain, openLink, requestEmail, tokenOf } from '../sign-ins.ts';
import { waitUntil } from '../waiting.ts';
import { hasCommit, openRelease, RELEASES, type Release } from './releases.ts';

const ROWS = 1_000_000;
const AT_ONCE = 3;

/** Starts `emailauth db migrate`. `text` returns what it has written so far. */
function beginMigration(stage: Stage) {
  const child = execa(process.execPath, [entry, 'db', 'migrate', '--json'], {
    env: { PATH: process.env.PATH, HOME: stage.dataDir, DATABASE_URL: stage.databaseUrl, DATA_DIR: stage.dataDir },
    extendEnv: false,
    reject: false,
    stdin: 'ignore',
  });
  let text = '';
  let ended = false;
  child.stderr.on('data', (chunk) => {
    text += chunk;
  });
  void child.then(() => {
    ended = true;
  });
  return { child, text: () => text, ended: () => ended };
}

/** Opens a connection and runs statements on it. @returns closes the connection */
async function hold(stage: Stage, ...statements: string[]): Promise<() => Promise<void>> {
  const client = new pg.Client({ connectionString: stage.databaseUrl, application_name: 'a report' });
  await client.connect();
  for (const statement of statements) await client.query(statement);
  return () => client.end();
}

/** Locks a table against DDL, as a backup does. */
const holdTable = (stage: Stage, table: string) => hold(stage, 'begin', `select from ${table} limit 1`);

/** Holds a snapshot, for whose end a concurrent index build waits. */
const holdSnapshot = (stage: Stage) => hold(stage, 'begin isolation level repeatable read', 'select from website_recipients limit 1');

/** Returns whether an index build waits for `holdSnapshot`. @param index any index by default */
const isBuilding = async (stage: Stage, index = '%') =>
  (
    await stage.query(
      `select from pg_stat_progress_create_index p join pg_class c on c.oid = p.index_relid
       where c.relname like $1 and p.datname = current_database() and phase like 'waiting for old snapshots%'`,
      [`${index}_building`],
    )
  ).length > 0;

const buildTakesLong = (stage: Stage) =>
  waitUntil('the build has taken longer than the timeouts of the service', 60_000, async () => {
    const sql = `select from pg_stat_activity where datname = current_database() and query like 'create index concurrently%'
      and state = 'active' and now() - query_start > interval '3 s'`;
    return (await stage.query(sql)).length > 0;
  });

/** Waits until the migration has given up its wait for a table and waits for it again. */
const waitsAgainFor = async (stage: Stage, table: string) => {
  const waits = new Set<string>();
  await waitUntil(`the migration waits for ${table} for the second time`, 60_000, async () => {
    const sql = `select query_start::text as begun from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'
      and application_name = 'emailauth-migrate' and query like $1`;
    for (const { begun } of await stage.query(sql, [`%alter table ${table} %`])) waits.add(String(begun));
    return waits.size > 1;
  });
};

/** Returns the definitions of the tables of the public schema with their columns, indexes, constraints and triggers. */
const catalog = async (stage: Stage) =>
  stage.query(`
    select 'column' as kind, c.relname || ' ' || a.attnum || ' ' || a.attname as name,
      format_type(a.atttypid, a.atttypmod) || ' ' || a.attnotnull || ' ' || coalesce(pg_get_expr(d.adbin, d.adrelid), '') as definition
    from pg_class c join pg_attribute a on a.attrelid = c.oid and a.attnum > 0 and not a.attisdropped
    left join pg_attrdef d on d.adrelid = c.oid and d.adnum = a.attnum where c.relnamespace = 'public'::regnamespace and c.relkind in ('r', 'p')
    union all select 'index', i.indexname, i.indexdef from pg_indexes i where i.schemaname = 'public'
    union all select 'invalid index', indexrelid::regclass::text, '' from pg_index where not indisvalid
    union all select 'constraint', conrelid::regclass || ' ' || conname, pg_get_constraintdef(oid) from pg_constraint
      where connamespace = 'public'::regnamespace and conrelid <> 0
    union all select 'trigger', tgname, pg_get_triggerdef(oid) from pg_trigger where not tgisinternal
    union all select 'storage', relname, relpersistence::text || coalesce(array_to_string(reloptions, ','), '') from pg_class
      where relnamespace = 'public'::regnamespace
    union all select 'migration', name, '' from migrations
    order by 1, 2`);

/** Signs visitors in continuously, at all instances in turn. */
function openLoad(stage: Stage, domain: string, instances: Service[]) {
  const failures: string[] = [];
  let done = 0;
  let over = false;
  const signIn = async (service: Service) => {
    const [client, email] = [service.client(), freshAddress()];
    await requestEmail(client, email, `https://${domain}/`);
    const token = tokenOf(await openLink(client, await stage.mailbox.waitFor(email)));
    const { json } = await client.get(`/api/verify-token?token=${token}&domain=${domain}`);
    if (json?.valid !== true) throw new Error(`verify-token answered ${JSON.stringify(json)}`);
  };
  const visitors = Array.from({ length: AT_ONCE }, async (_, visitor) => {
    for (let n = visitor; !over; n++) {
      await signIn(instances[n % instances.length]).then(
        () => done++,
        (error) => failures.push(String(error)),
      );
    }
  });
  return {
    failures,
    async until(more: number) {
      const target = done + more;
      await waitUntil(`${more} more sign-ins`, 60_000, () => done >= target || failures.length > 0 || `${done} of ${target}`);
    },
    async end() {
      over = true;
      await Promise.all(visitors);
    },
  };
}

for (const { schema, commit } of RELEASES) {
  const title = `upgrades ${schema} with ${ROWS.toLocaleString('en')} audit rows while the released program serves, without a failed sign-in or a lost row`;
  const isAvailable = await hasCommit(commit);
  if (!isAvailable)
    console.warn(
      `SKIPPED: the upgrade from ${schema}. This clone has no commit ${commit}: fetch the whole history (git fetch --unshallow).`,
    );
  test.skipIf(!isAvailable)(title, { timeout: 240_000 }, async () => {
    const [stage, release]: [Stage, Release] = await Promise.all([openStage({ empty: true }), openRelease(commit)]);
    try {
      await release.createSchema(stage.databaseUrl, MIGRATIONS.slice(0, MIGRATIONS.indexOf(schema) + 1));
      const domain = freshDomain();
      await stage.query('insert into websites (id, domain, email, claimed_at) values (gen_random_uuid(), $1, $2, now())', [
        domain,
        'owner@mail.example',
      ]);
      await stage.query(`insert into audit_log (action, email, domain) select (array['signed_in', 'developer_signed_in'])[1 + n % 2],
        'v-' || n || '@mail.example', case when n % 2 = 0 then '${domain}' end from generate_series(1, ${ROWS}) n`);
      const old = await stage.start({}, release.program);
      const instances = [old];
      const load = openLoad(stage, domain, instances);
      await load.until(10);

      const [letTableGo, letSnapshotGo] = [await holdTable(stage, 'users'), await holdSnapshot(stage)];
      const migration = beginMigration(stage);
      await waitUntil(
        'the migration waits for a lock or a snapshot',
        60_000,
        async () => migration.text().includes('waiting for a lock') || (await isBuilding(stage)),
      );
      await load.until(20);
      await letTableGo();
      await waitUntil('an index is built', 60_000, () => isBuilding(stage));
      await load.until(20);
      await buildTakesLong(stage);
      await letSnapshotGo();
      const { exitCode, stdout, stderr } = await migration.child;
      expect([exitCode, stderr]).toEqual([0, expect.stringContaining('Checked ')]);
      expect(JSON.parse(stdout)).toEqual({ applied: MIGRATIONS.slice(MIGRATIONS.indexOf(schema) + 1) });

      instances.push(await stage.start());
      await load.until(20);
      await load.end();
      expect(load.failures).toEqual([]);
      const [{ kept }] = await stage.query("select count(*)::integer as kept from audit_log where email like 'v-%@mail.example'");
      expect(kept).toBe(ROWS);
    } finally {
      await stage.close();
      await release.remove();
    }
  });
}

describe('an upgrade from the first schema', () => {
  let stage: Stage;
  let fresh: Awaited<ReturnType<typeof catalog>>;
  beforeAll(async () => {
    const empty = await openStage({ empty: true });
    expect((await beginMigration(empty).child).exitCode).toBe(0);
    fresh = await catalog(empty);
    await empty.close();
  });
  const openFirstSchema = async () => {
    stage = await openStage({ empty: true });
    const { up } = await import('../../server/db/migrations/0001-sign-in.ts');
    await stage.query(`create table migrations (name text primary key, at timestamptz not null default now());
      ${up}; insert into migrations (name) values ('0001-sign-in');
      insert into audit_log (action, email) select 'developer_signed_in', n || '@mail.example' from generate_series(1, 10000) n`);
  };
  afterEach(() => stage.close());

  test.each(['PostgreSQL finishes the statement', 'PostgreSQL ends the statement'])(
    'continues after a kill -9 during the build of an index: %s',
    async (then) => {
      await openFirstSchema();
      const letGo = await holdSnapshot(stage);
      const killed = beginMigration(stage);
      await waitUntil('an index is built', 60_000, () => isBuilding(stage, 'websites_icon'));
      killed.child.kill('SIGKILL');
      await killed.child;
      if (then === 'PostgreSQL ends the statement') {
        await stage.query(`select pg_terminate_backend(pid) from pg_stat_activity
          where application_name = 'emailauth-migrate' and datname = current_database()`);
        await waitUntil('an invalid index is left', 60_000, async () => {
          return (await stage.query('select from pg_index where not indisvalid')).length === 1;
        });
        const backup = await execa(process.execPath, [entry, 'backup', `${stage.dataDir}/b.tar`, '--json'], {
          env: { DATABASE_URL: stage.databaseUrl, DATA_DIR: stage.dataDir },
          reject: false,
        });
        expect([backup.exitCode, JSON.parse(backup.stdout).error]).toEqual([
          6,
          expect.objectContaining({ code: 'in_use', message: expect.stringContaining('0002-portal') }),
        ]);
      }
      const next = beginMigration(stage);
      if (then === 'PostgreSQL finishes the statement')
        await waitUntil('the migration waits', 60_000, () => next.text().includes('Another process is migrating the database'));
      else await waitUntil('the index is built again', 60_000, () => isBuilding(stage, 'websites_icon'));
      await letGo();
      const { exitCode, stdout, stderr } = await next.child;
      expect([exitCode, JSON.parse(stdout)]).toEqual([0, { applied: MIGRATIONS.slice(1) }]);
      // Finished steps are not repeated.
      expect(stderr).not.toContain('0002-portal, step 1 of');
      expect(await catalog(stage)).toEqual(fresh);
    },
  );

  test('is applied once by two concurrent processes and results in the schema of a new database', async () => {
    await openFirstSchema();
    const letGo = await holdSnapshot(stage);
    const first = beginMigration(stage);
    await waitUntil('an index is built', 60_000, () => isBuilding(stage, 'websites_icon'));
    const second = beginMigration(stage);
    await waitUntil('the other process waits', 60_000, () => second.text().includes('Another process is migrating the database'));
    await letGo();
    const responses = await Promise.all([first.child, second.child]);
    expect(responses.map(({ exitCode, stdout }) => [exitCode, JSON.parse(stdout).applied])).toEqual([
      [0, MIGRATIONS.slice(1)],
      [0, []],
    ]);
    expect(responses[0].stderr).toMatch(/^0002-portal, step 1 of \d+: add columns to users$/m);
    expect(await catalog(stage)).toEqual(fresh);
  });

  test('starts the service after a migration that takes longer than its clients wait, and logs each step', async () => {
    await openFirstSchema();
    const [letTableGo, letSnapshotGo] = [await holdTable(stage, 'audit_log'), await holdSnapshot(stage)];
    const starting = stage.start();
    await Promise.race([starting, buildTakesLong(stage)]);
    await letSnapshotGo();
    await Promise.race([starting, waitsAgainFor(stage, 'audit_log')]);
    await letTableGo();
    const service = await starting;
    expect(service.output()).toMatch(/"msg":"0002-portal, step 1 of \d+: add columns to users"/);
    expect(service.output()).toMatch(
      /"msg":" *waiting for a lock that a transaction of another connection holds: process \d+ \(a report\)/,
    );
    expect(await catalog(stage)).toEqual(expect.arrayContaining(fresh));
  });

  test('cancels its statement on Ctrl-C, reports what is kept, and continues at the next run', async () => {
    await openFirstSchema();
    const letGo = await holdSnapshot(stage);
    const interrupted = beginMigration(stage);
    await waitUntil('an index is built', 60_000, () => isBuilding(stage, 'websites_icon'));
    interrupted.child.kill('SIGINT');
    const { exitCode, stdout } = await interrupted.child;
    expect([exitCode, JSON.parse(stdout).error.message]).toEqual([2, expect.stringContaining('The completed steps are kept')]);
    await waitUntil('the connection has ended', 60_000, async () => {
      const sql = "select from pg_stat_activity where application_name = 'emailauth-migrate' and datname = current_database()";
      return (await stage.query(sql)).length === 0;
    });
    await letGo();
    expect((await beginMigration(stage).child).exitCode).toBe(0);
    expect(await catalog(stage)).toEqual(fresh);
  });
});
