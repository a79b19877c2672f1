import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { frameworks } from '../../templates/catalog.ts';
import { useService } from '../support/harness.ts';
import { freshDomain, registerWebsite, signInDeveloper } from '../support/sign-ins.ts';
import { freePort } from '../support/waiting.ts';
import { type Home, openHome, type Ran, type RunOptions } from './command.ts';
import { openProject, type Project, projects } from './project.ts';
import { KEYS, openTerminal, type Terminal } from './terminal.ts';

const { stage, service } = await useService();
let home: Home;
beforeAll(async () => {
  home = await openHome(service.url);
});
afterAll(async () => {
  await home?.close();
  await stage?.close();
});

let project: Project;
beforeEach(async () => {
  project = await openProject();
});
const terminals: Terminal[] = [];
afterEach(async () => {
  await Promise.all(terminals.splice(0).map((terminal) => terminal.close()));
  await project.remove();
});

const init = (args: string[], options: RunOptions = {}): Promise<Ran> =>
  home.run(['init', ...args, '--no-install', '--no-verify'], { cwd: project.directory, ...options });
function openInit(args: string[], options: { env?: Record<string, string>; rows?: number } = {}): Terminal {
  const terminal = openTerminal(home, ['init', ...args, '--no-install', '--no-verify'], { cwd: project.directory, rows: 60, ...options });
  terminals.push(terminal);
  return terminal;
}

describe('the registration at the service', () => {
  test('is noted as missing for an unregistered domain only', async () => {
    await project.put(projects.express);
    const domain = await registerWebsite(service.client());
    for (const known of [`www.${domain}`, 'localhost']) {
      const ran = await init(['--domain', known, '--dry-run']);
      expect([ran.exitCode, ran.stderr]).toEqual([0, '']);
    }
    const unknown = freshDomain();
    const ran = await init(['--domain', unknown, '--dry-run']);
    expect(ran.exitCode).toBe(0);
    expect(ran.stderr.replaceAll('\n', ' ')).toContain(`${unknown} is not registered at ${service.url}.`);
    expect(ran.stderr).toContain(`emailauth register ${unknown}`);
  });

  test('has a page in the portal, which is named once the files are written', async () => {
    await project.put(projects.express);
    const domain = await registerWebsite(service.client());
    const ran = await init(['--domain', `www.${domain}`, '--yes']);
    expect([ran.exitCode, ran.stderr]).toEqual([0, expect.stringContaining(`${service.url}/dashboard/websites/${domain}`)]);
  });

  test('is not needed to write the files', async () => {
    await project.put(projects.express);
    const host = `http://localhost:${await freePort()}`;
    const ran = await init(['--domain', 'shop.example', '--yes'], { env: { EMAILAUTH_HOST: host } });
    expect(ran.exitCode).toBe(0);
    expect(ran.stdout).toContain(`${host} did not respond`);
    expect(ran.stdout).toContain(`${host} is this machine`);
    expect(await project.textAt('.env')).toContain(`EMAILAUTH_URL=${host}\n`);
  });
});

test.each<[string, string[], Record<string, string>, RegExp, RegExp]>([
  ['no yes', ['--domain', 'localhost'], projects.express, /Cannot prompt here/, /--yes/],
  ['nothing that tells a framework', ['--domain', 'localhost'], {}, /No framework was detected/, /--framework <id>.*--list/],
  [
    'two that are as likely',
    ['--domain', 'localhost'],
    { 'package.json': '{"dependencies":{"express":"1","fastify":"1"}}' },
    /Several .* Express, Fastify/,
    /--framework/,
  ],
  ['an unknown framework', ['--framework', 'cobol'], {}, /There is no framework "cobol"/, /--list/],
  ['no domain at all', ['--domain', "x'); evil('"], projects.express, /is not a valid domain/, /--help/],
  [
    'a callback with more in it',
    ['--domain', 'localhost', '--callback', '/../../etc'],
    projects.express,
    /is not a valid callback path/,
    /--help/,
  ],
  ['an unknown language', ['--language', 'xx'], projects.express, /"xx" is not a language .* en, lt, lv, uk, ru/, /--help/],
  ['a directory that is not there', ['nowhere'], {}, /There is no directory .*nowhere/, /init <dir>/],
  ['a file for a directory', ['package.json'], projects.express, /package\.json is a file/, /init <dir>/],
])('exits with 3 and writes nothing for %s', async (_, args, files, message, hint) => {
  await project.put(files);
  const ran = await init([...args, '--json']);
  expect(ran.exitCode).toBe(3);
  expect(ran.json().error).toEqual({ code: 'usage', message: expect.stringMatching(message), hint: expect.stringMatching(hint) });
  expect(await project.everything()).toEqual(files);
});

test.each([['--dry-run'], ['--dry-run', '--json'], ['--yes'], ['--yes', '--json']])(
  'is for localhost without a terminal and a domain, with %s %s',
  async (...flags) => {
    await project.put(projects.express);
    const ran = await init(flags);
    expect([ran.exitCode, ran.stderr]).toEqual([0, expect.not.stringContaining('--domain')]);
    if (!flags.includes('--json')) expect(ran.stdout).toContain('localhost');
    else expect(ran.json().framework).toBe('express');
  },
);

