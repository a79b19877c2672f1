import { randomBytes } from 'node:crypto';
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { KEPT, LEFT_OUT } from '../../server/backup/store.ts';
import { MIGRATIONS } from '../../server/db/migrate.ts';
import { openStage, type Stage } from '../harness.ts';
import { manifestOf, type Part, repack, sha256, unpack, withManifest } from './archives.ts';
import { type Home, openHome } from './command.ts';

let stage: Stage;
let home: Home;
let file: string;
let parts: Part[];
beforeAll(async () => {
  stage = await openStage({ empty: true });
  home = await openHome('http://localhost:1');
  Object.assign(home.env, { DATA_DIR: stage.dataDir, DATABASE_URL: stage.databaseUrl });
  expect((await home.run(['db', 'migrate', '--json'])).json()).toEqual({ applied: MIGRATIONS });
  await stage.query(
    `insert into audit_log (action, email) select 'developer_signed_in', 'dev-' || n || '@mail.example' from generate_series(1, 200) n`,
  );
  await stage.query(
    `insert into users (id, email, name) values (gen_random_uuid(), 'a@mail.example', E'a "b", c\\nd\\\\.\\n'),
       (gen_random_uuid(), 'b@mail.example', null), (gen_random_uuid(), 'c@mail.example', '')`,
  );
  await stage.query("insert into waitlist (service, email) values ('bugs', 'ķ@mail.example')");
  file = join(home.directory, 'backup.tar.gz');
  expect((await home.run(['backup', file, '--quiet'])).exitCode).toBe(0);
  parts = await unpack(file);
  // Data newer than the backup shows whether a restore changed nothing or everything.
  await stage.query("insert into users (id, email) values (gen_random_uuid(), 'later@mail.example')");
});
afterAll(async () => {
  await stage.close();
  await home.close();
});

const here = (name: string) => join(home.directory, name);
const state = async () => {
  const [row] =
    await stage.query(`select (select json_agg(u order by email) from users u)::text as users, (select count(*) from audit_log) as events,
    (select array_agg(name order by name) from migrations) as migrations, pg_get_serial_sequence('audit_log', 'id') as sequence`);
  return row;
};
async function copyWith(change: (parts: Part[]) => Part[]): Promise<string> {
  return repack(here(`${randomBytes(4).toString('hex')}.tar.gz`), change([...parts]));
}
const write = async (name: string, content: string | Buffer) => {
  await writeFile(here(name), content);
  return here(name);
};

const DAMAGED = 'it is damaged, truncated or not a backup';
const OTHER_ENTRY = 'it contains something else instead of tables/users.csv';

