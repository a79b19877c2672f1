import { mkdirSync, mkdtempSync, realpathSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { frameworkOf } from '../../templates/catalog.ts';
import type { Framework } from '../../templates/framework.ts';
import { findPackageManager, findPython, findPythonManager, listWorkspaces, monorepoOf, workspacePatterns } from './package-manager.ts';
import { portOf, readProject } from './project.ts';

let root: string;
beforeEach(() => {
  root = realpathSync(mkdtempSync(join(tmpdir(), 'emailauth-facts-')));
});
afterEach(() => rmSync(root, { recursive: true }));

function put(files: Record<string, string>): void {
  for (const [path, text] of Object.entries(files)) {
    mkdirSync(dirname(join(root, path)), { recursive: true });
    writeFileSync(join(root, path), text);
  }
}
const json = (value: unknown) => JSON.stringify(value);

describe('the kind of a project', () => {
  test.each<[string, Record<string, string>, ReturnType<typeof readProject>['kind']]>([
    [
      'npm init -y with npm 11',
      { 'package.json': json({ type: 'commonjs', main: 'index.js' }), 'app.js': '' },
      { typescript: false, module: 'commonjs', router: null },
    ],
    ['ES modules', { 'package.json': json({ type: 'module' }), 'app.js': '' }, { typescript: false, module: 'esm', router: null }],
    [
      'ES modules without a type',
      { 'package.json': '{}', 'index.js': "import express from 'express';\n" },
      { typescript: false, module: 'esm', router: null },
    ],
    [
      'no type and require',
      { 'package.json': '{}', 'index.js': "require('x');\n" },
      { typescript: false, module: 'commonjs', router: null },
    ],
    [
      'TypeScript that is built to dist',
      { 'package.json': json({ type: 'module', scripts: { start: 'node dist/app.js' } }), 'src/app.ts': '', 'tsconfig.json': '{}' },
      { typescript: true, module: 'esm', router: null },
    ],
    [
      'a server in JavaScript beside pages in TypeScript',
      { 'package.json': json({ type: 'module', scripts: { start: 'node server.js' } }), 'server.js': '', 'tsconfig.json': '{}' },
      { typescript: false, module: 'esm', router: null },
    ],
    [
      'the app router',
      { 'package.json': json({ dependencies: { next: '16' } }), 'src/app/page.tsx': '', 'tsconfig.json': '{}', 'server.js': '' },
      { typescript: true, module: 'commonjs', router: 'app' },
    ],
    [
      'the pages router',
      { 'package.json': json({ dependencies: { next: '16' } }), 'src/pages/index.js': '' },
      { typescript: false, module: 'commonjs', router: 'pages' },
    ],
    ['a manifest that is not valid', { 'package.json': '{"type":' }, { typescript: false, module: 'commonjs', router: null }],
    ['no manifest', { 'app.py': '' }, { typescript: false, module: 'commonjs', router: null }],
  ])('is that of %s', (_, files, kind) => {
    put(files);
    expect(readProject(root).kind).toEqual(kind);
  });
});

describe('the entry files', () => {
  test.each<[string, Record<string, string>, string[]]>([
    [
      'of express-generator',
      { 'package.json': json({ scripts: { start: 'node ./bin/www' } }), 'bin/www': '', 'app.js': '' },
      ['bin/www', 'app.js'],
    ],
    [
      'of a script with flags',
      { 'package.json': json({ scripts: { dev: 'node --watch --env-file=.env ./web.mjs' } }), 'web.mjs': '' },
      ['web.mjs'],
    ],
    ['that does not exist', { 'package.json': json({ main: 'index.js' }), 'app.js': '' }, ['app.js']],
    ['of Flask', { 'app.py': '', 'venv/lib/app.py': '' }, ['app.py']],
    ['of a Python package', { 'flaskr/__init__.py': '' }, ['flaskr/__init__.py']],
    ['of Go', { 'cmd/web/main.go': '' }, ['cmd/web/main.go']],
    ['outside the project', { 'package.json': json({ main: '../other.js' }) }, []],
  ])('%s', (_, files, entries) => {
    put(files);
    expect(readProject(root).entries).toEqual(entries);
  });
});

test.each<[string, Record<string, string>, number | undefined]>([
  ['a constant', { 'app.js': 'const port = 3100\napp.listen(port)' }, 3100],
  ['a default', { 'app.js': 'const PORT = process.env.PORT || 5050;' }, 5050],
  ['an argument', { 'app.js': 'app.listen(8081, () => {})' }, 8081],
  ['an option', { 'app.js': 'serve({ fetch: app.fetch, port: 3200 })' }, 3200],
  ['a script', { 'package.json': json({ scripts: { dev: 'next dev -p 4000' } }) }, 4000],
  ['Flask', { 'app.py': 'app.run(debug=True, port=5055)' }, 5055],
  ['Go', { 'main.go': 'http.ListenAndServe(":8088", nil)' }, 8088],
  ['none', { 'app.js': 'app.listen(process.env.PORT)' }, undefined],
])('the port of %s', (_, files, port) => {
  put(files);
  expect(readProject(root).port).toBe(port);
});

test('the port of an app is that of .env where it is read, else its own, else that of the framework', () => {
  const portIn = (files: Record<string, string>) => {
    put(files);
    return portOf(readProject(root), frameworkOf('express') as Framework);
  };
  expect(portIn({ 'app.js': '', '.env': 'PORT=3002\n' })).toBe(3000);
  expect(portIn({ 'app.js': 'app.listen(4000)' })).toBe(4000);
  expect(portIn({ 'app.js': 'app.listen(process.env.PORT || 4000)' })).toBe(3002);
});

test.each<[string, () => void]>([
  ['.. in a script', () => put({ 'site/package.json': json({ scripts: { start: 'node src/../../other/app.js' } }), 'site/src/x.js': '' })],
  ['.. in a script without a directory', () => put({ 'site/package.json': json({ scripts: { dev: 'tsx watch x/../../other/app.js' } }) })],
  ['.. in main', () => put({ 'site/package.json': json({ main: './../other/app.js' }) })],
  ['an absolute path', () => put({ 'site/package.json': json({ scripts: { start: `node ${root}/other/app.js` } }) })],
  [
    'a link to a directory',
    () => {
      put({ 'site/package.json': json({ scripts: { start: 'node src/app.js' } }) });
      symlinkSync('../other', join(root, 'site/src'));
    },
  ],
  [
    'a link to a file',
    () => {
      put({ 'site/package.json': '{}' });
      symlinkSync('../other/app.js', join(root, 'site/app.js'));
    },
  ],
])('a file outside the project is no entry: %s', (_, prepare) => {
  put({ 'other/app.js': '' });
  prepare();
  expect(readProject(join(root, 'site')).entries).toEqual([]);
});

test('an entry is named by its shortest path', () => {
  put({ 'package.json': json({ scripts: { start: 'node ./src/../lib/./run.js' } }), 'lib/run.js': '', 'src/x.js': '' });
  expect(readProject(root).entries).toEqual(['lib/run.js']);
});

describe('the package manager', () => {
  test.each<[string, Record<string, string>, string[], string[]]>([
    ['npm without a lock file', {}, ['npm', 'i', '--no-audit', '--no-fund', 'x'], ['npm', 'run', 'build']],
    ['pnpm', { 'pnpm-lock.yaml': '' }, ['pnpm', 'add', 'x'], ['pnpm', 'run', 'build']],
    ['yarn', { 'yarn.lock': '' }, ['yarn', 'add', 'x'], ['yarn', 'run', 'build']],
    ['bun', { 'bun.lock': '' }, ['bun', 'add', 'x'], ['bun', 'run', 'build']],
    ['the manifest', { 'package.json': json({ packageManager: 'pnpm@10.1.0' }) }, ['pnpm', 'add', 'x'], ['pnpm', 'run', 'build']],
  ])('is that of %s', async (_, files, add, run) => {
    put({ 'package.json': '{}', ...files });
    const manager = await findPackageManager(root);
    expect(manager.add(['x'], false)).toEqual(add);
    expect([...(manager.run ?? []), 'build']).toEqual(run);
  });

  test('is that of the monorepo, but not that of a directory around the project', async () => {
    put({
      'pnpm-lock.yaml': '',
      'pnpm-workspace.yaml': "packages:\n  - 'apps/*'\n",
      'apps/web/package.json': '{}',
      'tools/a/package.json': '{}',
    });
    const manager = await findPackageManager(join(root, 'apps/web'));
    expect(manager.name).toBe('pnpm');
    expect(manager.files).toContain(join(root, 'pnpm-lock.yaml'));
    expect((await findPackageManager(join(root, 'tools/a'))).name).toBe('npm');
  });

  test('of Python is that of the lock file, else pip in a virtual environment, else none', () => {
    expect(findPythonManager(root, {})).toBeNull();
    expect(findPython(root, {}).path).toBe('python3');
    put({ '.venv/bin/python': '' });
    expect(findPythonManager(root, {})?.add(['x'], false)).toEqual([join(root, '.venv/bin/python'), '-m', 'pip', 'install', 'x']);
    put({ 'uv.lock': '' });
    expect(findPythonManager(root, {})?.add(['x'], true)).toEqual(['uv', 'add', '--dev', 'x']);
  });
});

describe('workspaces', () => {
  test.each<[string, Record<string, string>, string[]]>([
    ['npm', { 'package.json': json({ workspaces: ['apps/*', '!apps/old'] }) }, ['apps/*', '!apps/old']],
    ['yarn', { 'package.json': json({ workspaces: { packages: ['packages/**'] } }) }, ['packages/**']],
    [
      'pnpm',
      { 'pnpm-workspace.yaml': '# ours\npackages:\n  # all\n  - "apps/*" # these\n  - packages/**\n\ncatalog:\n  - no\n' },
      ['apps/*', 'packages/**'],
    ],
    ['pnpm on one line', { 'pnpm-workspace.yaml': "packages: ['a', b]\r\n" }, ['a', 'b']],
    ['pnpm with settings only', { 'pnpm-workspace.yaml': 'onlyBuiltDependencies:\n  - sharp\n' }, []],
  ])('of %s are read', (_, files, patterns) => {
    put(files);
    expect(workspacePatterns(root)).toEqual(patterns);
  });

  test('with a framework are listed by path', () => {
    put({
      'package.json': json({ workspaces: ['./apps/*', 'packages/*/'] }),
      'apps/web/package.json': json({ dependencies: { next: '16' } }),
      'apps/api/package.json': json({ dependencies: { express: '5' } }),
      'packages/lib/package.json': '{}',
      'apps/web/node_modules/x/package.json': json({ dependencies: { express: '5' } }),
    });
    const listed = listWorkspaces(root).map(({ path, frameworks }) => [path, frameworks.map(({ id }) => id)]);
    expect(listed).toEqual([
      ['apps/api', ['express']],
      ['apps/web', ['nextjs']],
    ]);
    expect(monorepoOf(join(root, 'apps/web'))).toBe(root);
    expect(monorepoOf(root)).toBe(root);
  });

  test('are within the monorepo', () => {
    put({
      'mono/package.json': json({ workspaces: ['../*', 'apps/*'] }),
      'other/package.json': json({ dependencies: { express: '5' } }),
      'mono/apps/web/package.json': json({ dependencies: { hono: '4' } }),
    });
    symlinkSync('../../other', join(root, 'mono/apps/linked'));
    expect(listWorkspaces(join(root, 'mono')).map(({ path }) => path)).toEqual(['apps/web']);
  });

  test('are found below a symbolic link', () => {
    put({ 'real/package.json': json({ workspaces: ['apps/*'] }), 'real/apps/web/package.json': json({ dependencies: { hono: '4' } }) });
    symlinkSync('real', join(root, 'linked'));
    expect(listWorkspaces(join(root, 'linked')).map(({ path }) => path)).toEqual(['apps/web']);
  });
});
