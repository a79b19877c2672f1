import { spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { chmod, mkdir, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { createServer as createHttpServer } from 'node:http';
import { createServer as createHttpsServer } from 'node:https';
import { type AddressInfo, createServer } from 'node:net';
import { dirname, join } from 'node:path';
import { execa } from 'execa';
import { afterAll, beforeAll, beforeEach, expect, onTestFinished, test } from 'vitest';
import { openProgram } from '../../cli/terminal.ts';
import { hasOpenssl, openAuthority } from '../../support/certificates.ts';
import { waitUntil } from '../../support/waiting.ts';
import { type Installed, installCommand } from './installed.ts';

let installed: Installed;
let version: string;
/** A small package in place of the service: `db migrate` of it migrates nothing. */
let small: string;
let data: string;
beforeAll(async () => {
  version = JSON.parse(await readFile(join(import.meta.dirname, '../../../package.json'), 'utf8')).version;
  installed = await installCommand((directory) => packSmall('small', version, { directory }));
  small = installed.serverPackage;
});
afterAll(() => installed?.close());
beforeEach(async () => {
  data = join(installed.directory, `data-${Math.random().toString(36).slice(2)}`);
});

async function packSmall(
  name: string,
  version: string,
  { directory: parent = installed?.directory, ...manifest }: { directory?: string; name?: string; description?: string } = {},
): Promise<string> {
  const directory = join(parent, name);
  const modules = join(directory, 'dist/server');
  const sources = {
    'main.js': '',
    'platform/config.js': 'export const readStorageConfig = () => ({});',
    'platform/db/migrate.js': 'export const migrateOn = () => [];',
    'signin/sql-functions.js': 'export const sqlFunctions = [];',
    'operations/embedded/attach.js':
      'export const attachDatabase = () => ({ place: "here", stop() {} }); export const connectAlone = () => ({ close() {} });',
  };
  for (const [path, source] of Object.entries(sources)) {
    await mkdir(dirname(join(modules, path)), { recursive: true });
    await writeFile(join(modules, path), source);
  }
  await writeFile(join(directory, 'package.json'), JSON.stringify({ name: 'emailauth-server', version, type: 'module', ...manifest }));
  const { stdout } = await execa('npm', ['pack', '--json', '--pack-destination', directory], { cwd: directory });
  return join(directory, JSON.parse(stdout)[0].filename);
}

const environment = (changes: Record<string, string> = {}) => ({
  ...installed.env,
  XDG_DATA_HOME: data,
  EMAILAUTH_SERVER_PACKAGE: small,
  ...changes,
});
const migrate = async (changes?: Record<string, string>, flags = ['--yes']) => {
  const ran = await installed.run(['db', 'migrate', '--json', ...flags], { env: environment(changes) });
  return { ...ran, error: ran.exitCode === 0 ? undefined : JSON.parse(ran.stdout).error };
};
const entries = () => readdir(join(data, 'emailauth'));

test('two commands at the same time both find one complete installation', async () => {
  const both = await Promise.all([migrate(), migrate()]);
  expect(both.map(({ exitCode, stdout }) => [exitCode, stdout && JSON.parse(stdout)])).toEqual(Array(2).fill([0, { applied: [] }]));
  expect(await entries()).toEqual([`server-${version}`]);
});

test('replaces an incomplete installation, and removes what an interrupted one left', async () => {
  const home = join(data, 'emailauth');
  await mkdir(join(home, `server-${version}/node_modules/emailauth-server`), { recursive: true });
  await writeFile(join(home, `server-${version}/node_modules/emailauth-server/package.json`), JSON.stringify({ version }));
  const { pid } = spawnSync(process.execPath, ['--version']);
  await mkdir(join(home, `server-${version}.${pid}.aB3xYz`));
  await mkdir(join(home, `server-${version}.${process.pid}.other1`));
  expect(await migrate()).toMatchObject({ exitCode: 0 });
  expect((await entries()).sort()).toEqual([`server-${version}`, `server-${version}.${process.pid}.other1`]);
});

test('installs nothing but the package of its release, and leaves nothing behind', async () => {
  // The same name and version with other bytes; another version; another name.
  const others = [
    await packSmall('other-bytes', version, { description: 'Made by someone else' }),
    await packSmall('other-version', '99.0.0'),
    await packSmall('other-name', version, { name: 'something-else' }),
  ];
  for (const other of others) {
    expect((await migrate({ EMAILAUTH_SERVER_PACKAGE: other })).error).toEqual({
      code: 'install_failed',
      message: `${other} is not the package of this release, and was not installed: its content has another hash.`,
      hint: expect.stringContaining('EMAILAUTH_SERVER_PACKAGE'),
    });
  }
  // Nothing listens on port 1.
  const offline = await migrate({ EMAILAUTH_SERVER_PACKAGE: '', npm_config_registry: 'http://127.0.0.1:1' });
  expect([offline.exitCode, offline.error.message]).toEqual([1, expect.stringContaining('registry cannot be reached')]);
  expect(await entries()).toEqual([]);
});

test('rejects a package that the registry has under the name of the service', async () => {
  const squatted = await readFile(await packSmall('squatted', version, { description: 'Made by someone else' }));
  const registry = createHttpServer((request, response) => {
    const origin = `http://${request.headers.host}`;
    if (request.url?.endsWith('.tgz')) return response.end(squatted);
    if (request.url !== '/emailauth-server') return response.writeHead(404).end('{}');
    const dist = {
      tarball: `${origin}/emailauth-server.tgz`,
      integrity: `sha512-${createHash('sha512').update(squatted).digest('base64')}`,
    };
    const versions = { [version]: { name: 'emailauth-server', version, dist } };
    return response.end(JSON.stringify({ name: 'emailauth-server', 'dist-tags': { latest: version }, versions }));
  }).listen(0, '127.0.0.1');
  onTestFinished(() => void registry.close());
  await once(registry, 'listening');
  const { port } = registry.address() as AddressInfo;
  const npm = { EMAILAUTH_SERVER_PACKAGE: '', npm_config_registry: `http://127.0.0.1:${port}`, npm_config_cache: join(data, 'cache') };
  expect((await migrate(npm)).error).toMatchObject({ code: 'install_failed', message: expect.stringContaining('has another hash') });
  const missing = await migrate({ ...npm, EMAILAUTH_SERVER_PACKAGE: 'emailauth-server-nowhere@1' });
  expect(missing.error).toMatchObject({ code: 'install_failed', hint: expect.stringContaining('EMAILAUTH_SERVER_PACKAGE') });
  expect(await entries()).toEqual([]);
});

test('npm reads its global configuration', async () => {
  // npm looks for etc/npmrc there.
  const PREFIX = join(installed.directory, 'npm');
  await mkdir(join(PREFIX, 'etc'), { recursive: true });
  await writeFile(join(PREFIX, 'etc/npmrc'), 'registry=http://127.0.0.1:1\n');
  const { error } = await migrate({ EMAILAUTH_SERVER_PACKAGE: '', PREFIX });
  expect(error.message).toContain('registry cannot be reached');
});

test.runIf(hasOpenssl)('names the setting for a certificate authority that npm does not know', async () => {
  const authority = await openAuthority();
  const registry = createHttpsServer(await authority.issue('localhost', 1)).listen(0, '127.0.0.1');
  onTestFinished(async () => {
    registry.close();
    await authority.close();
  });
  await once(registry, 'listening');
  const { port } = registry.address() as AddressInfo;
  const { error } = await migrate({ EMAILAUTH_SERVER_PACKAGE: '', npm_config_registry: `https://localhost:${port}` });
  expect(error).toMatchObject({ code: 'install_failed', hint: expect.stringContaining('npm config set cafile') });
});

test('names the missing npm', async () => {
  const bin = join(installed.directory, 'bin');
  await mkdir(bin);
  await writeFile(join(bin, 'node'), `#!/bin/sh\nexec ${process.execPath} "$@"\n`);
  await chmod(join(bin, 'node'), 0o755);
  const env = environment({ PATH: bin });
  const { stdout } = await execa(process.execPath, [installed.command, 'db', 'migrate', '--yes', '--json'], {
    env,
    extendEnv: false,
    reject: false,
  });
  expect(JSON.parse(stdout).error).toMatchObject({ code: 'install_failed', message: expect.stringContaining('npm is not installed') });
});

test('without a terminal it installs only with --yes, and names the command', async () => {
  const { exitCode, error } = await migrate({}, []);
  expect([exitCode, error]).toEqual([
    3,
    {
      code: 'server_missing',
      message: 'The service is not installed: it is the package emailauth-server.',
      hint: expect.stringContaining(`emailauth start --yes\`, to install it in ${join(data, 'emailauth', `server-${version}`)}`),
    },
  ]);
});

test('reports files that are missing in an installation', async () => {
  await migrate();
  await rm(join(data, 'emailauth', `server-${version}`, 'node_modules/emailauth-server/dist/server/platform/db/migrate.js'));
  expect((await migrate()).error).toMatchObject({ code: 'server_damaged', hint: expect.stringContaining(join(data, 'emailauth')) });
});

test('finds the package that is installed beside the command', async () => {
  const prefix = join(installed.directory, 'both');
  await mkdir(prefix);
  const flags = ['--global', '--prefix', prefix, '--offline', '--no-audit', '--no-fund'];
  await execa('npm', ['install', ...flags, installed.commandPackage, small], { cwd: prefix });
  const { stdout } = await execa(join(prefix, 'bin/emailauth'), ['db', 'migrate', '--json'], { env: environment(), extendEnv: false });
  expect(JSON.parse(stdout)).toEqual({ applied: [] });
});

test.each([80, 40])('asks in a terminal of %i columns, and installs nothing after a no', { timeout: 120_000 }, async (columns) => {
  const home = { directory: installed.env.HOME, env: { ...environment(), TERM: 'xterm-256color' } };
  const open = () => openProgram(home as never, process.execPath, [installed.command, 'db', 'migrate'], { columns, rows: 24 });
  const declined = open();
  await declined.waitFor(/Install/);
  declined.type('n');
  expect(await declined.exited).toBe(2);
  await declined.close();
  const accepted = open();
  await accepted.waitFor(/Install/);
  accepted.type('y');
  expect(await accepted.exited).toBe(0);
  expect(accepted.text()).toContain('Nothing to do.');
  await accepted.close();
  expect(await entries()).toEqual([`server-${version}`]);
});

test('Ctrl-C during the installation leaves nothing behind', async () => {
  // npm waits for a registry that does not respond.
  let requests = 0;
  const server = createServer(() => requests++).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  const env = environment({
    EMAILAUTH_SERVER_PACKAGE: '',
    npm_config_registry: `http://127.0.0.1:${port}`,
    npm_config_cache: join(data, 'cache'),
  });
  const child = execa(installed.command, ['db', 'migrate', '--yes', '--json'], { env, extendEnv: false, reject: false, stdin: 'ignore' });
  await waitUntil('npm asks the registry', 100_000, async () => requests > 0);
  child.kill('SIGINT');
  const { exitCode, stdout } = await child;
  expect([exitCode, JSON.parse(String(stdout)).error.code]).toEqual([2, 'cancelled']);
  expect(await entries()).toEqual([]);
  server.close();
});

test('sends progress to stderr only', async () => {
  const { stdout, stderr } = await migrate();
  expect(stderr).toContain(`Installed emailauth-server ${version}.`);
  expect(JSON.parse(stdout)).toEqual({ applied: [] });
  expect(await readFile(join(data, 'emailauth', `server-${version}`, 'package.json'), 'utf8')).toContain('"private"');
});
