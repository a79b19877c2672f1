import { createHash, randomBytes } from 'node:crypto';
import { chmodSync, existsSync, lstatSync, mkdirSync, readFileSync, renameSync, rmdirSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { z } from 'zod';
import { usageError } from '../exit.ts';
import { stateDirectory } from '../settings.ts';

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
type InitRun = z.infer<typeof Run>;

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

/** The state of files before a change. */
export type Snapshot = {
  files: { path: string; before: Buffer | null; mode: number | null }[];
  /** The directories above these files that did not exist, the uppermost first. */
  missing: string[];
  /** Directories of packages that did not exist. */
  packageDirectories: string[];
  /** Outputs of a build that did not exist. */
  outputs: string[];
};

/** What builds create beside their sources, by the names that frameworks and compilers use. */
const OUTPUTS = [
  '.next',
  '.nuxt',
  '.output',
  '.svelte-kit',
  '.astro',
  '.nitro',
  'dist',
  'build',
  'out',
  'next-env.d.ts',
  'tsconfig.tsbuildinfo',
];
/** Settings that a build may complete. */
const COMPLETED = ['tsconfig.json', 'next-env.d.ts', 'go.mod', 'go.sum'];

/**
 * Reads the state of a project before a change.
 * @param paths the files that change, as absolute paths
 * @param packageDirectories those that an installation may create, as absolute paths
 */
export function takeSnapshot(root: string, paths: readonly string[], packageDirectories: readonly string[]): Snapshot {
  const all = [...new Set([...paths, ...COMPLETED.map((name) => join(root, name))])];
  return {
    files: all.map((path) => ({ path, ...stateOf(path) })),
    missing: [...new Set(all.flatMap((path) => missingAbove(path)))].sort((one, other) => one.length - other.length),
    packageDirectories: packageDirectories.filter((path) => !existsSync(path)),
    outputs: OUTPUTS.map((name) => join(root, name)).filter((path) => !existsSync(path)),
  };
}

/** Puts the files back as they were, and removes the directories that were created for them if they are empty. */
export function restoreFiles({ files, missing, outputs }: Snapshot): void {
  for (const { path, before, mode } of files) restoreFile(path, before, mode);
  removeOutputs({ outputs });
  removeEmpty(missing);
}

/** Removes what the build created. */
export function removeOutputs({ outputs }: Pick<Snapshot, 'outputs'>): void {
  for (const path of outputs) rmSync(path, { recursive: true, force: true });
}

/** Removes the directories of packages that did not exist. */
export function removePackages({ packageDirectories }: Pick<Snapshot, 'packageDirectories'>): void {
  for (const path of packageDirectories) rmSync(path, { recursive: true, force: true });
}

/** Removes those directories that are empty. @param directories the uppermost first */
export function removeEmpty(directories: readonly string[]): void {
  for (const directory of [...directories].reverse()) {
    try {
      rmdirSync(directory);
    } catch {
      // It is missing, or has other files.
    }
  }
}

/** Gives a file its contents and mode; removes it for null. */
export function restoreFile(path: string, contents: Buffer | null, mode: number | null): void {
  if (contents === null) {
    rmSync(path, { force: true });
    return;
  }
  const current = stateOf(path);
  if (!current.before?.equals(contents)) {
    mkdirSync(dirname(path), { recursive: true });
    writeFileSync(path, contents);
  }
  if (mode !== null && current.mode !== mode) chmodSync(path, mode);
}

/** Returns what was changed since a snapshot, for the record. */
export function changesSince(snapshot: Snapshot, install: readonly string[] | null): InitRun {
  const files = snapshot.files.flatMap(({ path, before, mode }) => {
    const after = stateOf(path).before;
    const isSame = before === null ? after === null : after?.equals(before) === true;
    return isSame ? [] : [{ path, before: before?.toString('base64') ?? null, after: after?.toString('base64') ?? null, mode }];
  });
  return {
    files,
    directories: snapshot.missing.filter((path) => existsSync(path)),
    packageDirectories: snapshot.packageDirectories.filter((path) => existsSync(path)),
    install: install && [...install],
  };
}

function stateOf(path: string): { before: Buffer | null; mode: number | null } {
  const stats = statSync(path, { throwIfNoEntry: false });
  return stats?.isFile() ? { before: readFileSync(path), mode: stats.mode & 0o7777 } : { before: null, mode: null };
}

function missingAbove(path: string): string[] {
  const directory = dirname(path);
  if (directory === path || lstatSync(directory, { throwIfNoEntry: false })) return [];
  return [...missingAbove(directory), directory];
}
