import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { type Agent, detect, resolveCommand } from 'package-manager-detector';
import { monorepoOf, workspacePatterns } from './workspaces.ts';

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
export const composerIn = (root: string): PackageManager => ({
  name: 'composer',
  add: (packages, development) => ['composer', 'require', ...(development ? ['--dev'] : []), ...packages],
  install: ['composer', 'install'],
  run: null,
  files: ['composer.json', 'composer.lock'].map((file) => join(root, file)),
  directories: [join(root, 'vendor')],
});

/** Returns Bundler for the given project. */
export const bundlerIn = (root: string): PackageManager => ({
  name: 'bundler',
  add: (packages) => ['bundle', 'add', ...packages],
  install: ['bundle', 'install'],
  run: null,
  files: ['Gemfile', 'Gemfile.lock'].map((file) => join(root, file)),
  directories: [],
});
