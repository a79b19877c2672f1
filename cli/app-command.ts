import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { parseEnv } from 'node:util';
import { portInScript, takesPort } from './dev-script.ts';

/** How an app is started for development. `{port}` in an argument stands for the port; the variable PORT has it too. */
export type AppCommand = {
  /** A program with its arguments, or a line for the shell. */
  run: readonly [string, ...string[]] | string;
  /** What has to run once before it. */
  build?: readonly [string, ...string[]];
};

type Environment = Readonly<Record<string, string | undefined>>;

const NPM = process.platform === 'win32' ? 'npm.cmd' : 'npm';
const ENTRIES = ['app', 'server', 'index', 'main', 'src/index', 'src/app', 'src/server', 'src/main'];
/** The back end beside a front end of Vite; the first one is what `emailauth init` writes. */
const BACK_ENDS = ['server/index.mjs', 'server/index.js', 'server/index.ts', 'server.js', 'server.mjs', 'server.ts'];
const PYTHON_FILES = ['app.py', 'main.py', 'wsgi.py', 'application.py', 'src/app.py', 'src/main.py', 'app/main.py', 'app/__init__.py'];
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
export function readEnvFile(root: string): Record<string, string> {
  try {
    return Object.fromEntries(
      Object.entries(parseEnv(readFileSync(join(root, '.env'), 'utf8'))).map(([name, value]) => [name, value ?? '']),
    );
  } catch {
    return {};
  }
}

type Manifest = { scripts?: Record<string, string>; main?: string } & Record<string, unknown>;

function nodeCommand(root: string, has: (path: string) => boolean): AppCommand | null {
  const manifest = readManifest(root);
  const { dev, start, build } = manifest.scripts ?? {};
  const isFullStack = FULL_STACK.some((name) => JSON.stringify([manifest.dependencies, manifest.devDependencies]).includes(`"${name}"`));
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
    ...(manifest.main ? [manifest.main] : []),
    ...ENTRIES.flatMap((name) => ['.js', '.mjs', '.cjs', '.ts'].map((end) => name + end)),
  ];
  const entry = names.find((name) => /\.[mc]?[jt]s$/.test(name) && has(name));
  return entry ? runFile(entry, has) : null;
}

const runFile = (path: string, has: (path: string) => boolean): AppCommand => ({
  run: path.endsWith('ts') && has('node_modules/tsx') ? ['npx', 'tsx', path] : [process.execPath, path],
});

function readManifest(root: string): Manifest {
  try {
    return JSON.parse(readFileSync(join(root, 'package.json'), 'utf8').replace(/^\uFEFF/, '')) ?? {};
  } catch {
    // It may be in the middle of an edit.
    return {};
  }
}

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
  const inside = process.platform === 'win32' ? 'Scripts/python.exe' : 'bin/python';
  const virtual = ['.venv', 'venv', 'env'].map((name) => `${name}/${inside}`).find(has);
  const active = env.VIRTUAL_ENV && join(env.VIRTUAL_ENV, inside);
  const python = virtual ? join(root, virtual) : active || (process.platform === 'win32' ? 'python' : 'python3');
  if (has('manage.py'))
    return { run: [python, 'manage.py', 'runserver', '--noreload', '{port}'], build: [python, 'manage.py', 'migrate', '-v', '0'] };
  for (const file of new Set([...PYTHON_FILES, ...packagesIn(root, ''), ...packagesIn(root, 'src/')].filter(has))) {
    const text = readFileSync(join(root, file), 'utf8');
    const path = file.replace(/(?:\/__init__)?\.py$/, '');
    const module = path.replaceAll('/', '.');
    const [app] = text.split(/\r?\n/).flatMap((line) => /^(\w+)\s*(?::[^=]*)?=\s*FastAPI\(/.exec(line)?.[1] ?? []);
    if (app) return { run: [python, '-m', 'uvicorn', `${module}:${app}`, '--port', '{port}'] };
    // Of a path, Flask adds the directory of the package to those of modules; it calls a function `create_app`.
    if (/\bFlask\(/.test(text)) return { run: [python, '-m', 'flask', '--app', path, 'run', '--port', '{port}'] };
  }
  return null;
}

/** Returns the files with which the packages in a directory may start. */
function packagesIn(root: string, directory: string): string[] {
  const path = join(root, directory);
  const entries = existsSync(path) ? readdirSync(path, { withFileTypes: true }) : [];
  const names = entries.filter((entry) => entry.isDirectory() && /^[a-z_]\w*$/i.test(entry.name)).map(({ name }) => directory + name);
  return names.sort().flatMap((name) => [`${name}/__init__.py`, `${name}/app.py`, `${name}/main.py`]);
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
