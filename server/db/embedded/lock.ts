import { linkSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { StartError } from '../../start-error.ts';
import { identityOf } from './processes.ts';

/** DATA_DIR belongs to another service that runs. */
export class DataDirInUse extends StartError {
  override name = 'DataDirInUse';

  constructor(dataDir: string, pid: number) {
    super(
      `Another Email Auth service (process ${pid}) uses ${dataDir}. Stop it first, or give this one a DATA_DIR of its own; ` +
        'several instances on one database need DATABASE_URL.',
    );
  }
}

/**
 * Takes `dataDir` for this process. What a process left that ended without release is taken over.
 * @returns the release
 * @throws DataDirInUse
 */
export function lockDataDir(dataDir: string): () => void {
  const file = join(dataDir, 'service.lock');
  const own = `${process.pid} ${identityOf(process.pid)}\n`;
  const claim = `${file}.${process.pid}`;
  writeFileSync(claim, own);
  try {
    // link(2) fails when the name is taken: one of several wins, with its content in place.
    while (!tryLink(claim, file)) {
      const holder = readText(file);
      if (holder === null) continue;
      const pid = holderOf(holder);
      if (pid !== null) throw new DataDirInUse(dataDir, pid);
      putAside(file, holder);
    }
  } finally {
    rmSync(claim, { force: true });
  }
  return () => {
    if (readText(file) === own) rmSync(file, { force: true });
  };
}

/** The process that a lock names, or null when it has ended. */
function holderOf(text: string): number | null {
  const [pid, ...identity] = text.trim().split(' ');
  return Number(pid) > 0 && identityOf(Number(pid)) === identity.join(' ') ? Number(pid) : null;
}

/** Removes a lock that nobody holds; one that somebody else took meanwhile is put back. */
function putAside(file: string, stale: string): void {
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
