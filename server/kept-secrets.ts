import { randomBytes } from 'node:crypto';
import { chmodSync, linkSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

/**
 * Returns a secret that the service generates and stores in `dataDir`, readable only by its own user (mode 600). Every call returns
 * the same secret, also when several processes start at the same time.
 * @param name file name in `dataDir`
 * @param bytes of entropy; the secret is their base64url
 */
export function keptSecret(dataDir: string, name: string, bytes: number): string {
  mkdirSync(dataDir, { recursive: true });
  const file = join(dataDir, name);
  const stored = read(file);
  if (stored) return stored;
  const temporary = `${file}.${process.pid}`;
  writeFileSync(temporary, `${randomBytes(bytes).toString('base64url')}\n`, { mode: 0o600 });
  try {
    // A link fails when the file exists: the first process wins, and no process reads a partly written file.
    linkSync(temporary, file);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
  } finally {
    rmSync(temporary, { force: true });
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
