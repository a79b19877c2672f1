import { readdir, writeFile } from 'node:fs/promises';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import { type Service, useService } from '../support/harness.ts';
import { freePort, waitUntil } from '../support/waiting.ts';
import type { Check } from './clinic.ts';
import { type Home, openHome } from './command.ts';
import { type Defect, defects, makeExpressApp } from './express-app.ts';
import { openTerminal } from './terminal.ts';

const { stage, service: delivering } = await useService();
/** A service with an inbox. */
let service: Service;
let home: Home;
beforeAll(async () => {
  service = await stage.start({ SMTP_URL: '', MAIL_FROM: '' });
  home = await openHome(service.url);
});
afterAll(async () => {
  await home.close();
});

const makeApp = async (defect?: Defect) => {
  const { directory, remove } = await makeExpressApp(defect);
  onTestFinished(remove);
  return directory;
};

type PlacedCheck = Check & { at: string | null };

async function attack(
  args: string[],
): Promise<{ exitCode?: number; checks: PlacedCheck[]; failed: string[]; of(id: string): PlacedCheck }> {
  const ran = await home.run(['try', ...args, '--json']);
  const { checks = [] }: { checks: PlacedCheck[] } = ran.json();
  const failed = checks.filter(({ ok }) => ok === false).map(({ id }) => id);
  return { exitCode: ran.exitCode, checks, failed, of: (id) => checks.find((each) => each.id === id) as PlacedCheck };
}

test('passes every check at an Express app with the template, and leaves no process', async () => {
  const directory = await makeApp();
  const { exitCode, checks } = await attack([directory]);
  expect(checks.filter(({ ok }) => ok !== true)).toEqual([]);
  expect(checks.map(({ id }) => id)).toEqual([
    'callback',
    'callback_refusal',
    'login',
    'login_cookie',
    'sign_in',
    'clean_url',
    'session_cookie',
    'replay',
    'other_website',
    'state_missing',
    'state_forged',
    'state_other_browser',
    'return_path',
    'logout',
  ]);
  expect(exitCode).toBe(0);
  expect(await processesIn(directory)).toEqual([]);
});