test('--list prints the catalog in any directory', async () => {
  const rows = frameworks.map(({ id, name, language }) => ({ id, name, language }));
  expect((await init(['--list', '--json'])).json()).toEqual(rows);
  const { stdout, stderr } = await init(['--list']);
  expect(stderr).toBe('');
  expect(stdout.split('\n').map((line) => line.split(/ {2,}/))).toEqual(rows.map(({ id, name, language }) => [id, name, language]));
});

test('--dry-run shows a patch on stdout and writes nothing', async () => {
  await project.put({ ...projects.express, '.env': 'A=1\n' });
  const before = await project.everything();
  const ran = await init(['--domain', 'localhost', '--dry-run']);
  expect([ran.exitCode, ran.stderr]).toEqual([0, '']);
  expect(ran.stdout).toContain('--- /dev/null\n+++ auth.js\n@@ -0,0 +1,');
  expect(ran.stdout).toMatch(/--- \.env\n\+\+\+ \.env\n@@ -1,0 \+2,3 @@\n\+SESSION_SECRET=•+\n\+SITE_URL=/);
  expect((await init(['--domain', 'localhost', '--dry-run', '--json'])).json().files).toContainEqual({
    path: 'auth.js',
    action: 'written',
  });
  expect(await project.everything()).toEqual(before);
});

describe('at a terminal', () => {
  test('prompts for framework and domain, shows the diff in color, and writes after a confirmation', async () => {
    const { client } = await signInDeveloper(stage, service);
    const domain = freshDomain();
    expect((await client.post('/api/websites', { domain })).status).toBe(200);
    await project.put({ 'package.json': '{"dependencies":{"express":"1","fastify":"1"}}' });
    const terminal = openInit([], { env: { EMAILAUTH_TOKEN: client.cookies.get('sid') ?? '' }, rows: 120 });
    await terminal.waitFor(/Express, Fastify\.\s+Which is it\?/);
    terminal.type(KEYS.down + KEYS.enter);
    await terminal.waitFor('Which domain is it for?');
    await terminal.waitFor(domain);
    await terminal.waitFor('another domain');
    terminal.type(KEYS.enter);
    await terminal.waitFor(/Write these 3 files into/);
    expect(terminal.cellOf('+const')?.colour).toBe(2);
    expect(await project.everything()).toHaveProperty('package.json');
    expect(Object.keys(await project.everything())).toEqual(['package.json']);
    terminal.type('y');
    expect(await terminal.exited).toBe(0);
    expect(terminal.text()).toContain(`The sign-in with Fastify for ${domain} is written.`);
    // With colors, code needs no backticks.
    const report = terminal.text().slice(terminal.text().indexOf('is written.'));
    expect(report).not.toContain('`');
    expect(report).toMatch(/npm i .*fastify-plugin/);
    const secret = /SESSION_SECRET=(\w{64})/.exec(await project.textAt('.env'))?.[1];
    expect(terminal.bytes()).not.toContain(secret);
  });

  test('accepts another domain and rejects an invalid one', async () => {
    await project.put(projects.express);
    const terminal = openInit(['--dry-run'], { rows: 200 });
    await terminal.waitFor('another domain');
    terminal.type(KEYS.down + KEYS.enter);
    await terminal.waitFor('Your domain');
    terminal.type(`shop${KEYS.enter}`);
    await terminal.waitFor('Please enter a valid domain');
    terminal.type(`.example${KEYS.enter}`);
    expect(await terminal.exited).toBe(0);
    expect(terminal.text()).toContain('+SITE_URL=https://shop.example');
    expect(Object.keys(await project.everything())).toEqual(['package.json']);
  });

  test.each<[string, string[], string, string]>([
    ['Ctrl-C at the domain', [], 'Which domain', KEYS.interrupt],
    ['Ctrl-C at the confirmation', ['--domain', 'localhost'], 'Write these', KEYS.interrupt],
    ['Esc at the confirmation', ['--domain', 'localhost'], 'Write these', KEYS.escape],
    ['no', ['--domain', 'localhost'], 'Write these', 'n'],
    ['Enter, which is no', ['--domain', 'localhost'], 'Write these', KEYS.enter],
  ])('exits with 2 and writes nothing on %s', async (_, args, question, key) => {
    await project.put(projects.express);
    const terminal = openInit(args);
    await terminal.waitFor(question);
    terminal.type(key);
    expect(await terminal.exited).toBe(2);
    expect(terminal.text()).toContain('Cancelled; nothing was changed.');
    expect(await project.everything()).toEqual(projects.express);
  });

  test('marks code by backticks with NO_COLOR', async () => {
    await project.put(projects.express);
    const terminal = openInit(['--domain', 'localhost', '--yes'], { env: { NO_COLOR: '1' } });
    expect(await terminal.exited).toBe(0);
    // biome-ignore lint/suspicious/noControlCharactersInRegex: color sequences.
    expect(terminal.bytes()).not.toMatch(/\x1b\[\d+m/);
    expect(terminal.text()).toContain("`app.get('/orders', signedInOnly, …)`");
  });

  test('escapes control sequences in files of the project', async () => {
    await project.put({ ...projects.express, 'auth.js': '\x1b]0;owned\x07\x1b[2J' });
    const terminal = openInit(['--domain', 'localhost']);
    expect(await terminal.exited).toBe(6);
    expect(terminal.bytes()).not.toContain('\x1b]0;owned');
    expect(terminal.text()).toContain('␛]0;owned␇');
  });
});
