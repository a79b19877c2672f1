import { createHash, randomBytes } from 'node:crypto';
import { existsSync, mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { homedir } from 'node:os';
import { dirname, join } from 'node:path';
import { z } from 'zod';
import { usageError } from '../exit.ts';

const RecordedFile = z.object({
  /** Absolute. */
  path: z.string(),
  /** The contents in Base64; null: the file did not exist. */
  before: z.string().nullable(),
  after: z.string().nullable(),
  /** The mode before, in decimal; null: the file did not exist. */
  mode: z.number().nullable(),
});

const Run = z.object({
  files: z.array(RecordedFile),
  /** Directories that it created, as absolute paths. */
  directories: z.array(z.string()),
  /** Directories of packages that it created, as absolute paths. */
  packageDirectories: z.array(z.string()),
  /** The command that makes the installed packages those of the manifest; null when none were installed. */
  install: z.array(z.string()).nullable(),
});

const History = z.object({ root: z.string(), runs: z.array(Run) });

/** What one run of `init` changed. */
export type InitRun = z.infer<typeof Run>;

/** The runs of `init` in a project that were not undone, the oldest first. */
export type InitHistory = {
  /** Where it is stored. */
  path: string;
  runs: InitRun[];
};

/**
 * Reads what `init` has changed in a project. The records are in `$XDG_STATE_HOME/emailauth/init/`, one file for each project by the
 * hash of its path, which only the user may read: they contain the previous contents of files, `.env` included.
 * @throws CommandError usage for a file that is not a record
 */
export function readHistory(root: string, env: Readonly<Record<string, string | undefined>>): InitHistory {
  const name = createHash('sha256').update(root).digest('hex').slice(0, 32);
  const path = join(stateDirectory(env), 'init', `${name}.json`);
  if (!existsSync(path)) return { path, runs: [] };
  try {
    return { path, runs: History.parse(JSON.parse(readFileSync(path, 'utf8'))).runs };
  } catch (cause) {
    throw usageError(`${path} cannot be used: ${(cause as Error).message}`, 'Delete it; `init --undo` is then not possible.');
  }
}

/** Stores the runs of a project, atomically; removes the record when there are none. */
export function saveHistory(root: string, { path, runs }: InitHistory): void {
  if (runs.length === 0) {
    rmSync(path, { force: true });
    return;
  }
  mkdirSync(dirname(path), { recursive: true, mode: 0o700 });
  const temporary = `${path}.${randomBytes(4).toString('hex')}`;
  writeFileSync(temporary, JSON.stringify({ root, runs }), { mode: 0o600, flag: 'wx' });
  renameSync(temporary, path);
}

/** Returns the contents that the last run of `init` gave to a file, or null when it wrote none. @param path absolute */
export function lastWritten({ runs }: Pick<InitHistory, 'runs'>, path: string): Buffer | null {
  const after = runs.flatMap(({ files }) => files).findLast((file) => file.path === path)?.after;
  return after === null || after === undefined ? null : Buffer.from(after, 'base64');
}

/** Returns `$XDG_STATE_HOME/emailauth` on every system (XDG Base Directory Specification, which says to ignore a relative path). */
function stateDirectory({ XDG_STATE_HOME, HOME }: Readonly<Record<string, string | undefined>>): string {
  return join(XDG_STATE_HOME?.startsWith('/') ? XDG_STATE_HOME : join(HOME || homedir(), '.local/state'), 'emailauth');
}
