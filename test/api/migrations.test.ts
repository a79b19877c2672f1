import { randomBytes } from 'node:crypto';
import pg from 'pg';
import { beforeEach, expect, inject, test } from 'vitest';
import { missingFunctions, sqlFunction } from '../../server/platform/db/functions.ts';
import { migrate, migrateOn } from '../../server/platform/db/migrate.ts';
import type { Migration } from '../../server/platform/db/migrations/migrations.ts';
import { createDatabase, query } from '../support/postgres.ts';
import { waitUntil } from '../support/waiting.ts';

const ROWS = 12_000;
const people: Migration = { name: '0001-people', sql: 'create table people (id integer primary key, name text, upper_name text)' };
const upperNames: Migration = {
  name: '0002-upper-names',
  steps: [
    { title: 'write upper_name', table: 'people', key: 'id', set: 'upper_name = upper(name)', where: 'upper_name is null' },
    { index: 'people_upper_name', table: 'people', definition: '(upper_name)' },
    { title: 'require upper_name', sql: 'alter table people add constraint upper_name_given check (upper_name is not null) not valid' },
  ],
};

let url: string;
beforeEach(async () => {
  url = await createDatabase(inject('clusterUrl'));
  expect(await migrate(url, { migrations: [people] })).toEqual(['0001-people']);
  await query(url, `insert into people (id, name) select n, 'p' || n from generate_series(1, ${ROWS}) n`);
});

const open = async () => Number((await query(url, 'select count(*) as open from people where upper_name is null'))[0].open);
const records = async () => (await query(url, 'select name from migrations order by name')).map(({ name }) => name);

test('a backfill changes every row in batches, reports its progress, and is recorded with the steps after it', async () => {
  const lines: string[] = [];
  const ran = await migrate(url, { migrations: [people, upperNames], report: (line) => lines.push(line), reportIntervalMs: 1 });
  expect(ran).toEqual(['0002-upper-names']);
  expect(await open()).toBe(0);
  expect(await records()).toEqual(['0001-people', '0002-upper-names']);
  expect(lines[0]).toBe('0002-upper-names, step 1 of 3: write upper_name');
  expect(lines).toContainEqual(expect.stringMatching(/write upper_name: [\d,]+ rows done$/));
  expect(lines).toContain('0002-upper-names, step 2 of 3: build index people_upper_name on people');
});

test('an interrupted backfill keeps its finished batches and continues', async () => {
  const holder = new pg.Client(url);
  await holder.connect();
  await holder.query(`begin; select from people where id = ${ROWS} for update`);
  const interrupted = migrate(url, { migrations: [people, upperNames] });
  const rejected = expect(interrupted).rejects.toThrow('0002-upper-names, step 1 of 3');
  await waitUntil('the batches before the locked row are done', 60_000, async () => (await open()) === 2_000);
  await query(
    url,
    "select pg_terminate_backend(pid) from pg_stat_activity where application_name = 'emailauth-migrate' and datname = current_database()",
  );
  await rejected;
  await holder.end();
  expect(await open()).toBe(2_000);
  expect(await migrate(url, { migrations: [people, upperNames] })).toEqual(['0002-upper-names']);
  expect(await open()).toBe(0);
});

/** Opens a transaction in which a statement ran. @returns closes it */
async function hold(begin: string, statement: string): Promise<() => Promise<void>> {
  const client = new pg.Client({ connectionString: url, application_name: 'a report' });
  await client.connect();
  await client.query(`${begin}; ${statement}`);
  return () => client.end();
}

/** Holds a snapshot, for whose end a concurrent index build waits. */
const holdSnapshot = () => hold('begin isolation level repeatable read', 'select from migrations limit 1');
const isBuilding = async () =>
  (
    await query(
      url,
      "select from pg_stat_progress_create_index where datname = current_database() and phase like 'waiting for old snapshots%'",
    )
  ).length > 0;
const indexes = () =>
  query(url, "select indexrelid::regclass::text as name, indisvalid as valid from pg_index where indrelid = 'people'::regclass order by 1");
const COMPLETE = [
  { name: 'people_pkey', valid: true },
  { name: 'people_upper_name', valid: true },
];

test('of two concurrent programs one migrates, and the other one waits', async () => {
  const letGo = await holdSnapshot();
  const first = migrate(url, { migrations: [people, upperNames] });
  await waitUntil('an index is built', 60_000, isBuilding);
  const lines: string[] = [];
  const second = migrate(url, { migrations: [people, upperNames], report: (line) => lines.push(line) });
  await waitUntil('the other one waits', 60_000, () =>
    lines.includes('Another process is migrating the database; waiting for it to finish.'),
  );
  await letGo();
  expect(await Promise.all([first, second])).toEqual([['0002-upper-names'], []]);
  expect(await indexes()).toEqual(COMPLETE);
});

