import { execFileSync } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';
import { basename } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';

/** Whether a process with this id is running, of any user. */
export function isAlive(pid: number): boolean {
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
