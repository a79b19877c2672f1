import { type ChildProcess, spawn } from 'node:child_process';
import { chmod, mkdir, mkdtemp, readdir, readFile, rm, stat, symlink } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { execa } from 'execa';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { Client } from '../client.ts';
import { freePort, waitUntil } from '../waiting.ts';

const repository = join(import.meta.dirname, '../..');
let directory: string;
let files: { path: string; size: number; mode: number }[];
let command: string;
const running = new Set<ChildProcess>();

/**
 * Packs the package and installs it into an empty project as npm does. Its dependencies are links to those of the repository,
 * so that no registry is needed; development dependencies are left out.
 */
beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), 'emailauth-package-'));
  // When run by root, the embedded PostgreSQL in there runs as another user.
  await chmod(directory, 0o711);
  const packing = ['pack', '--ignore-scripts', '--json', '--pack-destination', directory];
  const { stdout } = await execa('npm', packing, { cwd: repository });
  const [packed] = JSON.parse(stdout);
  files = packed.files;
  const modules = join(directory, 'project/node_modules');
  const home = join(modules, 'emailauth');
  await mkdir(home, { recursive: true });
  await execa('tar', ['-xzf', join(directory, packed.filename), '--strip-components=1', '-C', home]);
  const { packages } = JSON.parse(await readFile(join(repository, 'package-lock.json'), 'utf8'));
  for (const [path, { dev }] of Object.entries<{ dev?: boolean }>(packages)) {
    const isThere = await stat(join(repository, path)).catch(() => null);
    if (dev || !isThere || !/^node_modules\/(?:@[^/]+\/)?[^/]+$/.test(path)) continue;
    await mkdir(dirname(join(directory, 'project', path)), { recursive: true });
    await symlink(join(repository, path), join(directory, 'project', path));
  }
  const { bin } = JSON.parse(await readFile(join(home, 'package.json'), 'utf8'));
  command = join(modules, '.bin/emailauth');
  await mkdir(dirname(command));
  await symlink(join('../emailauth', bin.emailauth), command);
  await chmod(command, 0o755);
});
afterAll(async () => {
  for (const child of running) child.kill('SIGKILL');
  await rm(directory, { recursive: true, force: true });
});

const run = (...args: string[]) => execa(command, args, { cwd: directory, stdin: 'ignore', reject: false });

test('contains only the files that run', () => {
  const paths = files.map(({ path }) => path);
  const outside = paths.filter(
    (path) => !/^(?:dist\/(?:cli|contract|diagnostics|docs|server|mcp|templates|web)\/|docs\/(?:guide\/|skill\/)?[\w-]+\.md$)/.test(path),
  );
  expect(outside.sort()).toEqual(['LICENSE', 'README.md', 'package.json']);
  expect(paths.filter((path) => /\.(?:map|ts|tsx)$|\.test\./.test(path) && !path.startsWith('dist/templates/'))).toEqual([]);
  for (const path of [
    'dist/cli/main.js',
    'dist/docs/read.js',
    'dist/server/main.js',
    'dist/web/index.html',
    'docs/cli.md',
    'docs/operations.md',
    'docs/guide/quick-start.md',
    'docs/skill/SKILL.md',
  ]) {
    expect(paths).toContain(path);
  }
  expect(files.reduce((sum, { size }) => sum + size, 0)).toBeLessThan(4_000_000);
});

test('runs the command from the installed package', async () => {
  const { version } = JSON.parse(await readFile(join(repository, 'package.json'), 'utf8'));
  expect(await run('--version')).toMatchObject({ exitCode: 0, stdout: version, stderr: '' });
  expect((await run('--help')).stdout).toContain('Usage: emailauth <command> [flags]');
  const { exitCode, stdout } = await run('init', '--list', '--json');
  expect(exitCode).toBe(0);
  expect(JSON.parse(stdout).length).toBeGreaterThan(10);
});

test('starts the service from the installed package with its data in the working directory', { timeout: 180_000 }, async () => {
  const place = join(directory, 'place');
  await mkdir(place, { mode: 0o711 });
  const port = await freePort();
  const { PATH, HOME } = process.env;
  const child = spawn(command, ['start', '--port', String(port)], { cwd: place, env: { PATH, HOME }, stdio: ['ignore', 'pipe', 'pipe'] });
  running.add(child);
  const exited = new Promise<number | null>((resolve) =>
    child.on('exit', (code) => {
      running.delete(child);
      resolve(code);
    }),
  );
  let output = '';
  for (const stream of [child.stdout, child.stderr]) {
    stream.on('data', (chunk) => {
      output += chunk;
    });
  }
  const client = new Client(`http://localhost:${port}`);
  const statusOf = async (path: string) => (await client.get(path).catch(() => ({ status: 0 }))).status;
  await waitUntil('the service is ready', 120_000, async () => {
    if (!running.has(child)) throw new Error(`It ended. It wrote:\n${output}`);
    return (await statusOf('/readyz')) === 200 || output;
  });
  for (const path of ['/', '/auth', '/webservices/email-auth', '/demo', '/dev/inbox', '/openapi.json']) {
    expect([path, await statusOf(path)]).toEqual([path, 200]);
  }
  expect(await readdir(place)).toEqual(['data']);
  child.kill('SIGTERM');
  expect(await exited).toBe(0);
});
