import { chmodSync, existsSync, lstatSync, mkdirSync, readFileSync, rmdirSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';

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

/** Returns the files that may change besides the given ones, and these, as absolute paths. */
export const watchedFiles = (root: string, paths: readonly string[]): string[] => [
  ...new Set([...paths, ...COMPLETED.map((name) => join(root, name))]),
];

/**
 * Reads the state of a project before a change.
 * @param paths the files that may change, as absolute paths
 * @param packageDirectories those that an installation may create, as absolute paths
 */
export function takeSnapshot(root: string, paths: readonly string[], packageDirectories: readonly string[]): Snapshot {
  return {
    files: paths.map((path) => ({ path, ...stateOf(path) })),
    missing: [...new Set(paths.flatMap((path) => missingAbove(path)))].sort((one, other) => one.length - other.length),
    packageDirectories: packageDirectories.filter((path) => !existsSync(path)),
    outputs: OUTPUTS.map((name) => join(root, name)).filter((path) => !existsSync(path)),
  };
}

/** Puts the files back as they were, and removes the directories that were created for them if they are empty. */
export function restoreFiles(snapshot: Snapshot): void {
  for (const { path, before, mode } of snapshot.files) restoreFile(path, before, mode);
  removeOutputs(snapshot);
  removeEmpty(snapshot.missing);
}

/** Removes what the build created. */
export function removeOutputs({ outputs }: Snapshot): void {
  for (const path of outputs) rmSync(path, { recursive: true, force: true });
}

/** Removes the directories of packages that did not exist. */
export function removePackages({ packageDirectories }: Snapshot): void {
  for (const path of packageDirectories) rmSync(path, { recursive: true, force: true });
}

/** Removes those directories that are empty. @param directories the uppermost first */
function removeEmpty(directories: readonly string[]): void {
  for (const directory of [...directories].reverse()) {
    try {
      rmdirSync(directory);
    } catch {
      // It is missing, or has other files.
    }
  }
}

/** Gives a file its contents and mode; removes it for null. */
function restoreFile(path: string, contents: Buffer | null, mode: number | null): void {
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

/** Returns the files that are different from a snapshot, as absolute paths. */
export const changedSince = ({ files }: Snapshot): string[] =>
  files.filter(({ path, before }) => !isSame(before, stateOf(path).before)).map(({ path }) => path);

const isSame = (one: Buffer | null, other: Buffer | null) => (one === null || other === null ? one === other : one.equals(other));

function stateOf(path: string): { before: Buffer | null; mode: number | null } {
  const stats = statSync(path, { throwIfNoEntry: false });
  return stats?.isFile() ? { before: readFileSync(path), mode: stats.mode & 0o7777 } : { before: null, mode: null };
}

function missingAbove(path: string): string[] {
  const directory = dirname(path);
  if (directory === path || lstatSync(directory, { throwIfNoEntry: false })) return [];
  return [...missingAbove(directory), directory];
}
