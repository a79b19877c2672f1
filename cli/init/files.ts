import { randomBytes } from 'node:crypto';
import {
  accessSync,
  chmodSync,
  constants,
  lstatSync,
  mkdirSync,
  readFileSync,
  realpathSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { dirname, isAbsolute, join, relative, sep } from 'node:path';
import { structuredPatch } from 'diff';
import { CommandError, EXIT } from '../exit.ts';
import { foreign, type Terminal } from '../terminal.ts';

/** What exists at a path of a project. */
type Found = {
  /** The path to write to, with symbolic links resolved. */
  target: string;
  /** The contents of the file; null when there is none. */
  before: Buffer | null;
};

/** A file before and after the change. */
export type Change = Found & {
  /** Relative to the project's directory, with `/`. */
  path: string;
  after: Buffer;
  /** Mode of a new file; an existing one keeps its own. */
  mode?: number;
};

/** A change as it is shown. With `addition`, only the appended and replaced lines are shown and nothing else of the existing file. */
export type ShownChange = Pick<Change, 'path' | 'before' | 'after'> & {
  addition?: string;
  replaced?: readonly { from: string; to: string }[];
};

/**
 * Reads a path of a project, which need not exist.
 * @param root the project's directory, without symbolic links
 * @throws CommandError conflict for anything that is not a regular file, and for a symbolic link out of the project; failure for a
 *   file that cannot be read
 */
export function readExisting(root: string, path: string): Found {
  try {
    return followPath(root, path);
  } catch (error) {
    if (error instanceof CommandError) throw error;
    const message = `${path} cannot be read: ${(error as Error).message}`;
    throw new CommandError(EXIT.failure, 'not_readable', message, 'Nothing was written.', error);
  }
}

function followPath(root: string, path: string): Found {
  const segments = path.split('/');
  if (isAbsolute(path) || segments.includes('..')) throw conflict(`${foreign(path)} leads out of the project.`);
  let at = root;
  for (const [i, segment] of segments.entries()) {
    const shown = segments.slice(0, i + 1).join('/');
    at = join(at, segment);
    const state = lstatSync(at, { throwIfNoEntry: false });
    if (!state) return { target: join(at, ...segments.slice(i + 1)), before: null };
    if (state.isSymbolicLink()) at = resolveLink(root, at, shown);
    const isLast = i === segments.length - 1;
    const { isDirectory, isFile } = kindOf(at);
    if (isLast && isDirectory) throw conflict(`${shown} is a directory, but a file would be written there.`);
    if (!isLast && !isDirectory) throw conflict(`${shown} is not a directory, but files would be written below it.`);
    if (isLast && !isFile) throw conflict(`${shown} is not a regular file.`);
  }
  return { target: at, before: readFileSync(at) };
}

function resolveLink(root: string, at: string, shown: string): string {
  let target: string;
  try {
    target = realpathSync(at);
  } catch (cause) {
    throw conflict(`${shown} is a symbolic link to a missing file.`, cause);
  }
  if (target !== root && !isBelow(root, target)) {
    throw conflict(`${shown} is a symbolic link out of the project.`);
  }
  return target;
}

/** Whether a path is in a directory. Both are without symbolic links. */
export const isBelow = (directory: string, path: string): boolean => path.startsWith(directory.endsWith(sep) ? directory : directory + sep);

function kindOf(path: string): { isDirectory: boolean; isFile: boolean } {
  const state = statSync(path);
  return { isDirectory: state.isDirectory(), isFile: state.isFile() };
}

const conflict = (message: string, cause?: unknown) =>
  new CommandError(EXIT.conflict, 'conflict', message, 'Move it away, or choose another directory. Nothing was written.', cause);

/** @throws CommandError when the directory of one of these files is not writable */
export function requireWritable(root: string, changes: readonly Change[]): void {
  for (const { target, path } of changes) {
    let directory = dirname(target);
    while (directory !== root && !statSync(directory, { throwIfNoEntry: false })) directory = dirname(directory);
    try {
      accessSync(directory, constants.W_OK | constants.X_OK);
    } catch (cause) {
      const shown = relative(root, directory) || root;
      throw new CommandError(EXIT.failure, 'not_writable', `${path} cannot be written: no permission to write to ${shown}.`, '', cause);
    }
  }
}

/**
 * Writes all of these files or none: each to a temporary file beside its target, then all are renamed. It is synchronous, so that
 * not even Ctrl-C can interrupt it.
 * @throws CommandError when one was changed since it was read, or cannot be written; then nothing is changed
 */
export function writeAll(root: string, changes: readonly Change[]): void {
  for (const { path, before, target } of changes) {
    const current = readExisting(root, path);
    const isSame = current.target === target && (before ? current.before?.equals(before) : !current.before);
    if (!isSame)
      throw new CommandError(EXIT.conflict, 'conflict', `${path} was changed in the meantime. Nothing was written.`, 'Run it again.');
  }
  const undo: (() => void)[] = [];
  let path = '';
  try {
    const prepared = changes.map((change) => {
      path = change.path;
      const directory = dirname(change.target);
      const created = mkdirSync(directory, { recursive: true });
      if (created) undo.push(() => rmSync(created, { recursive: true }));
      const temporary = join(directory, `.emailauth-${randomBytes(8).toString('hex')}`);
      undo.push(() => rmSync(temporary, { force: true }));
      const mode = change.before ? statSync(change.target).mode & 0o7777 : change.mode;
      writeFileSync(temporary, change.after, { flag: 'wx', mode });
      // The umask may have removed bits of the mode.
      if (change.before && mode !== undefined) chmodSync(temporary, mode);
      return { ...change, temporary };
    });
    for (const { target, temporary, before, ...change } of prepared) {
      path = change.path;
      renameSync(temporary, target);
      undo.push(() => (before ? writeFileSync(target, before) : rmSync(target, { force: true })));
    }
  } catch (cause) {
    for (const step of undo.reverse()) step();
    const { message } = cause as Error;
    throw new CommandError(EXIT.failure, 'not_writable', `${path} cannot be written: ${message}`, 'Nothing was changed.', cause);
  }
}

/** Returns a unified diff, in color where colors are wanted. */
export function patchOf({ path, before, after, addition, replaced = [] }: ShownChange, style: Terminal['style']): string {
  const lines =
    before && addition !== undefined
      ? [...replaced.flatMap((line) => replacedLine(before, line)), ...appendedLines(before, addition)]
      : changedLines(before, after);
  const head = [`--- ${before ? foreign(path) : '/dev/null'}`, `+++ ${foreign(path)}`].map((line) => style('bold', line));
  return [...head, ...lines.map((line) => colorLine(withoutControls(line), style))].join('\n');
}

function changedLines(before: Buffer | null, after: Buffer): string[] {
  const { hunks } = structuredPatch('', '', before?.toString() ?? '', after.toString(), '', '', { context: 3 });
  return hunks.flatMap(({ oldStart, oldLines, newStart, newLines, lines }) => [
    `@@ -${before ? oldStart : 0},${oldLines} +${newStart},${newLines} @@`,
    ...lines,
  ]);
}

function replacedLine(before: Buffer, { from, to }: { from: string; to: string }): string[] {
  const at = before.toString().split(/\r?\n/).lastIndexOf(from) + 1;
  return [`@@ -${at},1 +${at},1 @@`, `-${from}`, `+${to}`];
}

function appendedLines(before: Buffer, addition: string): string[] {
  if (addition === '') return [];
  const lines = addition.trim().split(/\r?\n/);
  const last = before.toString().split('\n').length - (before.length === 0 || before.at(-1) === 10 ? 1 : 0);
  return [`@@ -${last},0 +${last + 1},${lines.length} @@`, ...lines.map((line) => `+${line}`)];
}

function colorLine(line: string, style: Terminal['style']): string {
  if (line.startsWith('+')) return style('green', line);
  if (line.startsWith('-')) return style('red', line);
  return line.startsWith('@') || line.startsWith('\\') ? style('dim', line) : line;
}

/** Returns a line without the end of Windows, in which only tabs are left of its control characters. */
const withoutControls = (line: string) => line.replace(/\r$/, '').split('\t').map(foreign).join('\t');
