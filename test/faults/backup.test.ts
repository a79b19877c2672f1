// A stage of its own: it restores into an empty database.
import { existsSync } from 'node:fs';
import { mkdir, readdir, readFile, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { execa } from 'execa';
import pg from 'pg';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { MIGRATIONS } from '../../server/platform/db/migrate.ts';
import { headerOf, repack, unpack, withHeader } from '../cli/archives.ts';
import { type Home, openHome } from '../cli/command.ts';
import { KEYS, openTerminal } from '../cli/terminal.ts';
import { openStage, type Stage } from '../support/harness.ts';
import { entry } from '../support/program.ts';
import { waitUntil } from '../support/waiting.ts';

/** Enough rows to make a restore slow. */
const EVENTS = 150_000;
let stage: Stage;
let home: Home;
let file: string;
const here = (name: string) => join(home.directory, name);
beforeAll(async () => {
  stage = await openStage({ seesOutages: true, empty: true });
  home = await openHome('http://localhost:1');
  Object.assign(home.env, { DATA_DIR: stage.dataDir, DATABASE_URL: stage.databaseUrl });
  expect((await home.run(['db', 'migrate', '--json'])).json()).toEqual({ applied: MIGRATIONS });
  await stage.query(`insert into audit_log (action, email)
    select 'developer_signed_in', md5(n::text) || '@mail.example' from generate_series(1, ${EVENTS}) n`);
  file = here('backup.tar');
  expect((await home.run(['backup', file, '--quiet'])).exitCode).toBe(0);
});
// A row that is not in the backup shows whether nothing or everything was restored.
beforeEach(async () => {
  await stage.query("insert into users (id, email) values (gen_random_uuid(), 'later@mail.example') on conflict do nothing");
});
afterAll(async () => {
  await stage.close();
  await home.close();
});

const isUntouched = async () => {
  const [{ users, events, guarded }] =
    await stage.query(`select (select count(*)::int from users where email = 'later@mail.example') as users,
    (select count(*)::int from audit_log where action = 'developer_signed_in') as events,
    (select count(*)::int from pg_trigger where tgrelid = 'audit_log'::regclass and tgname = 'audit_log_append_only' and tgenabled = 'O') as guarded`);
  return expect([users, events, guarded]).toEqual([1, EVENTS, 1]);
};
const leftovers = async () => (await readdir(home.directory)).filter((name) => name.includes('.partial'));
const failed = async (args: string[], env: Record<string, string> = {}) => {
  const ran = await home.run([...args, '--json'], { env });
  return [ran.exitCode, ran.json().error.code, ran.json().error.message];
};
/** Locks a table. @returns a function that unlocks it */
async function hold(table: string): Promise<() => Promise<void>> {
  const client = new pg.Client({ connectionString: stage.databaseUrl });
  await client.connect();
  await client.query(`begin; lock table ${table} in access exclusive mode`);
  return () => client.end();
}
/** Resolves once PostgreSQL runs a statement of the command that starts with this text. */
const isAt = (statement: string) =>
  waitUntil(`it is at ${statement}`, 30_000, async () => {
    const sql =
      "select query from pg_stat_activity where application_name = 'emailauth-operator' and datname = current_database() and query ilike $1";
    return (await stage.query(sql, [`${statement}%`])).length > 0;
  });
const isOver = () =>
  waitUntil('its connection has ended', 30_000, async () => {
    const sql = "select from pg_stat_activity where application_name = 'emailauth-operator' and datname = current_database()";
    return (await stage.query(sql)).length === 0;
  });
const begin = (args: string[]) =>
  execa(process.execPath, [entry, ...args], { env: home.env, extendEnv: false, reject: false, stdin: 'ignore' });

describe('interrupted', () => {
  test('SIGKILL during a restore changes nothing, and the next restore works', async () => {
    const restoring = begin(['restore', file, '--yes']);
    await isAt('copy audit_log');
    restoring.kill('SIGKILL');
    await restoring;
    await isOver();
    await isUntouched();
    expect((await home.run(['restore', file, '--yes'])).exitCode).toBe(0);
    expect(await stage.query('select from users')).toEqual([]);
    await expect(stage.query('delete from audit_log')).rejects.toThrow('append-only');
    const [{ next }] = await stage.query(
      "insert into audit_log (action) values ('x') returning id = (select max(id) + 1 from audit_log) as next",
    );
    expect(next).toBe(true);
  });

  test.each(['SIGINT', 'SIGTERM'] as const)('%s during a restore changes nothing and is reported', async (name) => {
    const restoring = begin(['restore', file, '--yes']);
    await isAt('copy audit_log');
    restoring.kill(name);
    const { exitCode, stderr } = await restoring;
    expect([exitCode, stderr]).toEqual([2, expect.stringMatching(/Cancelled; nothing was changed\.$/)]);
    await isOver();
    await isUntouched();
  });

  test('SIGINT during a backup leaves no file or partial file', async () => {
    const letGo = await hold('probes');
    const writing = begin(['backup', here('cut.tar')]);
    await isAt('copy (select "minute"');
    expect(await leftovers()).toHaveLength(1);
    writing.kill('SIGINT');
    expect((await writing).exitCode).toBe(2);
    await letGo();
    expect(await leftovers()).toEqual([]);
    expect(await readdir(home.directory)).not.toContain('cut.tar');
    await isOver();
  });

  test('reports a database that becomes unreachable during a backup', async () => {
    const letGo = await hold('probes');
    const writing = begin(['backup', here('cut.tar'), '--json']);
    await isAt('copy (select "minute"');
    await stage.query(
      "select pg_terminate_backend(pid) from pg_stat_activity where application_name = 'emailauth-operator' and datname = current_database()",
    );
    const { exitCode, stdout } = await writing;
    await letGo();
    expect([exitCode, JSON.parse(stdout).error.message]).toEqual([1, expect.stringContaining('Cannot write')]);
    expect(await leftovers()).toEqual([]);
  });
});

describe('versions', () => {
  test('rejects a backup with a newer schema or format', async () => {
    const parts = await unpack(file);
    const header = headerOf(parts);
    const schema = await repack(here('schema.tar'), withHeader(parts, { ...header, migrations: [...header.migrations, '9999-later'] }));
    const format = await repack(here('format.tar'), withHeader(parts, { ...header, formatVersion: 2, tables: 'otherwise' }));
    for (const path of [schema, format]) {
      expect(await failed(['restore', path, '--yes'])).toEqual([3, 'newer', `${path} was written by a newer version of Email Auth.`]);
    }
    await isUntouched();
  });

  test('does not change a database of a newer version or of another program, and rejects a backup of an empty one', async () => {
    const other = await openStage({ seesOutages: true, empty: true });
    const env = { DATABASE_URL: other.databaseUrl };
    expect(await failed(['backup', here('none.tar')], env)).toEqual([
      3,
      'database',
      expect.stringContaining('There is no Email Auth database in '),
    ]);
    await other.query('create table users (name text)');
    expect(await failed(['restore', file, '--yes'], env)).toEqual([
      3,
      'database',
      expect.stringContaining('has tables of another program (users).'),
    ]);
    await other.query('drop table users');
    expect((await home.run(['restore', file, '--yes'], { env })).exitCode).toBe(0);
    await other.query("insert into migrations (name) values ('9999-later')");
    expect(await failed(['restore', file, '--yes'], env)).toEqual([3, 'newer', expect.stringContaining('newer version')]);
    expect(await failed(['backup', here('none.tar')], env)).toEqual([3, 'newer', expect.stringContaining('newer version')]);
    await other.close();
  });
});

describe('arguments and prompts', () => {
  test('keeps an existing file without --force, and replaces a symlink instead of following it', async () => {
    await writeFile(here('precious'), 'mine');
    await symlink(here('precious'), here('link.tar'));
    expect(await failed(['backup', here('link.tar')])).toEqual([6, 'taken', expect.stringContaining('exists already')]);
    expect((await home.run(['backup', here('link.tar'), '--force'])).exitCode).toBe(0);
    expect(await readFile(here('precious'), 'utf8')).toBe('mine');
    expect((await unpack(here('link.tar')))[0].name).toBe('backup.json');
  });

  test('rejects invalid paths', async () => {
    await mkdir(here('folder'), { recursive: true });
    expect(await failed(['backup', here('folder')])).toEqual([3, 'file', expect.stringContaining('is not a file')]);
    expect(await failed(['backup', '/dev/null', '--force'])).toEqual([3, 'file', '/dev/null is not a file.']);
    expect(await failed(['restore', '/dev/zero', '--yes'])).toEqual([3, 'file', '/dev/zero is not a file.']);
    expect(await failed(['backup', here('nowhere/x.tar')])).toEqual([3, 'file', expect.stringContaining('no such file or directory')]);
    expect(await failed(['backup', '/proc/x.tar'])).toEqual([3, 'file', expect.stringContaining('Cannot write /proc/x.tar')]);
    expect(await failed(['restore', here('nothing.tar'), '--yes'])).toEqual([3, 'file', expect.stringContaining('no such file')]);
    expect(await failed(['restore', here('folder'), '--yes'])).toEqual([3, 'file', expect.stringContaining('is not a file')]);
  });

  test('reports all invalid settings that it needs at once, and a database that does not respond', async () => {
    const wrong = { DATABASE_URL: 'mysql://x', S3_BUCKET: 'icons' };
    for (const args of [
      ['backup', here('x.tar')],
      ['restore', file, '--yes'],
      ['db', 'migrate'],
    ]) {
      const [exitCode, , message] = await failed(args, wrong);
      expect([exitCode, message]).toEqual([3, expect.stringMatching(/2 settings need a change[\s\S]*DATABASE_URL[\s\S]*S3_ENDPOINT/)]);
      const gone = { DATABASE_URL: 'postgres://emailauth:hunter2@127.0.0.1:1/x', PUBLIC_URL: 'https://auth.example.com', PORT: 'none' };
      const [code, name, text] = await failed(args, gone);
      expect([code, name, text]).toEqual([8, 'database_unreachable', expect.stringContaining('127.0.0.1:1/x')]);
      expect(text).not.toContain('hunter2');
    }
    expect(await failed(['backup', here('x.tar')], { DATABASE_URL: '' })).toEqual([
      3,
      'no_database',
      expect.stringContaining('There is no database in'),
    ]);
    expect(await leftovers()).toEqual([]);
    // Another directory than that of the service.
    const empty = here('empty');
    for (const command of ['db migrate', 'db forget-secret-key --yes', 'admin unlock']) {
      const [exitCode, code, message] = await failed(command.split(' '), { DATABASE_URL: '', DATA_DIR: empty });
      expect([exitCode, code, message]).toEqual([3, 'no_database', `There is no database in ${empty}, and DATABASE_URL is not set.`]);
    }
    expect(existsSync(empty)).toBe(false);
  });

  test('requires --yes when it cannot prompt; shows in a terminal what is replaced, and no changes nothing', async () => {
    expect(await failed(['restore', file])).toEqual([3, 'usage', 'Cannot prompt here.']);
    const terminal = openTerminal(home, ['restore', 'backup.tar']);
    await terminal.waitFor('Replace everything by the backup of');
    for (const line of [/accounts +1 +0/, /events +150,\d+ +150,000/]) await terminal.waitFor(line);
    terminal.type('n');
    expect(await terminal.exited).toBe(2);
    const second = openTerminal(home, ['restore', 'backup.tar']);
    await second.waitFor('Replace everything by the backup of');
    second.type(KEYS.interrupt);
    expect(await second.exited).toBe(2);
    await isUntouched();
    const third = openTerminal(home, ['restore', 'backup.tar']);
    await third.waitFor('Replace everything by the backup of');
    third.type('y');
    await third.waitFor('Start the service.');
    expect(await third.exited).toBe(0);
    expect(await stage.query('select from users')).toEqual([]);
  });

  test('a service that starts during a restore waits for its end and then counts as running', async () => {
    const restoring = begin(['restore', file, '--yes']);
    await isAt('copy audit_log');
    const service = await stage.start();
    expect((await restoring).exitCode).toBe(0);
    expect(await stage.query("select from audit_log where action = 'restored'")).toHaveLength(1);
    expect(await failed(['restore', file, '--yes'])).toEqual([6, 'running', expect.stringContaining('The service is running on')]);
    await service.kill();
    expect((await home.run(['restore', file, '--yes'])).exitCode).toBe(0);
  });
});
