import { existsSync, statSync } from 'node:fs';
import { extname, join } from 'node:path';
import type { ProjectKind } from '../../templates/framework.ts';
import { portInScript } from '../dev-script.ts';
import { pathsOf } from './detection.ts';
import { type Manifest, readManifest, readText } from './manifest.ts';
import { portInSource } from './source-port.ts';

/** The facts about a project that decide which integration fits. */
export type Project = {
  /** Without symbolic links. */
  root: string;
  /** Its package.json, or null. */
  manifest: Manifest | null;
  kind: ProjectKind;
  /** Files with which the app may start, the most likely one first, relative to the root with `/`. */
  entries: readonly string[];
  /** The port at which its development server listens, when a script or an entry file sets one. */
  port: number | undefined;
};

const SOURCE_EXTENSIONS = ['ts', 'mts', 'cts', 'js', 'mjs', 'cjs'];
const FULL_STACK = ['next', 'nuxt', 'astro', '@sveltejs/kit'];
const ENTRY_NAMES = ['app', 'server', 'index', 'main'];
/** Where apps in other languages start; a pattern stands for the packages of Python and the commands of Go. */
const OTHER_ENTRIES = [
  ...['app.py', 'main.py', 'wsgi.py', 'asgi.py', 'application.py', 'run.py', 'server.py', '*/__init__.py', '*/app.py', '*/main.py'],
  ...['src/app.py', 'src/main.py', 'src/*/__init__.py', 'src/*/app.py', 'src/*/main.py'],
  ...['main.go', 'server.go', 'cmd/*/main.go'],
  ...['index.php', 'public/index.php'],
  ...['app.rb', 'main.rb', 'server.rb', 'config.ru'],
];

/** Reads a project. @param root its directory, without symbolic links */
export function readProject(root: string): Project {
  const manifest = readManifest(root);
  const entries = findEntries(root, manifest);
  return { root, manifest, kind: kindOf(root, manifest, entries), entries, port: findPort(root, manifest, entries) };
}

/** Returns the entry files of a project that exist: those that its manifest names, then those with a usual name. */
export function findEntries(root: string, manifest: Manifest | null): string[] {
  const named = [
    ...Object.entries(manifest?.scripts ?? {})
      .filter(([name]) => /^(?:dev|start|serve)/.test(name))
      .map(([, command]) => command),
  ]
    .flatMap(filesInCommand)
    .concat(manifest?.main ?? [])
    .flatMap(sourcesOf);
  const usual = ['', 'src/', 'server/', 'api/'].flatMap((directory) => ENTRY_NAMES.flatMap((name) => withExtensions(directory + name)));
  const candidates = [...named, ...usual, ...OTHER_ENTRIES.flatMap((path) => pathsOf(root, path))];
  return [...new Set(candidates.map((path) => path.replace(/^\.\//, '')))].filter(
    (path) => !path.startsWith('..') && isFile(join(root, path)),
  );
}

/** Returns the paths in a command such as `node --env-file=.env ./bin/www` or `tsx watch src/index.ts`. */
function filesInCommand(command: string): string[] {
  const words = command.split(/\s+/).map((word) => word.replace(/^["']|["']$/g, ''));
  const isPath = (word: string) => /^[\w./-]+$/.test(word) && !word.startsWith('-') && (/\.[mc]?[jt]sx?$/.test(word) || word.includes('/'));
  return words.filter(isPath);
}

/** Returns the source files from which a file may come: `dist/app.js` is built from `app.ts` or `src/app.ts`. */
function sourcesOf(path: string): string[] {
  const [, directory, rest] = /^(?:\.\/)?(dist|build|out|lib)\/(.+)$/.exec(path) ?? [];
  if (!directory) return [path, ...(extname(path) === '' ? withExtensions(path) : [])];
  const bare = rest.replace(/\.[mc]?js$/, '');
  return [...withExtensions(`src/${bare}`), ...withExtensions(bare), ...withExtensions(bare.replace(/^src\//, 'src/'))];
}

const withExtensions = (path: string) => SOURCE_EXTENSIONS.map((extension) => `${path}.${extension}`);

function kindOf(root: string, manifest: Manifest | null, entries: readonly string[]): ProjectKind {
  const entry = entries.find((path) => /\.[mc]?[jt]s$/.test(path));
  // The pages of a full-stack framework do not depend on an entry file, if there is one.
  const isFullStack = FULL_STACK.some((name) => manifest?.packages.has(name));
  return {
    typescript: entry && !isFullStack ? /ts$/.test(entry) : existsSync(join(root, 'tsconfig.json')),
    module:
      manifest?.type === 'module' || (manifest?.type === undefined && entry && hasImports(readText(root, entry) ?? ''))
        ? 'esm'
        : 'commonjs',
    router: routerOf(root, manifest),
  };
}

/** Whether Node.js would detect a file without a `type` in package.json as an ES module. */
const hasImports = (code: string) => /^(?:import\s*["'{*\w]|export\s)/m.test(code);

function routerOf(root: string, manifest: Manifest | null): ProjectKind['router'] {
  if (!manifest?.packages.has('next')) return null;
  const has = (name: string) => existsSync(join(root, name)) || existsSync(join(root, 'src', name));
  return has('pages') && !has('app') ? 'pages' : 'app';
}

/** Returns the source files that may set the port of the app. */
export const portFiles = (entries: readonly string[]): string[] => [...new Set([...entries, 'bin/www'])];

function findPort(root: string, manifest: Manifest | null, entries: readonly string[]): number | undefined {
  const { dev, start } = manifest?.scripts ?? {};
  const inCode = portFiles(entries).map((path) => portInSource(readText(root, path) ?? ''));
  return [portInScript(dev), portInScript(start), ...inCode].find((port) => port !== undefined);
}

const isFile = (path: string) => statSync(path, { throwIfNoEntry: false })?.isFile() === true;
