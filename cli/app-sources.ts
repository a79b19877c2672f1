import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { globSync } from 'tinyglobby';
import { variablesIn } from './init/env-file.ts';
import { findPython } from './init/package-manager.ts';
import { FOREIGN, pathsOf, readManifest, readText } from './init/project.ts';
import type { Environment } from './installation.ts';
import { portInScript, takesPort } from './ports.ts';

/** How an app is started for development. `{port}` in an argument stands for the port; the variable PORT has it too. */
export type AppCommand = {
  /** A program with its arguments, or a line for the shell. */
  run: readonly [string, ...string[]] | string;
  /** What has to run once before it. */
  build?: readonly [string, ...string[]];
};

const NPM = process.platform === 'win32' ? 'npm.cmd' : 'npm';
const ENTRIES = ['app', 'server', 'index', 'main', 'src/index', 'src/app', 'src/server', 'src/main'];
/** The back end beside a front end of Vite; the first one is what `emailauth init` writes. */
const BACK_ENDS = ['server/index.mjs', 'server/index.js', 'server/index.ts', 'server.js', 'server.mjs', 'server.ts'];
const PYTHON_FILES = [
  ...['app.py', 'main.py', 'wsgi.py', 'application.py', 'src/app.py', 'src/main.py', 'app/main.py', 'app/__init__.py'],
  ...['', 'src/'].flatMap((directory) => ['*/__init__.py', '*/app.py', '*/main.py'].map((path) => directory + path)),
];
const RUBY_FILES = ['app.rb', 'main.rb', 'server.rb', 'myapp.rb', 'web.rb'];
/** Frameworks whose development server is Vite, and which serve routes by it. */
const FULL_STACK = [
  '@sveltejs/kit',
  'astro',
  'nuxt',
  'next',
  '@remix-run/dev',
  '@react-router/dev',
  '@solidjs/start',
  '@tanstack/react-start',
];

/** Returns the command that starts the app in a directory, or null when it is unknown. */
export function findAppCommand(root: string, env: Environment): AppCommand | null {
  const has = (path: string) => existsSync(join(root, path));
  if (has('package.json')) {
    const found = nodeCommand(root, has);
    if (found) return found;
  }
  if (has('wrangler.jsonc') || has('wrangler.json') || has('wrangler.toml')) return { run: ['npx', 'wrangler', 'dev', '--port', '{port}'] };
  return pythonCommand(root, env, has) ?? phpCommand(has) ?? rubyCommand(has) ?? (has('go.mod') ? { run: ['go', 'run', '.'] } : null);
}

/** Returns the settings of `.env`, which many apps do not load themselves; empty when there is none. */
export const readEnvFile = (root: string): Record<string, string | undefined> => variablesIn(readText(root, '.env') ?? '');

function nodeCommand(root: string, has: (path: string) => boolean): AppCommand | null {
  // It may be in the middle of an edit.
  const manifest = readManifest(root);
  const { dev, start, build } = manifest?.scripts ?? {};
  const isFullStack = FULL_STACK.some((name) => manifest?.packages.has(name));
  // Vite alone serves the pages of a front end; its back end is then what `start` runs, or a server of its own.
  const isFrontEnd = dev !== undefined && /^vite(?:\s|$)/.test(dev) && !isFullStack;
  const backEnd = isFrontEnd && start === undefined ? BACK_ENDS.find(has) : undefined;
  if (backEnd) return runFile(backEnd, has);
  if (dev !== undefined && !(isFrontEnd && start !== undefined)) return { run: script(has, 'dev', dev) };
  if (start !== undefined) {
    const isBuilt = /\b(?:dist|build|out)\//.test(start) || /^next start/.test(start);
    return { run: script(has, 'start', start), ...(isBuilt && build !== undefined && { build: script(has, 'build', '') }) };
  }
  const names = [
    ...(manifest?.main ? [manifest.main] : []),
    ...ENTRIES.flatMap((name) => ['.js', '.mjs', '.cjs', '.ts'].map((end) => name + end)),
  ];
  const entry = names.find((name) => /\.[mc]?[jt]s$/.test(name) && has(name));
  return entry ? runFile(entry, has) : null;
}

const runFile = (path: string, has: (path: string) => boolean): AppCommand => ({
  run: path.endsWith('ts') && has('node_modules/tsx') ? ['npx', 'tsx', path] : [process.execPath, path],
});

/**
 * npm runs the scripts of packages that another package manager has installed, too; not those without node_modules.
 * @param line the script; one with a port of its own gets another port as an option
 */
function script(has: (path: string) => boolean, name: string, line: string): [string, ...string[]] {
  const port = portInScript(line) !== undefined && takesPort(line) ? ['--port', '{port}'] : [];
  if (has('.pnp.cjs')) return ['yarn', 'run', name, ...port];
  if (has('bun.lock') || has('bun.lockb')) return ['bun', 'run', name, ...port];
  return [NPM, 'run', '--silent', name, ...(port.length > 0 ? ['--', ...port] : [])];
}

