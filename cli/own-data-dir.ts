import { lstatSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Context } from './command.ts';
import { CommandError, EXIT } from './exit.ts';
import { foreign, shellLine } from './terminal.ts';

/** A file in ./data with what identifies the directory on this machine; a directory that came with other files cannot know it. */
const MARK = 'created-here';

/**
 * Ensures that ./data, where the service stores its data without DATA_DIR, was created by this program: one that came with a repository
 * or an archive may have secrets that others know, or links. The service itself checks a directory that DATA_DIR names.
 * @param options.create whether it is created when it is missing
 * @throws CommandError foreign_data
 */
export function requireOwnDataDir({ env, cwd }: Context, { create }: { create: boolean }): void {
  if (env.DATA_DIR) return;
  const path = join(cwd, 'data');
  const problem = (() => {
    try {
      return problemWith(path, create);
    } catch {
      // It cannot be read or created, which the service reports.
      return null;
    }
  })();
  if (problem === null) return;
  const message = `${foreign(path)} ${problem}. Nothing was written there.`;
  const hint = `If it is yours, name it: ${shellLine([`DATA_DIR=${path}`])}. Otherwise run this in another directory, or move it away.`;
  throw new CommandError(EXIT.conflict, 'foreign_data', message, hint);
}

/** Returns what is wrong with a directory, or null. Creates or marks one that is missing or empty. */
function problemWith(path: string, create: boolean): string | null {
  const stats = lstatSync(path, { throwIfNoEntry: false });
  if (!stats) {
    if (!create) return null;
    const isRoot = process.getuid?.() === 0;
    // As root, PostgreSQL runs as another user, which has to pass through.
    mkdirSync(path, { mode: isRoot ? 0o711 : 0o700 });
    writeMark(path);
    return null;
  }
  if (stats.isSymbolicLink()) return 'is a link, which is not followed';
  if (!stats.isDirectory()) return 'is not a directory';
  const user = process.getuid?.();
  if (user !== undefined && stats.uid !== user) return 'belongs to another user of this machine';
  const names = readdirSync(path);
  if (names.length === 0) {
    if (create) writeMark(path);
    return null;
  }
  const mark = join(path, MARK);
  if (lstatSync(mark, { throwIfNoEntry: false })?.isFile() && readFileSync(mark, 'utf8') === identityOf(path)) return null;
  return 'was not created by this program on this machine, and may have secrets that others know';
}

const writeMark = (path: string) => writeFileSync(join(path, MARK), identityOf(path), { mode: 0o600 });

/** Returns what a directory keeps when it is renamed, and no copy of it has. */
function identityOf(path: string): string {
  const { ino, birthtimeNs } = lstatSync(path, { bigint: true });
  return `${ino} ${birthtimeNs}\n`;
}
