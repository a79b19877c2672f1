import { randomBytes } from 'node:crypto';
import { chmodSync, linkSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

/**
 * A secret that the service makes for itself and keeps in `dataDir`, readable by its own user alone (mode 600).
 * The same on every call; processes that start at once agree on one.
 * @param name file name in `dataDir`
 * @param bytes entropy; the text is their base64url
 */
export function keptSecret(dataDir: string, name: string, bytes: number): string {
  mkdirSync(dataDir, { recursive: true });
  const file = join(dataDir, name);
  const kept = read(file);
  if (kept) return kept;
  const fresh = `${file}.${process.pid}`;
  writeFileSync(fresh, `${randomBytes(bytes).toString('base64url')}\n`, { mode: 0o600 });
  try {
    // A link fails when the name is taken, so that the first of several processes wins and no half-written file is seen.
    linkSync(fresh, file);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
  } finally {
    rmSync(fresh, { force: true });
  }
  return read(file) as string;
}

function read(file: string): string | null {
  try {
    chmodSync(file, 0o600);
    return readFileSync(file, 'utf8').trim() || null;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return null;
    throw error;
  }
}
