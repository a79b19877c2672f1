import { execFileSync } from 'node:child_process';
import { linkSync, readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { StartError } from '../../platform/start-error.ts';

/** Whether a process with this id is running, of any user. */
function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPERM';
  }
  return !isZombie(pid);
}

/** Sends a signal; does nothing when the process has ended. */
export function signal(pid: number, name: NodeJS.Signals): void {
  try {
    process.kill(pid, name);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ESRCH') throw error;
  }
}

/** Waits until the process has ended. @returns false when it is still running after `timeoutMs` */
export async function waitForEnd(pid: number, timeoutMs: number): Promise<boolean> {
  for (const end = Date.now() + timeoutMs; isAlive(pid); await sleep(20)) if (Date.now() > end) return false;
  return true;
}

/**
 * Returns the start time of a process with the id of the boot, which distinguishes it from a later process with the same id.
 * Null when it is not running.
 */
export function identityOf(pid: number): string | null {
  if (!isAlive(pid)) return null;
  if (process.platform !== 'linux') return psField(pid, 'lstart=');
  const boot = read('/proc/sys/kernel/random/boot_id') ?? '';
  const start = statOf(pid)[19];
  return start ? `${boot.trim()}/${start}` : null;
}

/** Returns the ids of the running child processes; on systems other than Linux none. */
export function childrenOf(pid: number): number[] {
  if (process.platform !== 'linux') return [];
  const all = readdirSync('/proc').filter((name) => /^\d+$/.test(name));
  return all.filter((id) => statOf(Number(id))[1] === String(pid)).map(Number);
}

/** Whether the process is the PostgreSQL server of this data directory (its real path), and not another process with a reused id. */
export function isPostmaster(pid: number, directory: string): boolean {
  if (!isAlive(pid)) return false;
  if (process.platform !== 'linux') return psField(pid, 'command=')?.includes(`postgres -D ${directory}`) ?? false;
  const [program, ...args] = read(`/proc/${pid}/cmdline`)?.split('\0') ?? [''];
  return basename(program) === 'postgres' && args.includes(directory);
}

// A process that has ended keeps its id until its parent reads the exit code, which in a container may never happen.
function isZombie(pid: number): boolean {
  return process.platform === 'linux' && statOf(pid)[0] === 'Z';
}

/** Returns the fields of proc_pid_stat(5) after the command in parentheses: state, parent, …, at index 19 the start time. */
function statOf(pid: number): string[] {
  return (
    read(`/proc/${pid}/stat`)
      ?.replace(/^.*\) /s, '')
      .split(' ') ?? []
  );
}

function psField(pid: number, field: string): string | null {
  try {
    return execFileSync('ps', ['-ww', '-o', field, '-p', String(pid)], { encoding: 'utf8' }).trim() || null;
  } catch {
    return null;
  }
}

function read(file: string): string | null {
  try {
    return readFileSync(file, 'utf8');
  } catch {
    return null;
  }
}

/** Another running service uses DATA_DIR. */
export class DataDirInUse extends StartError {
  override name = 'DataDirInUse';

  constructor(dataDir: string, pid: number) {
    super(
      `Another Email Auth service (process ${pid}) uses ${dataDir}. Stop it first, or set a different DATA_DIR for this one; ` +
        'several instances on one database need DATABASE_URL.',
    );
  }
}

/**
 * Locks `dataDir` for this process. The lock of a process that ended without releasing it is replaced.
 * @returns a function that releases the lock
 * @throws DataDirInUse
 */
export function lockDataDir(dataDir: string): () => void {
  const file = join(dataDir, 'service.lock');
  const own = `${process.pid} ${identityOf(process.pid)}\n`;
  const claim = `${file}.${process.pid}`;
  writeFileSync(claim, own, { mode: 0o600 });
  try {
    // link(2) fails when the name exists, so one of several processes wins, with its content in place.
    while (!tryLink(claim, file)) {
      const holder = readText(file);
      if (holder === null) continue;
      const pid = holderOf(holder);
      if (pid !== null) throw new DataDirInUse(dataDir, pid);
      removeStale(file, holder);
    }
  } finally {
    rmSync(claim, { force: true });
  }
  return () => {
    if (readText(file) === own) rmSync(file, { force: true });
  };
}

/** Returns the process that holds a lock, or null when it has ended. */
function holderOf(text: string): number | null {
  const [pid, ...identity] = text.trim().split(' ');
  return Number(pid) > 0 && identityOf(Number(pid)) === identity.join(' ') ? Number(pid) : null;
}

/** Removes a lock whose process has ended; one that another process took meanwhile is restored. */
function removeStale(file: string, stale: string): void {
  const aside = `${file}.stale.${process.pid}`;
  try {
    renameSync(file, aside);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return;
    throw error;
  }
  if (readText(aside) !== stale) tryLink(aside, file);
  rmSync(aside, { force: true });
}

function tryLink(from: string, to: string): boolean {
  try {
    linkSync(from, to);
    return true;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'EEXIST') return false;
    throw error;
  }
}

function readText(file: string): string | null {
  try {
    return readFileSync(file, 'utf8');
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return null;
    throw error;
  }
}
