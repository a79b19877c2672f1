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
import { join } from 'node:path';
import { type Binaries, EmbeddedUnusable, type Owner, REACHABLE_HOME, reaches } from './binaries.ts';

/** Role and database of the service; the role owns the database and is no superuser. */
const NAME = 'emailauth';
// Below the range that Linux, macOS and Windows hand out by themselves, so that nobody gets it by chance.
const PORTS = { from: 15_000, to: 30_000 };

/** Environment of every program of PostgreSQL. */
export const ENVIRONMENT = { LC_ALL: 'C', TZ: 'UTC' };

/** Settings of the server; whatever else is PostgreSQL's own default. */
const SETTINGS = {
  listen_addresses: '127.0.0.1',
  unix_socket_directories: '',
  fsync: 'on',
  synchronous_commit: 'on',
  shared_buffers: '128MB',
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
 * Makes the cluster in `dataDir` unless it is there. A first start that was cut off is begun anew.
 * @returns the real path of the cluster
 * @throws EmbeddedUnusable
 */
export function prepareCluster(dataDir: string, password: string, binaries: Binaries): string {
  const place = join(dataDir, 'postgres');
  if (existsSync(place)) {
    refuseOtherVersion(place, binaries.major);
    return realpathSync(place);
  }
  // A link may be left whose cluster somebody has deleted.
  rmSync(place, { force: true });
  const home = placeFor(dataDir, binaries.owner);
  const partial = join(home, 'postgres.new');
  rmSync(partial, { recursive: true, force: true });
  mkdirSync(partial, { mode: 0o700 });
  if (binaries.owner) chownSync(partial, binaries.owner.uid, binaries.owner.gid);
  const locale = ['--encoding=UTF8', '--locale-provider=builtin', '--builtin-locale=C.UTF-8', '--locale=C'];
  run(binaries.initdb, ['-D', partial, '-U', 'postgres', '--auth=trust', ...locale], binaries.owner);
  const statements = [`create role ${NAME} login password '${password}'`, `create database ${NAME} owner ${NAME}`];
  run(binaries.postgres, ['--single', '-D', partial, 'postgres'], binaries.owner, `${statements.join('\n')}\n`);
  // The superuser has no way in over the network.
  writeFileSync(join(partial, 'pg_hba.conf'), `host ${NAME} ${NAME} 127.0.0.1/32 scram-sha-256\n`);
  renameSync(partial, join(home, 'postgres'));
  if (home !== dataDir) symlinkSync(join(home, 'postgres'), place);
  return realpathSync(place);
}

/** PostgreSQL reads no files of another major version. */
function refuseOtherVersion(place: string, major: string): void {
  const file = join(place, 'PG_VERSION');
  const found = existsSync(file) ? readFileSync(file, 'utf8').trim() : major;
  if (found === major) return;
  throw new EmbeddedUnusable(
    `The database in ${place} is of PostgreSQL ${found}, and this release of emailauth brings PostgreSQL ${major}. Its files are untouched. ` +
      'Run `emailauth backup` with the release that you had, move that directory aside, and run `emailauth restore` with this release.',
  );
}

/** The command line of the server. */
export function serverArguments(directory: string, port: number): string[] {
  return ['-D', directory, '-p', String(port), ...Object.entries(SETTINGS).flatMap(([name, value]) => ['-c', `${name}=${value}`])];
}

/** URL of the service's database. */
export const databaseUrl = (port: number, password: string) => `postgres://${NAME}:${password}@127.0.0.1:${port}/${NAME}`;

/** What postmaster.pid says of the server that runs, or ran last. Null: none, since it stopped in order. */
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

/** The port kept in `dataDir`, or another one, kept from now on, when somebody else has taken it. */
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

/** `dataDir` itself, or for root a new directory where the user `postgres` gets to. */
function placeFor(dataDir: string, owner: Owner | null): string {
  if (!owner || reaches(dataDir, owner)) return dataDir;
  try {
    mkdirSync(REACHABLE_HOME, { recursive: true, mode: 0o755 });
    const home = mkdtempSync(join(REACHABLE_HOME, 'data-'));
    chownSync(home, owner.uid, owner.gid);
    return home;
  } catch (cause) {
    const remedy = 'Give a DATA_DIR that all users can pass through, run the service as another user than root, or set DATABASE_URL.';
    throw new EmbeddedUnusable(`The user postgres cannot reach ${dataDir}, and ${REACHABLE_HOME} cannot be written. ${remedy}`, { cause });
  }
}

function run(program: string, args: string[], owner: Owner | null, input = ''): void {
  // Of this process's environment nothing is handed on: it may hold secrets.
  const ran = spawnSync(program, args, { ...owner, input, encoding: 'utf8', cwd: '/', env: ENVIRONMENT });
  // Single-user mode ends with 0 whatever its statements said.
  if (ran.status === 0 && !/(?:ERROR|FATAL|PANIC): /.test(ran.stderr)) return;
  throw new EmbeddedUnusable(`The embedded PostgreSQL could not be made: ${ran.error?.message ?? ran.stderr.trim()}`);
}
