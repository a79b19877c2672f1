import { readdir, readFile, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { useService } from '../support/harness.ts';
import { freshAddress } from '../support/sign-ins.ts';
import { type Home, openHome } from './command.ts';

const { stage, service } = await useService();

async function emptyHome(): Promise<Home> {
  const home = await openHome(service.url);
  onTestFinished(() => home.close());
  return home;
}

async function start(
  home: Home,
  email = freshAddress('dev'),
  ...flags: string[]
): Promise<{ loginId: string; code: string; email: string }> {
  const ran = await home.run(['login', '--start', '--email', email, '--json', ...flags]);
  expect([ran.exitCode, Object.keys(ran.json())]).toEqual([0, ['loginId', 'expiresAt', ...('inbox' in ran.json() ? ['inbox'] : [])]]);
  return { loginId: ran.json().loginId, code: (await stage.mailbox.waitFor(email)).code, email };
}
const complete = (home: Home, loginId: string, code: string, ...flags: string[]) =>
  home.run(['login', '--login', loginId, '--code', code, '--json', ...flags]);
const pathOf = (home: Home, loginId: string) => join(home.directory, '.local/state/emailauth/logins', `${loginId}.json`);
const wrongCode = (code: string) => (code === '111111' ? '222222' : '111111');

test('--start ends at once, and --login with the code signs in, once', async () => {
  const home = await emptyHome();
  const { loginId, code, email } = await start(home);
  expect((await home.run(['whoami'])).exitCode).toBe(4);
  const ran = await complete(home, loginId, code);
  expect([ran.exitCode, ran.json()]).toEqual([0, expect.objectContaining({ email, host: service.url, source: 'credentials' })]);
  expect((await home.run(['whoami', '--json'])).json()).toMatchObject({ email });
  const again = await complete(home, loginId, code);
  expect([again.exitCode, again.json().error.code]).toEqual([5, 'login_not_found']);
  expect((await home.run(['whoami'])).exitCode).toBe(0);
});

test('without --json, --start prints only the id on stdout, and the code is read from stdin', async () => {
  const home = await emptyHome();
  const email = freshAddress('dev');
  const started = await home.run(['login', '--start', '--email', email]);
  expect(started.stdout).toMatch(/^[\w-]{22}$/);
  expect(started.stderr).toContain(`emailauth login --login ${started.stdout} --code`);
  const { code } = await stage.mailbox.waitFor(email);
  const ran = await home.run(['login', '--login', started.stdout], { input: `${code.slice(0, 3)} ${code.slice(3)}\n` });
  expect([ran.exitCode, ran.stdout]).toEqual([0, `Signed in as ${email} at ${service.url}.`]);
});

test('the file of a login is readable only by its owner, and contains no code', async () => {
  const home = await emptyHome();
  const { loginId, code } = await start(home);
  const path = pathOf(home, loginId);
  expect([(await stat(path)).mode & 0o777, (await stat(join(path, '..'))).mode & 0o777]).toEqual([0o600, 0o700]);
  expect(await readFile(path, 'utf8')).not.toContain(`"${code}"`);
  await complete(home, loginId, code);
  await expect(stat(path)).rejects.toThrow('ENOENT');
});

test('several logins are pending side by side, each with its own code', async () => {
  const home = await emptyHome();
  const [one, other] = [await start(home), await start(home)];
  expect((await complete(home, one.loginId, one.code)).json().email).toBe(one.email);
  const ran = await complete(home, other.loginId, other.code);
  expect([ran.exitCode, ran.json().email]).toEqual([0, other.email]);
});

test('two commands with the same code at the same time sign in once', async () => {
  const home = await emptyHome();
  const { loginId, code } = await start(home);
  const exits = (await Promise.all([complete(home, loginId, code), complete(home, loginId, code)])).map(({ exitCode }) => exitCode);
  expect(exits.filter((exit) => exit === 0)).toHaveLength(1);
  expect((await home.run(['whoami'])).exitCode).toBe(0);
});

test('a wrong code exits with 10 and counts, and the fifth one ends the login', async () => {
  const home = await emptyHome();
  const { loginId, code } = await start(home);
  for (const left of ['4 tries are', '3 tries are', '2 tries are', 'One try is']) {
    const ran = await complete(home, loginId, wrongCode(code));
    expect([ran.exitCode, ran.json().error]).toEqual([
      10,
      expect.objectContaining({ code: 'bad_code', message: expect.stringContaining(left) }),
    ]);
  }
  const last = await complete(home, loginId, wrongCode(code));
  expect([last.exitCode, last.json().error.hint]).toEqual([10, expect.stringContaining('--start')]);
  expect((await complete(home, loginId, code)).exitCode).toBe(5);
});

test('a login expires, and its file is removed by the next --start', async () => {
  const home = await emptyHome();
  const { loginId, code } = await start(home);
  const path = pathOf(home, loginId);
  const login = JSON.parse(await readFile(path, 'utf8'));
  await writeFile(
    path,
    JSON.stringify({ ...login, attempts: login.attempts.map((each: object) => ({ ...each, expiresAt: Date.now() - 1 })) }),
  );
  const next = await start(home);
  expect(await readdir(join(path, '..'))).toEqual([`${next.loginId}.json`]);
  expect((await complete(home, loginId, code)).exitCode).toBe(5);
});

test('a login is bound to its service and profile', async () => {
  const home = await emptyHome();
  const { loginId, code } = await start(home, freshAddress('dev'), '--profile', 'work', '--host', service.url);
  const other = { env: { EMAILAUTH_HOST: 'http://127.0.0.1:1' } };
  expect((await complete(home, loginId, code)).json().error.hint).toBe('Pass --profile work.');
  expect((await complete(home, loginId, code, '--profile', 'work', '--host', 'http://127.0.0.1:1')).exitCode).toBe(3);
  // The service is that of the login, whatever the environment names.
  const ran = await home.run(['login', '--login', loginId, '--code', code, '--profile', 'work', '--json'], other);
  expect([ran.exitCode, ran.json().host]).toEqual([0, service.url]);
  expect((await home.run(['config', 'get', 'host', '--profile', 'work'])).stdout).toContain(service.url);
});

test.each([
  [['--start', '--code', '123456'], 3],
  [['--code', '123456'], 3],
  [['--start'], 3],
  [['--login', '../../etc/passwd', '--code', '123456'], 5],
  [['--login', 'AAAAAAAAAAAAAAAAAAAAAA', '--code', '123456'], 5],
])('login %j exits with %i', async (args, exitCode) => {
  const home = await emptyHome();
  expect((await home.run(['login', ...args])).exitCode).toBe(exitCode);
});

test('a code that is not six digits exits with 3 and does not count', async () => {
  const home = await emptyHome();
  const { loginId, code } = await start(home);
  for (const wrong of ['12345', 'abcdef']) expect((await complete(home, loginId, wrong)).exitCode).toBe(3);
  expect((await home.run(['login', '--login', loginId], { input: '' })).exitCode).toBe(3);
  expect((await complete(home, loginId, code)).exitCode).toBe(0);
});
