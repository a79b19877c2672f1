import { chmodSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { findAppCommand, readEnvFile, readSignInSources } from './app-sources.ts';
import { addressesIn } from './local-processes.ts';

function project(files: Record<string, string>): string {
  const root = mkdtempSync(join(tmpdir(), 'emailauth-start-'));
  onTestFinished(() => rmSync(root, { recursive: true }));
  for (const [path, text] of Object.entries(files)) {
    mkdirSync(join(root, dirname(path)), { recursive: true });
    writeFileSync(join(root, path), text);
  }
  return root;
}

const manifest = (scripts: object, more: object = {}) => JSON.stringify({ scripts, ...more });

test.each<[string, Record<string, string>, string | null]>([
  [
    'the dev script',
    { 'package.json': manifest({ dev: 'next dev', start: 'next start' }, { dependencies: { next: '16' } }) },
    'run --silent dev',
  ],
  ['a dev script with a port', { 'package.json': manifest({ dev: 'next dev -p 3000' }) }, 'run --silent dev -- --port {port}'],
  [
    'the dev script of a framework on Vite',
    { 'package.json': manifest({ dev: 'vite dev' }, { devDependencies: { '@sveltejs/kit': '2' } }) },
    'run --silent dev',
  ],
  ['the back end beside a front end of Vite', { 'package.json': manifest({ dev: 'vite', start: 'node server.js' }) }, 'run --silent start'],
  ['the server beside a front end of Vite', { 'package.json': manifest({ dev: 'vite' }), 'server/index.mjs': '' }, 'server/index.mjs'],
  ['the entry file without scripts', { 'package.json': manifest({ test: 'x' }, { main: 'index.js' }), 'app.js': '' }, 'app.js'],
  ['a package without entry and scripts', { 'package.json': '{}' }, null],
  ['a manifest that is not JSON', { 'package.json': '{', 'server.mjs': '' }, 'server.mjs'],
  ['Flask', { 'app.py': 'from flask import Flask\napp = Flask(__name__)' }, '-m flask --app app run --port {port}'],
  [
    'a factory of Flask in a package',
    { 'tests/__init__.py': '', 'flaskr/__init__.py': 'def create_app():\n    return Flask(__name__)' },
    '-m flask --app flaskr run --port {port}',
  ],
  ['a package of Flask in src', { 'src/shop/__init__.py': 'app = Flask(__name__)' }, '-m flask --app src/shop run --port {port}'],
  ['FastAPI', { 'main.py': 'api: FastAPI = FastAPI()\n' }, '-m uvicorn main:api --port {port}'],
  ['Django', { 'manage.py': '' }, 'manage.py runserver --noreload {port}'],
  ['Laravel', { artisan: '', 'public/index.php': '' }, 'artisan serve --no-reload --port={port}'],
  ['PHP', { 'index.php': '' }, '-S localhost:{port} index.php'],
  ['Rails', { 'bin/rails': '', 'config.ru': '' }, 'bin/rails server --port {port}'],
  ['Sinatra', { 'myapp.rb': "require 'sinatra'" }, 'myapp.rb -p {port}'],
  ['Sinatra with Bundler', { Gemfile: '', 'config.ru': '', 'app.rb': '' }, 'exec ruby -S rackup --port {port}'],
  ['Go', { 'go.mod': '' }, 'run .'],
  ['no app', { 'notes.txt': '' }, null],
])('starts %s', (_, files, expected) => {
  const { run } = findAppCommand(project(files), {}) ?? { run: null };
  if (expected === null) expect(run).toBeNull();
  else expect((run as readonly string[]).slice(1).join(' ')).toContain(expected);
});

test('builds first what start runs from dist', () => {
  const root = project({ 'package.json': manifest({ start: 'node dist/index.js', build: 'tsc' }) });
  expect(findAppCommand(root, {})?.build).toEqual(expect.arrayContaining(['build']));
});

test('reads .env with Windows line ends', () => {
  expect(readEnvFile(project({ '.env': 'SITE_URL="http://localhost:4000"\r\nA=b\r\n' }))).toEqual({
    SITE_URL: 'http://localhost:4000',
    A: 'b',
  });
  expect(readEnvFile(project({}))).toEqual({});
});

test.each([
  ['Example app listening on port 3000', ['http://localhost:3000']],
  ['\u001b[32m➜\u001b[39m  Local: \u001b[36mhttp://localhost:\u001b[1m5173\u001b[22m/\u001b[39m', ['http://localhost:5173']],
  ['Running on http://127.0.0.1:5000\nhttps://docs.example:8443', ['http://localhost:5000']],
  ['Server at http://[::]:8080 and http://0.0.0.0:8081', ['http://localhost:8080', 'http://localhost:8081']],
  ['took 300 ms', []],
])('finds the address in %j', (output, expected) => expect(addressesIn(output)).toEqual(expected));

test('reads the sources that can be read, and skips others', () => {
  const root = project({ 'app.js': 'verify-token', 'locked/app.js': 'verify-token' });
  chmodSync(join(root, 'locked'), 0);
  onTestFinished(() => chmodSync(join(root, 'locked'), 0o700));
  expect(readSignInSources(root, '/auth/callback').get('app.js')).toEqual(['verify-token']);
  expect(readSignInSources(join(root, 'missing'), '/auth/callback').size).toBe(0);
});
