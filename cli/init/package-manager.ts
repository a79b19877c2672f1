import { existsSync, realpathSync } from 'node:fs';
import { dirname, join, relative, sep } from 'node:path';
import { type Agent, detect, resolveCommand } from 'package-manager-detector';
import { globSync } from 'tinyglobby';
import { detectFrameworks } from '../../templates/detect.ts';
import type { Framework } from '../../templates/framework.ts';
import { isBelow } from './files.ts';
import { type Project, readDetectionFiles, readManifest, readText } from './project.ts';

/** The packages of an integration in one project. */
export type Packages = {
  manager: PackageManager | null;
  /** Those that the project lacks. */
  missing: string[];
  /** The commands that add them; empty when none are missing. */
  add: CommandLine[];
  /** The command that installs the packages of the project itself, when they are not installed and its check needs them; else null. */
  prepare: CommandLine | null;
};

/** Returns which packages an integration needs in a project, and how they are added. */
export async function findPackages(
  { root, manifest }: Project,
  { language, packages = [], devPackages = [] }: Framework,
  env: Readonly<Record<string, string | undefined>>,
): Promise<Packages> {
  const isNode = language === 'JavaScript' || language === 'TypeScript';
  const manager = isNode ? (manifest ? await findPackageManager(root) : null) : otherManager(root, language, env);
  const lists = ['requirements.txt', 'pyproject.toml', 'Pipfile', 'composer.json', 'Gemfile'].map((file) => readText(root, file) ?? '');
  const isListed = (name: string) => (isNode ? manifest?.packages.has(withoutVersion(name)) : lists.some((text) => names(text, name)));
  const lacking = (list: readonly string[]) => list.filter((name) => !isListed(name));
  const [needed, development] = [lacking(packages), lacking(devPackages)];
  const add = [
    ...(needed.length > 0 && manager ? [manager.add(needed, false)] : []),
    ...(development.length > 0 && manager ? [manager.add(development, true)] : []),
  ];
  const isInstalled = !manager || manager.directories.some((path) => existsSync(path));
  return {
    manager,
    missing: [...needed, ...development],
    add,
    prepare: isNode && !isInstalled && manifest && manifest.packages.size > 0 ? (manager?.install ?? null) : null,
  };
}

function otherManager(
  root: string,
  language: Framework['language'],
  env: Readonly<Record<string, string | undefined>>,
): PackageManager | null {
  if (language === 'Python') return findPythonManager(root, env);
  if (language === 'PHP') return composerIn(root);
  return language === 'Ruby' ? bundlerIn(root) : null;
}

/** Returns `@fastify/cookie` for `@fastify/cookie@^11`. */
const withoutVersion = (name: string) => name.split(/(?<!^)@/, 1)[0];

