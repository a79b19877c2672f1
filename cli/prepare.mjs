/**
 * `npm start`, `npm run build`, `npm test` and `npm run packages`: installs missing packages, builds if the sources have changed (`build`:
 * always), and continues with the command; `ready` has none. Plain JavaScript without dependencies, since it runs on a fresh clone.
 */
import { spawn, spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { chmodSync, cpSync, existsSync, readdirSync, readFileSync, renameSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { packBoth } from './release.mjs';

const home = join(dirname(fileURLToPath(import.meta.url)), '..');
const at = (...path) => join(home, ...path);
const SOURCES = [
  'contract',
  'diagnostics',
  'server',
  'cli',
  'mcp',
  'templates',
  'docs',
  'web',
  'package.json',
  'package-lock.json',
  'tsconfig.json',
];
const STAMP = 'dist/.sources';

/** An error whose message is printed without a stack. */
class UserError extends Error {}

main().catch((error) => {
  process.stderr.write(`${error instanceof UserError ? error.message : error.stack}\n`);
  process.exit(1);
});

async function main() {
  const [what, ...rest] = process.argv.slice(2);
  // `nohup npm start &`: Node.js handles the SIGHUP of the closed terminal although nohup has it ignored.
  if (what === 'start' && !process.stdin.isTTY && !process.stdout.isTTY) process.on('SIGHUP', () => {});
  checkNode();
  // Without the development dependencies an existing build can be started, but nothing can be built.
  const stale = what !== 'start' || isStale();
  if (isMissing(stale)) install();
  if (isStale() || what === 'build') await build();
  if (what === 'start') await start(rest);
  if (what === 'test') await test(rest);
  if (what === 'packages') for (const path of packBoth(home, at('dist/packages'))) log(path);
}

function log(text) {
  process.stderr.write(`${text}\n`);
}

function checkNode() {
  const needed = JSON.parse(readFileSync(at('package.json'), 'utf8')).engines.node.replace(/^>=/, '');
  const [major, minor] = needed.split('.').map(Number);
  const [currentMajor, currentMinor] = process.versions.node.split('.').map(Number);
  if (currentMajor > major || (currentMajor === major && currentMinor >= minor)) return;
  throw new UserError(
    `Email Auth needs Node.js ${needed} or newer; this is ${process.versions.node}. Get one from https://nodejs.org and try again.`,
  );
}

/** Whether a package of package-lock.json is missing in node_modules, or has another version there. */
function isMissing(withDevelopment) {
  const locked = packagesOf(at('package-lock.json'));
  // npm records there what it has installed.
  const installed = packagesOf(at('node_modules/.package-lock.json'));
  if (!locked) throw new UserError('package-lock.json is missing: get the whole repository again.');
  if (!installed) return true;
  return Object.entries(locked).some(([path, { version, optional, dev, devOptional }]) => {
    if (path === '' || installed[path]?.version === version) return false;
    // Packages for other systems are not installed, nor development packages by `npm ci --omit=dev`.
    return installed[path] !== undefined || !(optional || ((dev || devOptional) && !withDevelopment));
  });
}

function packagesOf(file) {
  return existsSync(file) ? JSON.parse(readFileSync(file, 'utf8')).packages : null;
}

function install() {
  log('Installing the packages; the first time takes a minute …');
  let result = npm('ci');
  // npm ci refuses a lock file without the optional packages of other systems, which npm omits when a registry does not have
  // them. npm install uses the same versions.
  if (result.status !== 0 && /EUSAGE/.test(result.stderr)) result = npm('install', '--no-save');
  if (result.status === 0) return;
  if (/ENOTFOUND|EAI_AGAIN|ECONNREFUSED|ECONNRESET|ETIMEDOUT|ENETUNREACH|ENOTCACHED|network/.test(result.stderr)) {
    throw new UserError(
      "The npm registry cannot be reached, and packages are missing. Connect to the network, or set npm's proxy, and try again.",
    );
  }
  // After its first lines npm prints its usage.
  throw new UserError(`npm failed:\n${result.error ? result.error.message : result.stderr.trim().split('\n').slice(0, 12).join('\n')}`);
}

function npm(...what) {
  const args = [...what, '--include=dev', '--no-audit', '--no-fund', '--loglevel=error'];
  const options = { cwd: home, stdio: ['ignore', 'ignore', 'pipe'], encoding: 'utf8' };
  const program = process.env.npm_execpath;
  if (program) return spawnSync(process.execPath, [program, ...args], options);
  return spawnSync('npm', args, { ...options, shell: process.platform === 'win32' });
}

/** Whether dist was built from other sources than the current ones. */
function isStale() {
  return !existsSync(at('dist/cli/main.js')) || !existsSync(at(STAMP)) || readFileSync(at(STAMP), 'utf8') !== hashOfSources();
}

function hashOfSources() {
  const hash = createHash('sha256');
  for (const path of SOURCES) addToHash(hash, path);
  return hash.digest('hex');
}

function addToHash(hash, path) {
  const state = statSync(at(path), { throwIfNoEntry: false });
  if (state?.isDirectory()) for (const name of readdirSync(at(path)).sort()) addToHash(hash, join(path, name));
  if (state?.isFile() && isSource(path)) hash.update(`${path}\n`).update(readFileSync(at(path)));
}

/** Whether a file changes what is built: of docs, the code and the texts that are also pages of the web app. */
function isSource(path) {
  if (/\.test\.tsx?$/.test(path)) return false;
  return !path.startsWith('docs') || path.endsWith('.ts') || path.startsWith(join('docs', 'guide')) || /(?:cli|operations)\.md$/.test(path);
}

/** Replaces dist by a new build. The stamp is removed first and written last, so that an interrupted build is repeated. */
async function build() {
  log('Building …');
  const { default: deriveTemplates } = await import('../templates/derive.mjs');
  deriveTemplates();
  const stamp = hashOfSources();
  const fresh = at(`node_modules/.cache/emailauth/${process.pid}`);
  rmSync(at(STAMP), { force: true });
  try {
    const bundle = (folder, ...args) =>
      run('vite/bin/vite.js', ['build', '--config', `${folder}/vite.config.ts`, '--logLevel', 'warn', ...args]);
    await Promise.all([
      bundle('web'),
      ...['cli', 'server'].map((folder) => bundle(folder, '--outDir', join(fresh, folder), '--emptyOutDir')),
    ]);
    for (const entry of readdirSync(at('templates'), { withFileTypes: true })) {
      if (entry.isDirectory()) cpSync(at('templates', entry.name), join(fresh, 'templates', entry.name), { recursive: true });
    }
    renameSync(at('dist/web'), join(fresh, 'web'));
    rmSync(at('dist'), { recursive: true, force: true });
    renameSync(fresh, at('dist'));
    // npm sets this mode when the package is installed; here it is for use from the repository.
    chmodSync(at('dist/cli/main.js'), 0o755);
    storeHelp();
    writeFileSync(at(STAMP), stamp);
  } finally {
    rmSync(fresh, { recursive: true, force: true });
  }
}

/** Stores what `emailauth --help` prints, with styles, for cli/main.ts. */
function storeHelp() {
  const { NO_COLOR: _, ...env } = process.env;
  const options = { env: { ...env, FORCE_COLOR: '1' }, encoding: 'utf8' };
  const { status, stdout, stderr } = spawnSync(process.execPath, [at('dist/cli/main.js'), '--help'], options);
  if (status !== 0) throw new UserError(`The build failed in emailauth --help:\n${stderr}`);
  writeFileSync(at('dist/cli/help.txt'), stdout);
}

/** Runs a program of a package; its output is shown if it fails. */
function run(program, args) {
  return new Promise((resolve, reject) => {
    const child = spawn(process.execPath, [at('node_modules', program), ...args], { cwd: home, stdio: ['ignore', 'pipe', 'pipe'] });
    let output = '';
    for (const stream of [child.stdout, child.stderr]) {
      stream.on('data', (chunk) => {
        output += chunk;
      });
    }
    child.on('error', reject);
    child.on('close', (code) =>
      code === 0 ? resolve() : reject(new UserError(`The build failed in ${program.split('/')[0]}:\n${output.trim()}`)),
    );
  });
}

/** Starts the service in this process, so that Ctrl-C does not have to pass through another one. */
async function start(args) {
  const main = at('dist/cli/main.js');
  process.argv = [process.argv[0], main, 'start', ...args];
  await import(pathToFileURL(main).href);
}

async function test(args) {
  const findBrowser = () =>
    spawnSync(process.execPath, ['--import', 'tsx', 'test/support/find-browser.ts'], { cwd: home, stdio: 'ignore' }).status === 0;
  if (!findBrowser()) {
    log('Getting a browser for the tests (playwright install chromium) …');
    spawnSync(process.execPath, [at('node_modules/playwright/cli.js'), 'install', 'chromium'], { cwd: home, stdio: 'inherit' });
  }
  const child = spawn(process.execPath, ['test/run.mjs', ...args], { cwd: home, stdio: 'inherit' });
  child.on('close', (code) => process.exit(code === null ? 1 : code));
}