function pythonCommand(root: string, env: Environment, has: (path: string) => boolean): AppCommand | null {
  const python = findPython(root, env).path;
  if (has('manage.py'))
    return { run: [python, 'manage.py', 'runserver', '--noreload', '{port}'], build: [python, 'manage.py', 'migrate', '-v', '0'] };
  for (const file of new Set(PYTHON_FILES.flatMap((path) => pathsOf(root, path)).filter((path) => /^[\w/]+\.py$/.test(path)))) {
    const text = readText(root, file) ?? '';
    const path = file.replace(/(?:\/__init__)?\.py$/, '');
    const module = path.replaceAll('/', '.');
    const [app] = text.split(/\r?\n/).flatMap((line) => /^(\w+)\s*(?::[^=]*)?=\s*FastAPI\(/.exec(line)?.[1] ?? []);
    if (app) return { run: [python, '-m', 'uvicorn', `${module}:${app}`, '--port', '{port}'] };
    // Of a path, Flask adds the directory of the package to those of modules; it calls a function `create_app`.
    if (/\bFlask\(/.test(text)) return { run: [python, '-m', 'flask', '--app', path, 'run', '--port', '{port}'] };
  }
  return null;
}

function phpCommand(has: (path: string) => boolean): AppCommand | null {
  // Without --no-reload, artisan does not pass the environment on.
  if (has('artisan')) return { run: ['php', 'artisan', 'serve', '--no-reload', '--port={port}'] };
  if (has('public/index.php')) return { run: ['php', '-S', 'localhost:{port}', '-t', 'public', 'public/index.php'] };
  return has('index.php') ? { run: ['php', '-S', 'localhost:{port}', 'index.php'] } : null;
}

function rubyCommand(has: (path: string) => boolean): AppCommand | null {
  if (has('bin/rails')) return { run: ['ruby', 'bin/rails', 'server', '--port', '{port}', '--pid', 'tmp/pids/emailauth-try.pid'] };
  // The gems of a Gemfile may be installed for Bundler only.
  const ruby: [string, ...string[]] = has('Gemfile') ? ['ruby', '-S', 'bundle', 'exec', 'ruby'] : ['ruby'];
  if (has('config.ru')) return { run: [...ruby, '-S', 'rackup', '--port', '{port}'] };
  const entry = RUBY_FILES.find(has);
  return entry ? { run: [...ruby, entry, '-p', '{port}'] } : null;
}

/** The source files of a project that belong to its sign-in, by path relative to the project, with their lines. */
type SignInSources = ReadonlyMap<string, readonly string[]>;

const SOURCES = '**/*.{js,mjs,cjs,ts,mts,cts,jsx,tsx,py,rb,php,go,vue,svelte,astro}';
const SKIPPED = ['dist', 'build', 'out', 'env', '__pycache__', 'coverage', 'target', 'tmp', 'public'].map((name) => `**/${name}/**`);
const MAX_FILES = 5_000;

/** Reads the files of a project that name the service's calls or the callback. @param callbackPath of its callback */
export function readSignInSources(root: string, callbackPath: string): SignInSources {
  const sources = new Map<string, readonly string[]>();
  const options = { cwd: root, ignore: [...FOREIGN, ...SKIPPED], followSymbolicLinks: false };
  for (const path of globSync(SOURCES, options).sort().slice(0, MAX_FILES)) {
    const text = readText(root, path);
    if (text === null) continue;
    const isRoute = path.includes(`${callbackPath}/`) || path.includes(`${callbackPath}.`);
    if (isRoute || text.includes(callbackPath) || /verify-token|forward_url/.test(text)) sources.set(path, text.split(/\r?\n/));
  }
  return sources;
}

/** A line that compares the state with another value. */
const COMPARES_STATE = /state.{0,200}(?:!=|==|compare|equal)|(?:!=|==|compare|equal).{0,200}state/i;

/** What a check is about: the first pattern that matches a line names it. */
const PATTERNS: Record<string, readonly RegExp[]> = {
  callback: [/auth\/callback/],
  callback_refusal: [/\.valid\b|\[['"]valid['"]\]/, /verify-token/],
  replay: [/\.valid\b|\[['"]valid['"]\]/, /verify-token/],
  other_website: [/\bdomain\b.{0,200}(?:host|SITE)|(?:host|SITE).{0,200}\bdomain\b/, /verify-token/],
  state_missing: [COMPARES_STATE],
  state_forged: [COMPARES_STATE],
  state_other_browser: [COMPARES_STATE],
  login: [/forward_url/],
  login_cookie: [/http_?only/i, /(?:cookie|session).{0,200}state/i],
  session_cookie: [/http_?only/i, /(?:set_?cookie|cookies?\.set|\.cookie\()/i],
  return_path: [/return_?to|\bnext\b.{0,200}=|redirect_?to/i, /redirect\(/i],
  logout: [/log-?_?out|sign-?_?out/i],
  clean_url: [/redirect\(/i],
  sign_in: [/verify-token/],
};

/**
 * Returns the place in the project that decides a check, as `path:line`, or null. Without a line that matches it is the one of the
 * callback, or its file.
 * @param id of the check
 */
export function placeOf(id: string, sources: SignInSources, callbackPath: string): string | null {
  const callback = (line: string) => line.includes(callbackPath);
  for (const test of [...(PATTERNS[id] ?? []).map((pattern) => (line: string) => pattern.test(line)), callback]) {
    for (const [path, lines] of sources) {
      const index = lines.findIndex((line) => test(line) && !/^\s*(?:\/\/|#|\*|\/\*|import\b|from\b)/.test(line));
      if (index >= 0) return `${path}:${index + 1}`;
    }
  }
  return [...sources.keys()].find((path) => path.includes(callbackPath)) ?? null;
}
