// A stage of its own: its instances refuse to start.
import { readFile, rename, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest';
import { MIGRATIONS } from '../../server/platform/db/migrate.ts';
import { type Home, openHome } from '../cli/command.ts';
import { openStage, type Service, type Stage } from '../support/harness.ts';
import { freshAddress, requestEmail } from '../support/sign-ins.ts';

let stage: Stage;
let home: Home;
beforeAll(async () => {
  stage = await openStage({ seesOutages: true });
  home = await openHome('http://localhost:1');
  Object.assign(home.env, { DATA_DIR: stage.dataDir, DATABASE_URL: stage.databaseUrl });
});
afterEach(() => stage.query("delete from migrations where name like '9999-later%'"));
afterAll(async () => {
  await stage.close();
  await home.close();
});

const EMBEDDED = { DATABASE_URL: '', SECRET_KEY: '' };
const OTHER_KEY = { SECRET_KEY: 'another key that is also long enough for the service' };

/** Returns what an instance writes when it does not start. */
async function refusal(settings: Record<string, string> = {}): Promise<string> {
  const started: Service | Error = await stage.start(settings).catch((error: Error) => error);
  if (started instanceof Error) return started.message;
  await started.stop();
  return 'It started.';
}

test('a program older than the schema does not start, and reports both versions and the remedy', async () => {
  await (await stage.start()).stop();
  for (const record of ['9999-later', '9999-later/2']) {
    await stage.query('insert into migrations (name) values ($1)', [record]);
    const sentence = `The database has schema 9999-later, this program knows up to ${MIGRATIONS.at(-1)}. Install the release of emailauth`;
    expect(await refusal()).toContain(sentence);
    const { exitCode, stdout } = await home.run(['db', 'migrate', '--json']);
    expect([exitCode, JSON.parse(stdout).error]).toEqual([
      6,
      expect.objectContaining({ code: 'newer', message: expect.stringContaining(sentence) }),
    ]);
    const restored = await home.run(['backup', join(home.directory, 'b.tar'), '--json']);
    expect([restored.exitCode, restored.json().error.code]).toEqual([3, 'newer']);
    await stage.query('delete from migrations where name = $1', [record]);
  }
  await (await stage.start()).stop();
});

test('a running instance keeps serving after a newer program has changed the schema', async () => {
  const service = await stage.start();
  await stage.query("insert into migrations (name) values ('9999-later')");
  await requestEmail(service.client(), freshAddress());
  expect((await service.client().get('/readyz')).status).toBe(200);
  await service.stop();
});

test('an instance with another SECRET_KEY does not start until the operator resets the fingerprint while no instance runs', async () => {
  const first = await stage.start();
  expect(await refusal(OTHER_KEY)).toMatch(
    /SECRET_KEY of this instance differs from the one that this database was used with before.*emailauth db forget-secret-key/s,
  );
  const [{ fingerprint }] = await stage.query("select encode(secret_key_fingerprint, 'hex') as fingerprint from installation");
  expect(fingerprint).toMatch(/^[0-9a-f]{32}$/);

  const forget = ['db', 'forget-secret-key', '--json'];
  expect((await home.run(forget)).json().error).toMatchObject({ code: 'usage', hint: 'Pass --yes to confirm.' });
  const served = await home.run([...forget, '--yes']);
  expect([served.exitCode, served.json().error.code]).toEqual([6, 'running']);
  await first.stop();
  expect(await refusal(OTHER_KEY)).toContain('SECRET_KEY of this instance differs');

  expect((await home.run([...forget, '--yes'])).json()).toEqual({ forgotten: true });
  expect((await home.run([...forget, '--yes'])).json()).toEqual({ forgotten: false });
  const second = await stage.start(OTHER_KEY);
  expect(await refusal()).toContain('SECRET_KEY of this instance differs');
  await second.stop();
  expect((await home.run([...forget, '--yes'])).exitCode).toBe(0);
});

test('of concurrent first instances with different SECRET_KEYs only those with one of the keys start', async () => {
  await stage.query('delete from installation');
  const keys = [{}, OTHER_KEY, {}, OTHER_KEY];
  const started = await Promise.all(keys.map((key) => stage.start(key).catch((error: Error) => error)));
  const up = started.map((service) => !(service instanceof Error));
  expect([up[0], up[2]]).toEqual([!up[1], !up[3]]);
  expect(up[0]).toBe(up[2]);
  await Promise.all(started.map((service) => service instanceof Error || service.stop()));
  await stage.query('delete from installation');
});

test('the embedded database reports a lost SECRET_KEY and files of another PostgreSQL version', async () => {
  await (await stage.start(EMBEDDED)).stop();
  const key = join(stage.dataDir, 'secret-key');
  await rename(key, `${key}.aside`);
  expect(await refusal(EMBEDDED)).toMatch(/SECRET_KEY of this instance differs.*the file secret-key in DATA_DIR/s);
  await rename(`${key}.aside`, key);

  const version = join(stage.dataDir, 'postgres/PG_VERSION');
  const own = await readFile(version, 'utf8');
  await writeFile(version, '15\n');
  const sentence = new RegExp(
    `belongs to PostgreSQL 15, and this release of emailauth includes PostgreSQL ${own.trim()}\\. Its files are untouched\\..*emailauth backup.*emailauth restore`,
    's',
  );
  expect(await refusal(EMBEDDED)).toMatch(sentence);
  const backup = await home.run(['backup', join(home.directory, 'c.tar')], { env: { DATABASE_URL: '' } });
  expect([backup.exitCode, backup.stderr]).toEqual([1, expect.stringMatching(sentence)]);
  expect(await readFile(version, 'utf8')).toBe('15\n');
  await writeFile(version, own);

  const service = await stage.start(EMBEDDED);
  expect((await service.client().get('/readyz')).status).toBe(200);
  await service.stop();
});
