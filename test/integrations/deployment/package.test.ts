// A stage of its own: its service is the installed package.
import { spawn } from 'node:child_process';
import { mkdir, readdir, readFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { execa } from 'execa';
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest';
import { OUTSIDE } from '../../../server/bundle.ts';
import { signInHome } from '../../cli/sign-in.ts';
import { openStage, type Service, type Stage } from '../../support/harness.ts';
import { freshDomain } from '../../support/sign-ins.ts';
import { freePort, waitUntil } from '../../support/waiting.ts';
import { filesBelow, type Installed, installCommand } from './installed.ts';
import { installTools } from './tools.ts';

const repository = join(import.meta.dirname, '../../..');
/** The budget is 25 MB; this is close to the real size, so that a large new package is noticed. */
const MAX_BYTES = 5_000_000;

let installed: Installed;
let stage: Stage;
let service: Service;
beforeAll(async () => {
  [installed, stage] = await Promise.all([installCommand(), openStage({ empty: true })]);
  service = await stage.start();
});
afterAll(async () => {
  await stage?.close();
  await installed?.close();
});

const filesIn = async (file: string) =>
  (await execa('tar', ['-tzf', file])).stdout.split('\n').map((path) => path.replace(/^package\//, ''));

test('emailauth is one package of less than 5 MB', async () => {
  const files = await filesBelow(installed.prefix);
  const manifests = [...files.keys()].filter((path) => /node_modules\/(?:@[^/]+\/)?[^/]+\/package\.json$/.test(path));
  expect(manifests.filter((path) => !path.endsWith('/.package-lock.json'))).toEqual(['lib/node_modules/emailauth/package.json']);
  expect([...files.values()].reduce((sum, size) => sum + size, 0)).toBeLessThan(MAX_BYTES);
});

test('emailauth contains the command, the templates and the documentation only', async () => {
  const files = await filesIn(installed.commandPackage);
  const others = files.filter((path) => !/^(?:dist\/(?:cli|templates\/[\w-]+)\/|docs\/(?:guide\/|skill\/)?[\w-]+\.md$)/.test(path));
  expect(others.sort()).toEqual(['LICENSE', 'README.md', 'package.json']);
  expect(files.filter((path) => /\.(?:map|ts|tsx)$|\.test\./.test(path) && !path.startsWith('dist/templates/'))).toEqual([]);
  for (const path of [
    'dist/cli/main.js',
    'dist/cli/THIRD-PARTY-LICENSES.md',
    'dist/cli/sbom.cdx.json',
    'docs/cli.md',
    'docs/guide/quick-start.md',
    'docs/skill/SKILL.md',
  ])
    expect(files).toContain(path);
});

test('emailauth-server contains the service with its packages, the pages, and the versions of the packages outside the bundle', async () => {
  const files = await filesIn(installed.serverPackage);
  const others = files.filter((path) => !/^(?:dist\/(?:server|templates|web)\/|docs\/)/.test(path));
  expect(others.sort()).toEqual(['LICENSE', 'README.md', 'npm-shrinkwrap.json', 'package.json']);
  expect(files.filter((path) => /\.(?:map|ts|tsx)$|\.test\./.test(path) && !path.startsWith('dist/templates/'))).toEqual([]);
  for (const path of [
    'dist/server/main.js',
    'dist/server/worker.js',
    'dist/server/THIRD-PARTY-LICENSES.md',
    'dist/server/sbom.cdx.json',
    'dist/web/index.html',
    'dist/web/signin.html',
    'docs/guide/quick-start.md',
  ])
    expect(files).toContain(path);
  const { stdout } = await execa('tar', ['-xzOf', installed.serverPackage, 'package/package.json']);
  const { private: isPrivate, dependencies, devDependencies } = JSON.parse(stdout);
  expect([isPrivate, devDependencies]).toEqual([undefined, undefined]);
  expect(Object.keys(dependencies)).toEqual(Object.keys(OUTSIDE));
});

test.each([
  ['emailauth', 'cli', ['commander', 'ink', 'react', 'zod', '@modelcontextprotocol/server', 'tldts']],
  ['emailauth-server', 'server', ['helmet', 'sequelize', 'graphile-worker', 'react-dom', 'zod', '@simplewebauthn/server']],
])(
  '%s has the licenses of the packages in its bundle, and an SBOM that follows the schema of CycloneDX',
  async (name, folder, packages) => {
    const file = name === 'emailauth' ? installed.commandPackage : installed.serverPackage;
    const read = async (path: string) => (await execa('tar', ['-xzOf', file, `package/dist/${folder}/${path}`])).stdout;
    const [licenses, sbom] = await Promise.all(['THIRD-PARTY-LICENSES.md', 'sbom.cdx.json'].map(read));
    const load = createRequire(join(await installTools(), 'package.json'));
    const { Spec, Validation } = load('@cyclonedx/cyclonedx-library');
    expect(await new Validation.JsonValidator(Spec.Version.v1dot6).validate(sbom)).toBeNull();
    const components: { name: string; version: string }[] = JSON.parse(sbom).components;
    expect(components.map(({ name }) => name)).toEqual(expect.arrayContaining(packages));
    const listed = components.map(({ name, version }) => `${name} - ${version}`);
    const licensed = [...licenses.matchAll(/^## (.+ - \S+)/gm)].map(([, title]) => title);
    expect(licensed.filter((title) => !listed.includes(title))).toEqual([]);
  },
);

test('signs in, registers a website and fills in its template with the installed package', async () => {
  const env = { ...installed.env, EMAILAUTH_HOST: service.url };
  const run = async (args: string[]) => {
    const ran = await installed.run(args, { env });
    return { ...ran, exitCode: ran.exitCode, json: () => JSON.parse(ran.stdout) };
  };
  const email = await signInHome({ run }, stage);
  const domain = freshDomain();
  expect((await run(['register', domain, '--email', email, '--json'])).json()).toMatchObject({ domain, email });
  const { stdout } = await run(['init', '--framework', 'express', '--domain', domain, '--dry-run', '--no-input', '--json']);
  expect(stdout).toContain(service.url);
});

test('runs every command of the installed package', { timeout: 300_000 }, async () => {
  const env = { ...installed.env, EMAILAUTH_HOST: service.url };
  const { commands } = JSON.parse((await installed.run(['--help', '--json'])).stdout) as { commands: { usage: string }[] };
  expect(commands.length).toBeGreaterThan(20);
  for (const { usage } of commands) {
    const name = usage.replace(/ [<[].*/, '');
    const help = await installed.run([...name.split(' '), '--help']);
    expect([name, help.exitCode, help.stdout]).toEqual([name, 0, expect.stringContaining(`emailauth ${name}`)]);
    const args = usage.split(' ').flatMap((word) => (word.startsWith('<') ? [VALUES[word] ?? 'shop.example'] : []));
    const ran = await installed.run([...name.split(' '), ...args, '--no-input', '--json', ...(FLAGS[name] ?? [])], { env });
    // An internal error would be a file or module that is not in the package.
    expect([name, ran.exitCode, `${ran.stdout}${ran.stderr}`]).toEqual([
      name,
      expect.toBeOneOf([0, 3, 4, 5, 6, 8, 10]),
      expect.not.stringMatching(/"fault"|Internal error|ERR_MODULE_NOT_FOUND/),
    ]);
  }
});

/** Values of arguments, which are domains otherwise. */
const VALUES: Record<string, string> = {
  '<shell>': 'bash',
  '<client>': 'cursor',
  '<key>': 'host',
  '<value>': 'http://localhost:4400',
  '<file>': 'backup.tar',
};
/** Flags without which a command would only report what is missing. */
const FLAGS: Record<string, string[]> = { init: ['--list'], 'mcp install': ['--yes'], stats: ['--plain'] };

test('emailauth start installs the service from its package, and serves', { timeout: 600_000 }, async () => {
  const place = join(installed.directory, 'place');
  await mkdir(place);
  const missing = await installed.run(['start', '--json'], { cwd: place });
  expect([missing.exitCode, JSON.parse(missing.stdout).error]).toEqual([
    3,
    { code: 'server_missing', message: expect.any(String), hint: expect.stringContaining('emailauth start --yes') },
  ]);

  const port = await freePort();
  const env = { ...installed.env, EMAILAUTH_SERVER_PACKAGE: installed.serverPackage };
  const serve = async (flags: string[], env: Record<string, string>) => {
    const child = spawn(installed.command, ['start', ...flags, '--port', String(port)], {
      cwd: place,
      env,
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    onTestFinished(() => void child.kill('SIGKILL'));
    let output = '';
    for (const stream of [child.stdout, child.stderr]) stream.on('data', (chunk) => (output += chunk));
    const exited = new Promise<number | null>((resolve) => child.on('exit', resolve));
    let ended = false;
    exited.then(() => (ended = true));
    const statusOf = (path: string) =>
      fetch(`http://localhost:${port}${path}`).then(
        ({ status }) => status,
        () => 0,
      );
    await waitUntil('the service is ready', 400_000, async () => {
      if (ended) throw new Error(`It ended. It wrote:\n${output}`);
      return (await statusOf('/readyz')) === 200 || output;
    });
    for (const path of ['/', '/auth', '/webservices/email-auth', '/webservices/email-auth/cli.md', '/openapi.json'])
      expect([path, await statusOf(path)]).toEqual([path, 200]);
    child.kill('SIGTERM');
    expect(await exited).toBe(0);
    return output;
  };
  expect(await serve(['--yes'], env)).toContain('Installed emailauth-server');
  expect(await readdir(join(installed.env.HOME, '.local/share/emailauth'))).toEqual([expect.stringMatching(/^server-\d+\.\d+\.\d+$/)]);

  // Installed once: the next start needs neither npm nor a confirmation.
  expect(await serve([], { ...env, EMAILAUTH_SERVER_PACKAGE: '/nowhere.tgz' })).not.toContain('Installing');
  const backup = await installed.run(['backup', 'backup.tar', '--json'], { cwd: place, env });
  expect([backup.exitCode, JSON.parse(backup.stdout)]).toEqual([0, expect.objectContaining({ tables: expect.any(Object) })]);
  const migrated = await installed.run(['db', 'migrate', '--json'], { cwd: place, env });
  expect([migrated.exitCode, JSON.parse(migrated.stdout)]).toEqual([0, { applied: [] }]);
  expect((await installed.run(['admin', 'unlock', '--json'], { cwd: place, env })).exitCode).toBe(0);
  const restored = await installed.run(['restore', 'backup.tar', '--yes', '--json'], { cwd: place, env });
  expect([restored.exitCode, restored.stdout]).toEqual([0, expect.stringContaining('createdAt')]);
});

test('the packages have the version of the repository', async () => {
  const { version } = JSON.parse(await readFile(join(repository, 'package.json'), 'utf8'));
  expect(await installed.run(['--version'])).toMatchObject({ exitCode: 0, stdout: version, stderr: '' });
  expect([installed.commandPackage, installed.serverPackage].map((path) => path.split('/').at(-1))).toEqual([
    `emailauth-${version}.tgz`,
    `emailauth-server-${version}.tgz`,
  ]);
});
