import { execFileSync } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';
import { basename } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';

/** Whether a process with this id exists, whoever owns it. */
export function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPERM';
  }
  return !isZombie(pid);
}

/** Sends a signal; a process that is gone is no error. */
export function signal(pid: number, name: NodeJS.Signals): void {
  try {
    process.kill(pid, name);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ESRCH') throw error;
  }
}

/** Waits until the process is gone. @returns false when it still lives after `milliseconds` */
export async function waitForEnd(pid: number, milliseconds: number): Promise<boolean> {
  for (const end = Date.now() + milliseconds; isAlive(pid); await sleep(20)) if (Date.now() > end) return false;
  return true;
}

/**
 * What tells a process from a later one that got the same id: the moment it began, with the boot it belongs to.
 * @returns null when there is no such process
 */
export function identityOf(pid: number): string | null {
  if (!isAlive(pid)) return null;
  if (process.platform !== 'linux') return ask(pid, 'lstart=');
  const boot = read('/proc/sys/kernel/random/boot_id') ?? '';
  // proc(5): field 22 is the start time; the fields are counted after the command, which stands in parentheses.
  const start = read(`/proc/${pid}/stat`)
    ?.replace(/^.*\) /s, '')
    .split(' ')[19];
  return start ? `${boot.trim()}/${start}` : null;
}

/** Ids of the processes that it has started and that live; on Linux, elsewhere none. */
export function childrenOf(pid: number): number[] {
  if (process.platform !== 'linux') return [];
  const all = readdirSync('/proc').filter((name) => /^\d+$/.test(name));
  return all.filter((id) => statOf(Number(id))[1] === String(pid)).map(Number);
}

/** Whether the process is the PostgreSQL server of this data directory (its real path), and not one that got a reused id. */
export function isPostmaster(pid: number, directory: string): boolean {
  if (!isAlive(pid)) return false;
  if (process.platform !== 'linux') return ask(pid, 'command=')?.includes(`postgres -D ${directory}`) ?? false;
  const [program, ...args] = read(`/proc/${pid}/cmdline`)?.split('\0') ?? [''];
  return basename(program) === 'postgres' && args.includes(directory);
}

// One that has ended stays in the list until its parent, in a container perhaps nobody, has asked for its exit code.
function isZombie(pid: number): boolean {
  return process.platform === 'linux' && statOf(pid)[0] === 'Z';
}

/** The fields of proc_pid_stat(5) after the command, which stands in parentheses: state, parent, … and at 19 the start time. */
function statOf(pid: number): string[] {
  return (
    read(`/proc/${pid}/stat`)
      ?.replace(/^.*\) /s, '')
      .split(' ') ?? []
  );
}

function ask(pid: number, field: string): string | null {
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
