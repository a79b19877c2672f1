import { existsSync, readFileSync, realpathSync, statSync } from 'node:fs';
import { extname, isAbsolute, join, posix } from 'node:path';
import { globSync } from 'tinyglobby';
import { detectionFiles } from '../../templates/detect.ts';
import type { Framework, ProjectKind } from '../../templates/framework.ts';
import { portInScript, portInSource, readsPort } from '../ports.ts';
import { valueIn } from './env-file.ts';
import { isBelow } from './files.ts';

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
  return [...new Set(candidates.map((path) => posix.normalize(path)))].filter((path) => isFile(join(root, path)) && isInside(root, path));
}

/** Whether a file is in the project, wherever links and `..` in its path lead. */
function isInside(root: string, path: string): boolean {
  const relativeToRoot = !path.startsWith('../') && !isAbsolute(path);
  return relativeToRoot && isBelow(realpathSync(root), realpathSync(join(root, path)));
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

/** Templates that load `.env` into the environment of the app. */
const LOADS_ENV = ['express', 'fastify', 'hono'];

/** Returns the port at which an app listens during development: that of `.env` where the app takes it from there, else its own. */
export function portOf({ root, port, entries }: Project, { id, port: usual }: Framework): number {
  const file = Number(valueIn(readText(root, '.env') ?? '', 'PORT'));
  const isUsed = LOADS_ENV.includes(id) && portFiles(entries).some((path) => readsPort(readText(root, path) ?? ''));
  return isUsed && file > 0 && file < 65_536 ? file : (port ?? usual);
}

/** Returns the source files that may set the port of the app. */
const portFiles = (entries: readonly string[]): string[] => [...new Set([...entries, 'bin/www'])];

function findPort(root: string, manifest: Manifest | null, entries: readonly string[]): number | undefined {
  const { dev, start } = manifest?.scripts ?? {};
  const inCode = portFiles(entries).map((path) => portInSource(readText(root, path) ?? ''));
  return [portInScript(dev), portInScript(start), ...inCode].find((port) => port !== undefined);
}

const isFile = (path: string) => statSync(path, { throwIfNoEntry: false })?.isFile() === true;

/** What a package.json says, as far as an integration depends on it. */
type Manifest = {
  type: 'module' | 'commonjs' | undefined;
  main: string | undefined;
  scripts: Readonly<Record<string, string>>;
  /** The names of all packages it lists, those for development included. */
  packages: ReadonlySet<string>;
  /** The patterns of its workspaces, as npm, yarn and bun have them; empty when it has none. */
  workspaces: readonly string[];
};

/** Files above this size are neither manifests nor source files that someone wrote. */
const MAX_FILE_BYTES = 1024 * 1024;
const SECTIONS = ['dependencies', 'devDependencies', 'peerDependencies', 'optionalDependencies'];

/** Returns the text of a regular file, or null when it is missing, not readable or larger than 1 MB. */
export function readText(root: string, path: string): string | null {
  try {
    const stats = statSync(join(root, path));
    return stats.isFile() && stats.size <= MAX_FILE_BYTES ? readFileSync(join(root, path), 'utf8') : null;
  } catch {
    return null;
  }
}

/** Returns the package.json of a directory, or null when there is none or it is not valid JSON. */
export function readManifest(directory: string): Manifest | null {
  const text = readText(directory, 'package.json');
  if (text === null) return null;
  try {
    const manifest: unknown = JSON.parse(text.replace(/^\uFEFF/, ''));
    return isRecord(manifest) ? toManifest(manifest) : null;
  } catch {
    return null;
  }
}

function toManifest(manifest: Record<string, unknown>): Manifest {
  const { type, main, scripts, workspaces } = manifest;
  const patterns = isRecord(workspaces) ? workspaces.packages : workspaces;
  return {
    type: type === 'module' || type === 'commonjs' ? type : undefined,
    main: typeof main === 'string' ? main : undefined,
    scripts: isRecord(scripts)
      ? Object.fromEntries(Object.entries(scripts).filter((entry): entry is [string, string] => isText(entry[1])))
      : {},
    packages: new Set(SECTIONS.flatMap((section) => (isRecord(manifest[section]) ? Object.keys(manifest[section]) : []))),
    workspaces: Array.isArray(patterns) ? patterns.filter(isText) : [],
  };
}

const isText = (value: unknown): value is string => typeof value === 'string';
const isRecord = (value: unknown): value is Record<string, unknown> => typeof value === 'object' && value !== null && !Array.isArray(value);

/** Directories with the code of others. */
export const FOREIGN = ['**/node_modules/**', '**/.git/**', '**/venv/**', '**/.venv/**', '**/vendor/**', '**/site-packages/**'];

/** Returns the contents of those `detectionFiles` that a project has, by name; those of all files that match a pattern as one text. */
export function readDetectionFiles(root: string): Record<string, string> {
  const texts: Record<string, string> = {};
  for (const file of detectionFiles) {
    const found = pathsOf(root, file)
      .map((path) => readText(root, path))
      .filter((text) => text !== null);
    if (found.length > 0) texts[file] = found.join('\n');
  }
  return texts;
}

/** Returns the files of a project that match a path, which may have `*` in it, in alphabetical order. */
export function pathsOf(root: string, path: string): string[] {
  if (!path.includes('*')) return [path];
  return globSync(path, { cwd: root, ignore: FOREIGN, expandDirectories: false, dot: true }).sort();
}