/** Whether a list of dependencies names a package, with or without a version behind it. */
function names(text: string, name: string): boolean {
  const words = text.toLowerCase().split(/["'\s]+/);
  return words.some((word) => word.startsWith(name.toLowerCase()) && !/^[\w.-]/.test(word.slice(name.length)));
}

/** A program and its arguments. */
export type CommandLine = readonly [program: string, ...args: string[]];

/** How packages are added to a project. */
export type PackageManager = {
  /** Such as `npm`, for people. */
  name: string;
  /** Returns the command that adds packages and records them in the manifest. */
  add(packages: readonly string[], development: boolean): CommandLine;
  /** The command that makes the installed packages those of the manifest; null where nothing is left behind that matters. */
  install: CommandLine | null;
  /** The command that runs a script of package.json, without the name of the script; null where there are no scripts. */
  run: CommandLine | null;
  /** The files that `add` changes, as absolute paths; they need not exist. */
  files: readonly string[];
  /** The directories in which it puts packages, as absolute paths; they need not exist. */
  directories: readonly string[];
};

const JAVASCRIPT_FILES = [
  'package.json',
  'package-lock.json',
  'npm-shrinkwrap.json',
  'pnpm-lock.yaml',
  'pnpm-workspace.yaml',
  'yarn.lock',
  '.yarnrc.yml',
  '.pnp.cjs',
  '.pnp.loader.mjs',
  '.yarn/install-state.gz',
  'bun.lock',
  'bun.lockb',
];

/** Returns the package manager of a JavaScript project by its lock file or its manifest, which may be those of its monorepo; else npm. */
export async function findPackageManager(root: string): Promise<PackageManager> {
  const monorepo = monorepoOf(root);
  const strategies = ['lockfile', 'packageManager-field', 'devEngines-field', 'install-metadata'] as const;
  const found = await detect({ cwd: root, stopDir: monorepo, strategies: [...strategies] });
  const agent: Agent = found?.agent ?? 'npm';
  const ignoreWorkspaceRootCheck = workspacePatterns(root).length > 0;
  const resolve = (command: 'add' | 'install' | 'run', args: string[]): CommandLine => {
    const resolved = resolveCommand(agent, command, args, { ignoreWorkspaceRootCheck });
    return [resolved?.command ?? 'npm', ...(resolved?.args ?? [command, ...args])];
  };
  const quiet = agent === 'npm' ? ['--no-audit', '--no-fund'] : [];
  const places = [...new Set([root, monorepo])];
  return {
    name: found?.name ?? 'npm',
    add: (packages, development) => resolve('add', [...(development ? ['-D'] : []), ...quiet, ...packages]),
    install: resolve('install', quiet),
    run: resolve('run', []),
    files: places.flatMap((place) => JAVASCRIPT_FILES.map((file) => join(place, file))),
    directories: places.flatMap((place) => [join(place, 'node_modules'), join(place, '.yarn')]),
  };
}

/** Returns the Python interpreter of a project: the one of its virtual environment, else that of the system. */
export function findPython(root: string, env: Readonly<Record<string, string | undefined>>): { path: string; isVirtual: boolean } {
  const inside = process.platform === 'win32' ? 'Scripts/python.exe' : 'bin/python';
  const environments = [join(root, '.venv'), join(root, 'venv'), join(root, 'env'), ...(env.VIRTUAL_ENV ? [env.VIRTUAL_ENV] : [])];
  const found = environments.map((directory) => join(directory, inside)).find((path) => existsSync(path));
  return found ? { path: found, isVirtual: true } : { path: process.platform === 'win32' ? 'python' : 'python3', isVirtual: false };
}

/**
 * Returns the package manager of a Python project by its lock file, or pip in a virtual environment; null for the system's own
 * packages, which `init` leaves alone.
 */
export function findPythonManager(root: string, env: Readonly<Record<string, string | undefined>>): PackageManager | null {
  const python = findPython(root, env);
  const files = ['pyproject.toml', 'uv.lock', 'poetry.lock', 'Pipfile', 'Pipfile.lock'].map((file) => join(root, file));
  const common = { run: null, files, directories: [join(root, '.venv')] };
  if (existsSync(join(root, 'uv.lock'))) {
    const add = (packages: readonly string[], development: boolean): CommandLine => [
      'uv',
      'add',
      ...(development ? ['--dev'] : []),
      ...packages,
    ];
    return { ...common, name: 'uv', add, install: ['uv', 'sync'] };
  }
  if (existsSync(join(root, 'poetry.lock'))) {
    return { ...common, name: 'poetry', add: (packages) => ['poetry', 'add', ...packages], install: ['poetry', 'sync'] };
  }
  if (existsSync(join(root, 'Pipfile'))) {
    return { ...common, name: 'pipenv', add: (packages) => ['pipenv', 'install', ...packages], install: ['pipenv', 'sync'] };
  }
  if (!python.isVirtual) return null;
  return { ...common, name: 'pip', add: (packages) => [python.path, '-m', 'pip', 'install', ...packages], install: null };
}

/** Returns Composer for the given project. */
const composerIn = (root: string): PackageManager => ({
  name: 'composer',
  add: (packages, development) => ['composer', 'require', ...(development ? ['--dev'] : []), ...packages],
  install: ['composer', 'install'],
  run: null,
  files: ['composer.json', 'composer.lock'].map((file) => join(root, file)),
  directories: [join(root, 'vendor')],
});

/** Returns Bundler for the given project. */
const bundlerIn = (root: string): PackageManager => ({
  name: 'bundler',
  add: (packages) => ['bundle', 'add', ...packages],
  install: ['bundle', 'install'],
  run: null,
  files: ['Gemfile', 'Gemfile.lock'].map((file) => join(root, file)),
  directories: [],
});

/** A project within a monorepo. */
type Workspace = {
  /** Relative to the monorepo's directory, with `/`. */
  path: string;
  /** The frameworks it may use; one when it is clear. */
  frameworks: readonly Framework[];
};

/** Returns the patterns of the workspaces that a directory declares in package.json or pnpm-workspace.yaml; empty without any. */
export function workspacePatterns(directory: string): string[] {
  return [...(readManifest(directory)?.workspaces ?? []), ...pnpmPackages(readText(directory, 'pnpm-workspace.yaml') ?? '')];
}

/** Returns the workspaces of a monorepo in which a framework was detected, by path. */
export function listWorkspaces(directory: string): Workspace[] {
  const patterns = workspacePatterns(directory);
  const manifests = globSync(patterns.map(manifestPattern), { cwd: directory, ignore: ['**/node_modules/**'], expandDirectories: false });
  return manifests
    .map((manifest) => dirname(manifest.split(sep).join('/')))
    .filter((path) => path !== '.' && isBelow(realpathSync(directory), realpathSync(join(directory, path))))
    .sort()
    .map((path) => ({ path, frameworks: detectFrameworks(readDetectionFiles(join(directory, path))) }))
    .filter(({ frameworks }) => frameworks.length > 0);
}

/** Returns the directory of the monorepo whose workspaces include this project; the project's own directory without one. */
export function monorepoOf(root: string): string {
  for (let directory = dirname(root); directory !== dirname(directory); directory = dirname(directory)) {
    const patterns = workspacePatterns(directory);
    if (patterns.length > 0 && includes(directory, patterns, root)) return directory;
    // A repository does not belong to the workspaces of the directory around it.
    if (existsSync(join(directory, '.git'))) break;
  }
  return root;
}

function includes(directory: string, patterns: readonly string[], root: string): boolean {
  const wanted = relative(directory, root).split(sep).join('/');
  const found = globSync(patterns.map(manifestPattern), { cwd: directory, ignore: ['**/node_modules/**'], expandDirectories: false });
  return found.some((manifest) => dirname(manifest) === wanted || realpathSync(join(directory, dirname(manifest))) === root);
}

/** Returns the pattern of the manifests of a pattern of directories; a leading `!` excludes them. */
const manifestPattern = (pattern: string) => `${pattern.replace(/^(!?)(?:\.\/)?/, '$1').replace(/(?<!\/)\/+$/, '')}/package.json`;

/** Returns the list `packages` of a pnpm-workspace.yaml, in either notation of YAML. */
function pnpmPackages(yaml: string): string[] {
  const lines = yaml.split(/\r?\n/);
  const start = lines.findIndex((line) => line.startsWith('packages:'));
  if (start < 0) return [];
  const [value, ...below] = [lines[start].slice('packages:'.length), ...lines.slice(start + 1)].map((line) => line.trim());
  const inline = /^\[([^\]]*)\]/.exec([value, ...below].join('\n'))?.[1];
  if (inline !== undefined) return inline.split(',').map(scalarIn).filter(Boolean);
  if (value !== '' && !value.startsWith('#')) return [];
  const end = below.findIndex((line) => line !== '' && !/^[-#]/.test(line));
  const items = below.slice(0, end < 0 ? below.length : end).filter((line) => line.startsWith('-'));
  return items.map((line) => scalarIn(line.slice(1))).filter(Boolean);
}

/** Returns the text of a YAML item without quotes and comment. */
function scalarIn(item: string): string {
  const parts = /^(?:"([^"]*)"|'([^']*)'|([^#]*))/.exec(item.trim())?.slice(1) ?? [];
  return parts.find(Boolean)?.trim() ?? '';
}
