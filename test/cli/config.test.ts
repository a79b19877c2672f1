import { mkdir, readFile, stat, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { waitUntil } from '../support/waiting.ts';
import { type Home, openHome } from './command.ts';
import { openTerminal, spawnTerminal } from './terminal.ts';

let home: Home;
beforeEach(async () => {
  // These tests set EMAILAUTH_HOST themselves.
  home = await openHome('');
});
afterEach(() => home.close());

const file = () => join(home.env.XDG_CONFIG_HOME, 'emailauth/config.json');

test('stores a setting in a file readable by its owner, and unsets it', async () => {
  const kept = await home.run(['config', 'set', 'host', 'auth.example.com', '--json']);
  expect([kept.exitCode, kept.json()]).toEqual([0, { key: 'host', value: 'https://auth.example.com', source: 'config' }]);
  expect((await stat(file())).mode & 0o777).toBe(0o600);
  expect((await home.run(['config', 'get', 'host'])).stdout).toBe('https://auth.example.com');
  const forgotten = await home.run(['config', 'set', 'host', '--json']);
  expect(forgotten.json()).toEqual({ key: 'host', value: 'http://localhost:4400', source: 'default' });
  expect(await readFile(file(), 'utf8')).not.toContain('auth.example.com');
});

test('lists effective settings and their sources', async () => {
  await home.run(['config', 'set', 'language', 'lv']);
  const list = await home.run(['config', 'list', '--json'], { env: { EMAILAUTH_HOST: 'https://auth.example.com' } });
  expect(list.json()).toEqual({
    profile: 'default',
    host: { value: 'https://auth.example.com', source: 'environment' },
    language: { value: 'lv', source: 'config' },
    path: file(),
  });
  const byFlag = await home.run(['config', 'get', 'host', '--json', '--host', 'localhost:8080']);
  expect(byFlag.json()).toEqual({ key: 'host', value: 'http://localhost:8080', source: 'flag' });
  const text = (await home.run(['config', 'list'])).stdout;
  for (const part of ['profile', 'http://localhost:4400', 'config.json', file()]) expect(text).toContain(part);
});

test('keeps separate settings for each profile', async () => {
  await home.run(['config', 'set', 'language', 'lt', '--profile', 'work']);
  expect((await home.run(['config', 'get', 'language'])).stdout).toBe('en');
  expect((await home.run(['config', 'get', 'language'], { env: { EMAILAUTH_PROFILE: 'work' } })).stdout).toBe('lt');
});

test('reports when another source takes precedence', async () => {
  const env = { EMAILAUTH_HOST: 'https://first.example' };
  const ran = await home.run(['config', 'set', 'host', 'second.example'], { env });
  expect([ran.exitCode, ran.stdout]).toEqual([0, 'host is https://first.example']);
  expect(ran.stderr).toBe('EMAILAUTH_HOST takes precedence; config.json has https://second.example.');
});

test.each([
  [['set', 'host', 'http://auth.example.com'], 'Use https://auth.example.com'],
  [['set', 'host', 'https://auth.example.com/path'], 'is not the address of a service'],
  [['set', 'host', 'https://user@auth.example.com'], 'is not the address of a service'],
  [['set', 'language', 'xx'], 'Languages: en, lt, lv, uk, ru'],
  [['set', 'colour', 'red'], 'host, language'],
  [['get', '__proto__'], 'host, language'],
])('exits with 3 for config %j', async (args, sentence) => {
  const ran = await home.run(['config', ...args]);
  expect([ran.exitCode, ran.stdout]).toEqual([3, '']);
  expect(ran.stderr).toContain(sentence);
});

test('exits with 3 for a file that is not JSON, names it and leaves it unchanged', async () => {
  await mkdir(dirname(file()), { recursive: true });
  await writeFile(file(), '{ my own notes');
  const ran = await home.run(['config', 'list']);
  expect([ran.exitCode, ran.stderr]).toEqual([3, expect.stringContaining(file())]);
  expect(await readFile(file(), 'utf8')).toBe('{ my own notes');
});

test('open prints the URL and opens no browser without a desktop', async () => {
  const pages = { dashboard: '/dashboard', docs: '/webservices/email-auth', site: '/' };
  for (const [target, path] of Object.entries(pages)) {
    const ran = await home.run(['open', target, '--json', '--host', 'https://auth.example.com']);
    expect([ran.exitCode, ran.json()]).toEqual([0, { url: `https://auth.example.com${path}`, opened: false }]);
  }
  expect((await home.run(['open'])).stdout).toBe('http://localhost:4400/dashboard');
  expect((await home.run(['open', 'mailbox'])).exitCode).toBe(3);
});

test('open opens the browser of a desktop, but not over SSH', async () => {
  // A desktop whose own program opens URLs, so that no browser of this machine is started.
  const [programs, opened] = [join(home.directory, 'bin'), join(home.directory, 'opened')];
  await mkdir(programs);
  await writeFile(join(programs, 'enlightenment_open'), `#!/bin/sh\ncase "$1" in http*) echo "$1" >> '${opened}';; esac\n`, {
    mode: 0o755,
  });
  const session = { XDG_CURRENT_DESKTOP: 'ENLIGHTENMENT', PATH: `${programs}:${home.env.PATH}` };
  const desktop = { ...session, DISPLAY: ':99' };
  for (const [env, expected] of [
    [{ ...desktop, SSH_CONNECTION: '192.0.2.1 1 192.0.2.2 22' }, false],
    [session, false],
    [{ ...desktop, CI: 'true' }, false],
    [desktop, true],
  ] as const) {
    // The program that opens a browser gets the environment of the process.
    const terminal = (expected ? spawnTerminal : openTerminal)(home, ['open', 'docs', '--json'], { env });
    expect(await terminal.exited).toBe(0);
    expect(terminal.text()).toContain(`"opened": ${expected}`);
    await terminal.close();
  }
  const lines = () => readFile(opened, 'utf8').catch(() => '');
  await waitUntil('the browser was opened', 30_000, async () => (await lines()) !== '');
  expect(await lines()).toBe('http://localhost:4400/webservices/email-auth\n');
});