describe('an app that', () => {
  test.each<[keyof typeof defects, string[], RegExp]>([
    ['checks the state and never verifies the token', ['callback_refusal', 'replay', 'other_website'], /^auth\.js:\d+$/],
    ['verifies the token without domain', ['other_website'], /^auth\.js:\d+$/],
    ['does not compare the state', ['state_missing', 'state_forged', 'state_other_browser'], /^auth\.js:\d+$/],
    ['redirects to the address in return_to', ['return_path'], /^(?:auth|index)\.js:\d+$/],
    ['sets its cookies without HttpOnly', ['login_cookie', 'session_cookie'], /^auth\.js:\d+$/],
    ['signs out on GET', ['logout'], /^(?:auth|index)\.js:\d+$/],
  ])('%s fails, with the line to change', async (name, expected, place) => {
    const { exitCode, failed, of } = await attack([await makeApp(defects[name])]);
    expect([exitCode, failed]).toEqual([10, expected]);
    for (const id of expected) expect(of(id)).toMatchObject({ fix: expect.stringMatching(/\w+/), at: expect.stringMatching(place) });
  });

  test('has no login fails, although nothing in it accepts a token', async () => {
    const directory = await makeApp({ replace: [/auth\.get\('\/login'/, "auth.get('/other-page'"] });
    const { exitCode, failed, of } = await attack([directory]);
    expect([exitCode, failed]).toEqual([10, ['sign_in']]);
    expect([of('login').ok, of('callback_refusal').ok]).toEqual([null, null]);
    const named = await attack([directory, '--login-path', '/other-page']);
    expect([named.exitCode, named.failed]).toEqual([0, []]);
  });
});

test('prints the report, with the place of a failure before its fix', async () => {
  const { exitCode, stdout } = await home.run(['try', await makeApp(defects['verifies the token without domain'])]);
  expect(exitCode).toBe(10);
  expect(stdout).toMatch(/FAIL {2}Token of another website: [\s\S]*auth\.js:\d+: Send `domain`/);
  expect(stdout).toMatch(/One check failed\.$/);
});

test('starts an app that ignores PORT again with its address in SITE_URL', async () => {
  const directory = await makeApp();
  const port = await freePort();
  const line = `node -e "process.env.PORT='${port}';import('./index.js')"`;
  const { exitCode, checks } = await attack([directory, '--command', line]);
  expect(checks.filter(({ ok }) => ok !== true)).toEqual([]);
  expect(exitCode).toBe(0);
});

test('shows the output of an app that does not start', async () => {
  const directory = await makeApp();
  await writeFile(join(directory, 'index.js'), "throw new Error('The configuration is broken');");
  const { exitCode, stdout, stderr } = await home.run(['try', directory]);
  expect([exitCode, stdout]).toEqual([1, '']);
  expect(stderr).toMatch(/The app ended before it responded\. It wrote:\n[\s\S]*The configuration is broken/);
  expect(stderr).toContain('--command');
});

test('says which port is taken', async () => {
  const port = await freePort();
  const other = createServer().listen(port);
  onTestFinished(() => void other.close());
  const directory = await makeApp();
  const { exitCode, stderr } = await home.run(['try', directory, '--command', `PORT=${port} node index.js`]);
  expect(exitCode).toBe(1);
  expect(stderr).toMatch(/port is taken[\s\S]*emailauth start --port/);
});

test('checks a running app with --url, and says which service it uses', async () => {
  const { exitCode, stderr } = await home.run(['try', '--url', `http://localhost:${await freePort()}`, '--json']);
  expect([exitCode, stderr]).toEqual([1, expect.stringContaining(service.url)]);
});

test.each([
  [['--url', 'https://shop.example'], /not this machine/],
  [['--url', 'shop'], /not an address/],
  [['--login-path', 'https://evil.example'], /not a path/],
  [['nowhere'], /no directory/],
  [[], /unknown how to start/],
])('is a usage error with %j', async (args, words) => {
  const { exitCode, stderr } = await home.run(['try', ...args]);
  expect([exitCode, stderr]).toEqual([3, expect.stringMatching(words)]);
});

test('exits with 8 for a service with --host that has no inbox', async () => {
  const ran = await home.run(['try', await makeApp(), '--host', delivering.url, '--json']);
  expect([ran.exitCode, ran.json().error]).toEqual([
    8,
    expect.objectContaining({ code: 'not_local', hint: expect.stringMatching(/emailauth start/) }),
  ]);
});

test('starts a service of its own when none responds, and ends it', async () => {
  const directory = await makeApp();
  const ran = await home.spawn(['try', directory, '--json'], {
    env: { EMAILAUTH_HOST: `http://localhost:${await freePort()}`, DATABASE_URL: 'postgres://127.0.0.1:1/none' },
  });
  expect(ran.json().checks.filter(({ ok }: Check) => ok !== true)).toEqual([]);
  expect([ran.exitCode, ran.stderr]).toEqual([0, expect.stringContaining('starting one for this check')]);
  const own = /with (http:\S+)…/.exec(ran.stderr)?.[1] ?? '';
  await expect(fetch(own)).rejects.toThrow();
});

test('ends the app on Ctrl-C', async () => {
  const directory = await makeApp();
  await writeFile(join(directory, 'index.js'), 'setInterval(() => {}, 1000);');
  const terminal = openTerminal(home, ['try', directory]);
  await terminal.waitFor('Starting the app');
  await waitUntil('the app runs', 30_000, async () => (await processesIn(directory)).length > 0);
  terminal.type('\x03');
  expect(await terminal.exited).toBe(2);
  expect(await processesIn(directory)).toEqual([]);
  await terminal.close();
});

/** Returns the ids of the processes whose working directory this is. Linux only. */
async function processesIn(directory: string): Promise<string[]> {
  const { readlink } = await import('node:fs/promises');
  const ids = (await readdir('/proc')).filter((name) => /^\d+$/.test(name));
  const found = await Promise.all(ids.map(async (id) => ((await readlink(`/proc/${id}/cwd`).catch(() => '')) === directory ? id : null)));
  return found.filter((id) => id !== null);
}
