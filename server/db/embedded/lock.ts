import { linkSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { StartError } from '../../start-error.ts';
import { identityOf } from './processes.ts';

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
  writeFileSync(claim, own);
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