test('an index whose build was interrupted is built again, and the steps before it are not repeated', async () => {
  const letGo = await holdSnapshot();
  const interrupted = migrate(url, { migrations: [people, upperNames] });
  const rejected = expect(interrupted).rejects.toThrow('0002-upper-names, step 2 of 3');
  await waitUntil('an index is built', 60_000, isBuilding);
  await query(
    url,
    "select pg_terminate_backend(pid) from pg_stat_activity where application_name = 'emailauth-migrate' and datname = current_database()",
  );
  await rejected;
  await letGo();
  expect(await indexes()).toContainEqual({ name: 'people_upper_name_building', valid: false });
  const lines: string[] = [];
  expect(await migrate(url, { migrations: [people, upperNames], report: (line) => lines.push(line) })).toEqual(['0002-upper-names']);
  expect(lines.join()).not.toContain('step 1 of');
  expect(await indexes()).toEqual(COMPLETE);
});

test('an abort cancels the statement in PostgreSQL, and the next run continues', async () => {
  const letGo = await holdSnapshot();
  const client = new pg.Client(url);
  client.on('error', () => {});
  await client.connect();
  const abort = new AbortController();
  const rejected = expect(migrateOn(client, { url, signal: abort.signal, migrations: [people, upperNames] })).rejects.toThrow(
    'step 2 of 3',
  );
  await waitUntil('an index is built', 60_000, isBuilding);
  abort.abort();
  await rejected;
  expect(await isBuilding()).toBe(false);
  await client.end();
  await letGo();
  expect(await migrate(url, { migrations: [people, upperNames] })).toEqual(['0002-upper-names']);
  expect(await indexes()).toEqual(COMPLETE);
});

test('a step gives up its wait for a lock, names who holds it, and tries again', async () => {
  const letGo = await hold('begin', 'select from people limit 1');
  const lines: string[] = [];
  const migrated = migrate(url, { migrations: [people, upperNames], report: (line) => lines.push(line) });
  await waitUntil('the wait is reported', 60_000, () =>
    lines.some((line) => /waiting for a lock that a transaction of another connection holds: process \d+ \(a report\)/.test(line)),
  );
  // Others read the table meanwhile.
  expect(await query(url, 'select from people limit 1')).toHaveLength(1);
  await letGo();
  expect(await migrated).toEqual(['0002-upper-names']);
});

test('a failed step is reported with its cause, and the steps before it are kept', async () => {
  const failing: Migration = {
    name: '0003-failing',
    steps: [
      { title: 'add a column', sql: 'alter table people add column age integer' },
      { title: 'divide', sql: 'alter table people add column half integer; select 1 / 0' },
    ],
  };
  await expect(migrate(url, { migrations: [people, upperNames, failing] })).rejects.toThrow(
    'Migration 0003-failing, step 2 of 2: divide: division by zero. The previous steps are kept.',
  );
  expect(await records()).toEqual(['0001-people', '0002-upper-names', '0003-failing/1']);
  const columns = await query(url, "select from information_schema.columns where table_name = 'people' and column_name in ('age', 'half')");
  expect(columns).toHaveLength(1);
});

const answer = (n: number) => sqlFunction('answer', '() returns integer', `begin return ${n}; end`);
const start = (n: number, at = url) => migrate(at, { migrations: [people], functions: [answer(n)] });

test('a function is created by one of two processes that start at once, where no migration is to run', async () => {
  expect(await Promise.all([start(1), start(1)])).toEqual([[], []]);
  expect(await query(url, `select ${answer(1).name}() as answer`)).toEqual([{ answer: 1 }]);
});

test('a function stays until the release after the next one, and a release that starts again creates its own', async () => {
  const client = new pg.Client(url);
  await client.connect();
  const missing = async () => (await missingFunctions(client, [1, 2, 3].map(answer))).map(({ name }) => name);
  for (const n of [1, 2, 2, 3]) await start(n);
  expect(await missing()).toEqual([answer(1).name]);
  await start(1);
  expect(await missing()).toEqual([answer(2).name]);
  await client.end();
});

test('without the right to create functions, the error names the command that creates them', async () => {
  const role = `reader_${randomBytes(6).toString('hex')}`;
  await query(url, `create role ${role} login password 'reader'; grant select on migrations to ${role}`);
  const limited = new URL(url);
  [limited.username, limited.password] = [role, 'reader'];
  await expect(start(1, limited.href)).rejects.toThrow(/Migration of the functions: permission denied.*`emailauth db migrate`/);
  await query(url, `drop owned by ${role}; drop role ${role}`);
});
