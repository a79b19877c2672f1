// A stage of its own: it restores databases.
import { randomBytes } from 'node:crypto';
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { execa } from 'execa';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { KEPT, LEFT_OUT } from '../../server/operations/backup/store.ts';
import { MIGRATIONS } from '../../server/platform/db/migrate.ts';
import { openStage, type Stage } from '../support/harness.ts';
import { entry } from '../support/program.ts';
import { headerOf, type Part, repack, unpack, withHeader, withSums } from './archives.ts';
import { type Home, openHome } from './command.ts';
import { openTerminal } from './terminal.ts';

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
  file = join(home.directory, 'backup.tar');
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
  return repack(here(`${randomBytes(4).toString('hex')}.tar`), change([...parts]));
}
const write = async (name: string, content: string | Buffer) => {
  await writeFile(here(name), content);
  return here(name);
};

const DAMAGED = 'it is damaged, truncated, compressed or not a backup';
const CHANGED = 'its content was changed';
const UNKNOWN = 'it contains something unknown';

describe('a corrupt or malicious file changes nothing', () => {
  const header = () => headerOf(parts);
  const bomb = Buffer.alloc(100 * 1024 * 1024);
  const hostile: [name: string, says: string, make: () => Promise<string>][] = [
    ['a byte flipped in a row', CHANGED, () => flippedAt('dev-100@')],
    ['a byte flipped in its header', CHANGED, () => flippedAt('"createdAt": "202', 16)],
    ['a byte flipped in the head of an entry', DAMAGED, () => flippedAt('tables/waitlist.1')],
    ['a byte flipped in its hashes', CHANGED, () => flippedAt('  tables/probes.1', -1)],
    ['cut short in a row', DAMAGED, () => cutAt('dev-100@')],
    ['cut short in its hashes', DAMAGED, () => cutAt('  tables/probes.1')],
    ['cut short between two entries', 'it is incomplete', () => copyWith((all) => all.slice(0, -1))],
    ['cut short after its header', 'it is incomplete', () => copyWith((all) => all.slice(0, 1))],
    ['empty', 'it is not a backup of Email Auth', () => write('empty', '')],
    ['no archive', DAMAGED, () => write('text', 'hello')],
    ['compressed', DAMAGED, async () => write('gzip', gzipSync(await readFile(file)))],
    ['another archive', 'it is not a backup of Email Auth', () => copyWith(() => [{ name: 'x', body: Buffer.from('x') }])],
    [
      'a name that leaves the directory',
      UNKNOWN,
      () => copyWith((all) => withSums([all[0], { name: '../../etc/cron.d/x', body: Buffer.from('x') }, ...all.slice(1)])),
    ],
    ['an icon with a path', UNKNOWN, () => copyWith((all) => withSums([...all, { name: 'icons/../x', body: Buffer.from('x') }]))],
    [
      'a symlink',
      UNKNOWN,
      () => copyWith(([first, second, ...rest]) => [first, { ...second, type: 'symlink', linkname: '/etc/passwd' }, ...rest]),
    ],
    [
      'a hard link',
      UNKNOWN,
      () => copyWith(([first, second, ...rest]) => [first, { ...second, type: 'link', linkname: '/etc/passwd' }, ...rest]),
    ],
    [
      'more than it says',
      'it contains more than its SHA256SUMS lists',
      () => copyWith((all) => [...all, { name: 'tables/users.2.copy', body: Buffer.alloc(0) }]),
    ],
    ['less than it says', CHANGED, () => copyWith((all) => all.filter(({ name }) => name !== 'tables/probes.1.copy'))],
    ['a part twice', CHANGED, () => copyWith(([first, second, ...rest]) => [first, second, { ...second, body: Buffer.alloc(0) }, ...rest])],
    [
      'a header of gibberish',
      'it is not a backup of Email Auth',
      () => copyWith(([, ...rest]) => [{ name: 'backup.json', body: Buffer.from('{') }, ...rest]),
    ],
    [
      'sessions smuggled in',
      'the columns of sessions do not match its version',
      () =>
        copyWith((all) => [
          ...withHeader(all, { ...header(), tables: { ...header().tables, sessions: ['hash'] } }),
          { name: 'tables/sessions.1.copy', body: Buffer.from('\\x00\n') },
        ]),
    ],
    [
      'a table that its header leaves out',
      'the columns of users do not match its version',
      () => copyWith((all) => withHeader(all, { ...header(), tables: { ...header().tables, users: undefined } })),
    ],
    [
      'a column of another name',
      'the columns of users do not match its version',
      () => {
        const users = header().tables.users.map((name: string) => (name === 'name' ? 'name" from users; --' : name));
        return copyWith((all) => withHeader(all, { ...header(), tables: { ...header().tables, users } }));
      },
    ],
    [
      'a table that its header does not have',
      UNKNOWN,
      () => copyWith((all) => withSums([...all, { name: 'tables/tokens.1.copy', body: Buffer.from('x\n') }])),
    ],
    [
      'an entry of 100 MB',
      UNKNOWN,
      () => copyWith((all) => [...all.slice(0, -1), { name: 'tables/users.2.copy', body: bomb }, ...all.slice(-1)]),
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

  test('rows that PostgreSQL does not accept', async () => {
    const before = await state();
    const wrong = await copyWith((all) =>
      withSums(all.map((part) => (part.name === 'tables/users.1.copy' ? { ...part, body: Buffer.from('not\ta\trow\n') } : part))),
    );
    const { exitCode, json } = await home.run(['restore', wrong, '--yes', '--json']);
    expect([exitCode, json().error]).toEqual([
      1,
      expect.objectContaining({ code: 'refused', message: expect.stringContaining('PostgreSQL reports') }),
    ]);
    expect(await state()).toEqual(before);
  });

  /** Changes a byte where `text` is in the file, or beside it. */
  async function flippedAt(text: string, offset = 0): Promise<string> {
    const bytes = await readFile(file);
    const at = bytes.indexOf(text) + offset;
    expect(at).toBeGreaterThan(0);
    bytes[at] ^= 0x01;
    return write('flipped', bytes);
  }
  async function cutAt(text: string): Promise<string> {
    const bytes = await readFile(file);
    return write('short', bytes.subarray(0, bytes.indexOf(text)));
  }
});

describe('in a pipe', () => {
  /** Runs a line of bash in which `emailauth` is the built command; it fails when any command of a pipe does. */
  const bash = (line: string) =>
    execa('bash', ['-c', `set -o pipefail; emailauth() { '${process.execPath}' '${entry}' "$@"; }; ${line}`], {
      env: home.env,
      extendEnv: false,
      cwd: home.directory,
      reject: false,
      stdin: 'ignore',
    });

  test('writes to stdout what it writes to a file, and restores it from stdin', async () => {
    const written = await bash('emailauth backup - | gzip > pipe.tar.gz');
    expect([written.exitCode, written.stderr]).toEqual([
      0,
      expect.stringMatching(/accounts 4, websites 0, events \d+, icons 0, [\d,]+ bytes/),
    ]);
    await bash('gunzip -c pipe.tar.gz > pipe.tar');
    expect((await home.run(['backup', here('same.tar')])).exitCode).toBe(0);
    const [piped, same] = [await unpack(here('pipe.tar')), await unpack(here('same.tar'))];
    // The headers have different times, and so different hashes.
    expect(piped.slice(1, -1)).toEqual(same.slice(1, -1));

    const { users } = await state();
    await stage.query("insert into users (id, email) values (gen_random_uuid(), 'much-later@mail.example')");
    const restored = await bash('gunzip -c pipe.tar.gz | emailauth restore - --yes --json');
    expect([restored.exitCode, JSON.parse(restored.stdout)]).toEqual([0, expect.objectContaining({ file: '-', icons: 0 })]);
    expect((await state()).users).toBe(users);
  });

  test('is an archive of GNU tar with hashes of sha256sum', async () => {
    const listed = await bash(`tar tvf '${file}'`);
    const names = listed.stdout.split('\n').map((line) => line.split(' ').at(-1));
    expect([names[0], names.at(-1)]).toEqual(['backup.json', 'SHA256SUMS']);
    expect(names.slice(1, -1)).toEqual(KEPT.map(({ name }) => `tables/${name}.1.copy`));
    expect(listed.stdout).toMatch(/^-rw------- 0\/0 +\d+ \d{4}-\d\d-\d\d \d\d:\d\d backup.json$/m);
    const checked = await bash(`mkdir opened && tar xf '${file}' -C opened && cd opened && sha256sum --check --strict --quiet SHA256SUMS`);
    expect([checked.exitCode, checked.stdout, checked.stderr]).toEqual([0, '', '']);
  });

  test('a stream that is cut off changes nothing, and a backup whose reader ends early fails', async () => {
    const before = await state();
    const cut = await bash(`head -c 20000 '${file}' | emailauth restore - --yes --json`);
    expect([cut.exitCode, JSON.parse(cut.stdout).error]).toEqual([
      3,
      expect.objectContaining({ code: 'damaged', message: `The backup cannot be restored: ${DAMAGED}.` }),
    ]);
    expect(await state()).toEqual(before);
    // More than a pipe holds.
    await stage.query(`insert into waitlist (service, email) select 'bugs', n || repeat('x', 1000) from generate_series(1, 1000) n`);
    const ended = await bash('emailauth backup - | head -c 10');
    expect([ended.exitCode, ended.stderr]).toEqual([1, expect.stringContaining('The backup is incomplete: what reads it has ended.')]);
    await stage.query("delete from waitlist where email like '%xxx'");
  });

  test('is no output for a terminal, no input from one, and no JSON', async () => {
    const shown = openTerminal(home, ['backup', '-']);
    await shown.waitFor('A terminal cannot show a backup.');
    expect(await shown.exited).toBe(3);
    const typed = openTerminal(home, ['restore', '-', '--yes']);
    await typed.waitFor('A backup cannot come from a terminal.');
    expect(await typed.exited).toBe(3);
    const both = await home.run(['backup', '-', '--json']);
    expect([both.exitCode, both.json().error.message]).toEqual([3, 'The backup itself goes to stdout.']);
  });

  test('a table of several parts is restored as a whole', async () => {
    const email = "n || '-' || repeat(md5(n::text), 30)";
    await stage.query(`insert into audit_log (action, email) select 'logged_out', ${email} from generate_series(1, 20000) n`);
    const sum = async () =>
      (await stage.query("select count(*)::int, md5(string_agg(email, ' ' order by id)) from audit_log where action = 'logged_out'"))[0];
    const before = await sum();
    expect((await home.run(['backup', here('large.tar')])).exitCode).toBe(0);
    const names = (await unpack(here('large.tar'))).map(({ name }) => name);
    expect(names.filter((name) => name.startsWith('tables/audit_log.'))).toEqual([1, 2, 3].map((n) => `tables/audit_log.${n}.copy`));
    expect((await home.run(['restore', here('large.tar'), '--yes'])).exitCode).toBe(0);
    expect(await sum()).toEqual(before);
  });
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