describe('a corrupt or malicious file changes nothing', () => {
  const manifest = () => manifestOf(parts);
  const bomb = Buffer.alloc(100 * 1024 * 1024);
  const hostile: [name: string, says: string, make: () => Promise<string>][] = [
    ['a byte flipped at a fifth of it', '', () => flipped(0.2)],
    ['a byte flipped in the middle', '', () => flipped(0.5)],
    ['a byte flipped near its end', '', () => flipped(0.98)],
    ['cut short', DAMAGED, async () => write('short', (await readFile(file)).subarray(0, -500))],
    ['empty', DAMAGED, () => write('empty', '')],
    ['no archive', DAMAGED, () => write('text', 'hello')],
    ['a gzip of something else', DAMAGED, () => write('gzip', gzipSync('hello'))],
    [
      'a name that leaves the directory',
      OTHER_ENTRY,
      () => copyWith((all) => [all[0], { name: '../../etc/cron.d/x', body: Buffer.from('x') }, ...all.slice(1)]),
    ],
    [
      'a symlink',
      OTHER_ENTRY,
      () => copyWith(([first, second, ...rest]) => [first, { ...second, type: 'symlink', linkname: '/etc/passwd' }, ...rest]),
    ],
    [
      'a hard link',
      OTHER_ENTRY,
      () => copyWith(([first, second, ...rest]) => [first, { ...second, type: 'link', linkname: '/etc/passwd' }, ...rest]),
    ],
    [
      'more than it says',
      'it contains more than its manifest lists',
      () => copyWith((all) => [...all, { name: 'icons/x', body: Buffer.from('x') }]),
    ],
    ['less than it says', 'tables/probes.csv is missing', () => copyWith((all) => all.slice(0, -1))],
    ['parts in another order', OTHER_ENTRY, () => copyWith(([first, second, third, ...rest]) => [first, third, second, ...rest])],
    [
      'a part twice',
      'its manifest.json lists a part twice',
      () => copyWith((all) => withManifest(all, { ...manifest(), tables: [manifest().tables[0], ...manifest().tables] })),
    ],
    [
      'other bytes than it says',
      'the content of tables/users.csv was changed',
      () =>
        copyWith((all) =>
          all.map((part) =>
            part.name === 'tables/users.csv' ? { ...part, body: Buffer.from(String(part.body).replace('a@mail', 'x@mail')) } : part,
          ),
        ),
    ],
    [
      'a manifest of gibberish',
      'it is not a backup of Email Auth',
      () => copyWith(([, ...rest]) => [{ name: 'manifest.json', body: Buffer.from('{') }, ...rest]),
    ],
    [
      'sessions smuggled in',
      'its manifest.json is not valid (tables.22.name)',
      () => copyWith((all) => withTable(all, { name: 'sessions', columns: ['hash'] }, 'hash\n\\x00\n')),
    ],
    [
      'a column of another name',
      'the columns of users do not match its version',
      () =>
        copyWith((all) => withColumns(all, 'users', (columns) => columns.map((name) => (name === 'name' ? 'name" from users; --' : name)))),
    ],
    [
      'rows that are not there',
      'users has 3 rows instead of 4',
      () =>
        copyWith((all) =>
          withManifest(all, {
            ...manifest(),
            tables: manifest().tables.map((table: { rows: number }) => ({ ...table, rows: table.rows + 1 })),
          }),
        ),
    ],
    [
      'an icon with a path',
      'its manifest.json is not valid (icons.files.0.id)',
      () =>
        copyWith((all) =>
          withManifest(all, {
            ...manifest(),
            icons: { place: 'files', missing: 0, files: [{ id: '../x', bytes: 1, sha256: sha256(bomb) }] },
          }),
        ),
    ],
    [
      'a bomb that says so',
      'it unpacks to far more than a backup can',
      () => copyWith((all) => withTable(all.slice(0, 1), { name: 'users', columns: ['id'] }, bomb)),
    ],
    [
      'a bomb in place of the manifest',
      'the size of manifest.json is wrong',
      () => copyWith((all) => [{ name: 'manifest.json', body: bomb }, ...all.slice(1)]),
    ],
  ];
  test.each(hostile)('%s', async (_, says, make) => {
    const before = await state();
    const { exitCode, json } = await home.run(['restore', await make(), '--yes', '--json']);
    const { code, message } = json().error;
    expect([exitCode, code]).toEqual([3, 'damaged']);
    expect(message).toMatch(/ cannot be restored: [^\n]+\.$/);
    expect(message).toContain(says);
    expect(await state()).toEqual(before);
  });

  async function flipped(at: number): Promise<string> {
    const bytes = await readFile(file);
    bytes[Math.floor(bytes.length * at)] ^= 0x10;
    return write('flipped', bytes);
  }
  const withTable = (all: Part[], table: { name: string; columns: string[] }, content: string | Buffer): Part[] => {
    const body = Buffer.from(content);
    const tables = [...manifestOf(parts).tables.slice(0, all.length - 1), { ...table, rows: 1, bytes: body.length, sha256: sha256(body) }];
    return [...withManifest(all, { ...manifestOf(parts), tables }), { name: `tables/${table.name}.csv`, body }];
  };
  const withColumns = (all: Part[], name: string, change: (columns: string[]) => string[]): Part[] => {
    const tables = manifestOf(parts).tables.map((each: { name: string; columns: string[] }) =>
      each.name === name ? { ...each, columns: change(each.columns) } : each,
    );
    return withManifest(all, { ...manifestOf(parts), tables });
  };
});

test('restores the tables of a backup byte for byte and empties all others', async () => {
  expect((await home.run(['restore', file, '--yes'])).exitCode).toBe(0);
  expect(await stage.query('select email, name from users order by email')).toEqual([
    { email: 'a@mail.example', name: 'a "b", c\nd\\.\n' },
    { email: 'b@mail.example', name: null },
    { email: 'c@mail.example', name: '' },
  ]);
  expect(await stage.query('select email from waitlist')).toEqual([{ email: 'ķ@mail.example' }]);
});

test('states of every table whether backups contain it', async () => {
  const tables = (
    await stage.query(
      "select relname as name from pg_class where relnamespace = 'public'::regnamespace and relkind in ('r', 'p') and not relispartition",
    )
  ).map(({ name }) => name);
  expect(tables.sort()).toEqual([...KEPT.map(({ name }) => name), ...LEFT_OUT, 'migrations'].sort());
});

test('keeps owners and privileges of the tables', async () => {
  const [keeper, reader] = [`keeper_${randomBytes(4).toString('hex')}`, `reader_${randomBytes(4).toString('hex')}`];
  await stage.query(`create role ${keeper}; create role ${reader}; grant select on users to ${reader}; grant select, insert on audit_log to ${reader};
    alter table audit_log owner to ${keeper}; alter function refuse_change() owner to ${keeper}`);
  const permissions = () =>
    stage.query(`select relname, relowner::regrole::text as owner, array(select g.grantee::regrole::text || ' ' || g.privilege_type
        from aclexplode(relacl) g order by 1) as grants from pg_class where relname in ('users', 'audit_log', 'websites') order by relname`);
  const before = await permissions();
  expect((await home.run(['restore', file, '--yes'])).exitCode).toBe(0);
  expect(await permissions()).toEqual(before);
  expect(await stage.query("select proowner::regrole::text as owner from pg_proc where proname = 'refuse_change'")).toEqual([
    { owner: keeper },
  ]);
  await stage.query(
    `drop owned by ${reader}; reassign owned by ${keeper} to current_user; drop owned by ${keeper}; drop role ${reader}; drop role ${keeper}`,
  );
});
