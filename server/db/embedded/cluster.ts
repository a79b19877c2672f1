import { spawnSync } from 'node:child_process';
import {
  chownSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  realpathSync,
  renameSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { createServer } from 'node:net';
import { totalmem } from 'node:os';
import { join } from 'node:path';
import { type Binaries, canEnter, EmbeddedUnusable, type Owner, REACHABLE_HOME } from './binaries.ts';

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

/** Settings of the server; all others have PostgreSQL's defaults. */
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

/** Returns the command line arguments of the server. */
export function serverArguments(directory: string, port: number): string[] {
  const settings = { ...SETTINGS, shared_buffers: sharedBuffersFor(memory()) };
  return ['-D', directory, '-p', String(port), ...Object.entries(settings).flatMap(([name, value]) => ['-c', `${name}=${value}`])];
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
  writeFileSync(file, `${port}\n`);
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
  throw new EmbeddedUnusable(`The embedded PostgreSQL could not be created: ${ran.error?.message ?? ran.stderr.trim()}`);
}
