/**
 * The steps of a release in plain JavaScript, as prepare.mjs, which calls it: packs the two packages that are published, emailauth and
 * emailauth-server, whose integrity the command carries. `node cli/release.mjs > server.json`, after `npm publish`, prints the entry of the MCP registry.
 */
import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { cpSync, mkdirSync, mkdtempSync, readFileSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

/** What emailauth-server contains: the bundled service, the pages, and the templates and texts that it serves. */
const SERVER_FILES = [
  ...['server', 'templates', 'web'].map((folder) => `dist/${folder}`),
  ...['docs/cli.md', 'docs/operations.md', 'docs/guide', 'docs/skill', 'LICENSE'],
];

/**
 * Writes both packages as .tgz files to a directory.
 * @param home the repository, which is built
 * @returns their paths, the server first
 */
export function packBoth(home, destination) {
  mkdirSync(destination, { recursive: true });
  const staging = mkdtempSync(join(tmpdir(), 'emailauth-server-'));
  try {
    stageServer(home, staging);
    const server = pack(staging, destination);
    return [server, packCommand(home, destination, server)];
  } finally {
    rmSync(staging, { recursive: true, force: true });
  }
}

/**
 * Writes the package emailauth to a directory. It installs the service from this file, byte for byte, and from no other.
 * @param server path of the package emailauth-server
 * @returns its path
 */
export function packCommand(home, destination, server) {
  const staging = mkdtempSync(join(tmpdir(), 'emailauth-command-'));
  try {
    const { scripts: _, workspaces: __, devDependencies: ___, ...manifest } = readJson(join(home, 'package.json'));
    for (const path of [...COMMAND_FOLDERS, ...COMMAND_FILES]) {
      cpSync(join(home, path), join(staging, path), { recursive: true, filter: (source) => !/\.map$/.test(source) });
    }
    writeJson(join(staging, 'package.json'), manifest);
    const integrity = `sha512-${createHash('sha512').update(readFileSync(server)).digest('base64')}`;
    writeJson(join(staging, 'dist/cli/service-package.json'), { integrity });
    return pack(staging, destination);
  } finally {
    rmSync(staging, { recursive: true, force: true });
  }
}

/** What emailauth contains, of which `files` of package.json selects. */
const COMMAND_FOLDERS = ['dist/cli', 'dist/templates', 'docs'];
const COMMAND_FILES = ['README.md', 'LICENSE'];

function stageServer(home, staging) {
  for (const path of SERVER_FILES) {
    cpSync(join(home, path), join(staging, path), { recursive: true, filter: (source) => !/\.map$/.test(source) });
  }
  cpSync(join(home, 'server/README.md'), join(staging, 'README.md'));
  // In the repository it is private, so that the sources are not published by mistake. The development packages are in the bundle.
  const { private: _, devDependencies: __, ...manifest } = readJson(join(home, 'server/package.json'));
  const lock = readJson(join(home, 'package-lock.json'));
  writeJson(join(staging, 'package.json'), manifest);
  writeJson(join(staging, 'npm-shrinkwrap.json'), shrinkwrapOf(lock, manifest));
}

function pack(directory, destination) {
  const args = ['pack', '--ignore-scripts', '--json', '--pack-destination', destination];
  const options = { cwd: directory, encoding: 'utf8', stdio: ['ignore', 'pipe', 'inherit'], shell: process.platform === 'win32' };
  const [{ filename }] = JSON.parse(execFileSync('npm', args, options));
  return join(destination, filename);
}

/**
 * Returns the content of npm-shrinkwrap.json for the workspace server/: the part of package-lock.json that it needs, so that the
 * service is installed with the versions it was tested with.
 * @throws Error when two places of the lock file would become the same
 */
export function shrinkwrapOf(lock, manifest) {
  const found = new Map();
  const queue = [['server', { ...manifest, devDependencies: undefined }]];
  for (let next = queue.shift(); next; next = queue.shift()) {
    const [path, entry] = next;
    for (const name of dependenciesOf(entry)) {
      const place = resolve(lock.packages, path, name);
      if (!place || found.has(place)) continue;
      found.set(place, lock.packages[place]);
      queue.push([place, lock.packages[place]]);
    }
  }
  const packages = { '': { ...manifest, devDependencies: undefined, scripts: undefined } };
  for (const [place, { dev, devOptional, ...entry }] of [...found].sort(([a], [b]) => (a < b ? -1 : 1))) {
    const path = place.replace(/^server\//, '');
    if (packages[path]) throw new Error(`${place} and ${path} are different packages: let npm dedupe them.`);
    packages[path] = { ...entry, resolved: entry.resolved ?? addressOf(place, entry), ...(devOptional && { optional: true }) };
  }
  const { name, version } = manifest;
  return { name, version, lockfileVersion: lock.lockfileVersion, requires: true, packages };
}

/** Returns the names of the packages that npm installs for one: its dependencies and peers, without optional peers. */
function dependenciesOf({ dependencies, optionalDependencies, peerDependencies = {}, peerDependenciesMeta = {} }) {
  const peers = Object.keys(peerDependencies).filter((name) => !peerDependenciesMeta[name]?.optional);
  return [...Object.keys({ ...dependencies, ...optionalDependencies }), ...peers];
}

/** Returns the place of a package in the lock file that Node.js finds from another place, or undefined. */
function resolve(packages, from, name) {
  for (let folder = from; ; folder = folder.replace(/(?:^|\/)[^/]*$/, '')) {
    const place = `${folder && `${folder}/`}node_modules/${name}`;
    if (packages[place]) return place;
    if (folder === '') return undefined;
  }
}

/** npm replaces this registry by the configured one. */
function addressOf(place, { name = place.slice(place.lastIndexOf('node_modules/') + 'node_modules/'.length), version }) {
  return `https://registry.npmjs.org/${name}/-/${name.split('/').at(-1)}-${version}.tgz`;
}

/**
 * Returns the server.json for the MCP registry with the npm package of this version; the registry compares its name with mcpName of the
 * published package. mcp/server.json itself has no package: a name on npm that is not claimed yet could be claimed by anyone, whose code
 * clients would then run.
 */
export function releasedServerJson() {
  const { name, mcpName, version } = readJson(new URL('../package.json', import.meta.url));
  const { $schema, remotes, ...server } = readJson(new URL('../mcp/server.json', import.meta.url));
  const environmentVariables = [
    { name: 'EMAILAUTH_HOST', description: 'Address of the service', format: 'string', default: 'http://localhost:4400' },
    {
      name: 'EMAILAUTH_TOKEN',
      description: 'API key of the dashboard; without it the sign-in of `emailauth login` counts',
      format: 'string',
      isSecret: true,
    },
  ];
  const npmPackage = {
    registryType: 'npm',
    registryBaseUrl: 'https://registry.npmjs.org',
    identifier: name,
    version,
    runtimeHint: 'npx',
    transport: { type: 'stdio' },
    packageArguments: [{ type: 'positional', value: 'mcp' }],
    environmentVariables,
  };
  return { $schema, ...server, name: mcpName, version, packages: [npmPackage], remotes };
}

const readJson = (path) => JSON.parse(readFileSync(path, 'utf8'));
const writeJson = (path, value) => writeFileSync(path, `${JSON.stringify(value, null, 2)}\n`);

if (process.argv[1] && realpathSync(process.argv[1]) === fileURLToPath(import.meta.url)) {
  process.stdout.write(`${JSON.stringify(releasedServerJson(), null, 2)}\n`);
}
