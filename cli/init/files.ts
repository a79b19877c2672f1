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
import { dirname, join, relative, sep } from 'node:path';
import { CommandError, EXIT } from '../exit.ts';

/** What stands at a path of a project. */
export type Found = {
  /** Where it is written to: behind the symbolic links on the way. */
  target: string;
  /** Its bytes; null: nothing is there. */
  before: Buffer | null;
};

/** A file as it is and as it is to be. */
export type Change = Found & {
  /** From the project's directory, with `/`. */
  path: string;
  after: Buffer;
  /** Of a file that is new; one that is there keeps its own. */
  mode?: number;
};

/**
 * Looks at a path of a project, which need not exist.
 * @param root the project's directory, without symbolic links
 * @throws CommandError conflict for a directory, or anything else that is no file, and for a symbolic link out of the project;
 *   failure for what may not be read
 */
export function lookAt(root: string, path: string): Found {
  try {
    return found(root, path);
  } catch (error) {
    if (error instanceof CommandError) throw error;
    const message = `${path} cannot be read: ${(error as Error).message}`;
    throw new CommandError(EXIT.failure, 'not_readable', message, 'Nothing was written.', error);
  }
}

function found(root: string, path: string): Found {
  const segments = path.split('/');
  let at = root;
  for (const [i, segment] of segments.entries()) {
    const shown = segments.slice(0, i + 1).join('/');
    at = join(at, segment);
    const state = lstatSync(at, { throwIfNoEntry: false });
    if (!state) return { target: join(at, ...segments.slice(i + 1)), before: null };
    if (state.isSymbolicLink()) at = followed(root, at, shown);
    const isLast = i === segments.length - 1;
    const { isDirectory, isFile } = kindOf(at);
    if (isLast && isDirectory) throw inTheWay(`${shown} is a directory, and a file is to be written there.`);
    if (!isLast && !isDirectory) throw inTheWay(`${shown} is no directory, and files are to be written below it.`);
    if (isLast && !isFile) throw inTheWay(`${shown} is no regular file.`);
  }
  return { target: at, before: readFileSync(at) };
}

function followed(root: string, at: string, shown: string): string {
  let target: string;
  try {
    target = realpathSync(at);
  } catch (cause) {
    throw inTheWay(`${shown} is a symbolic link that leads nowhere.`, cause);
  }
  if (target !== root && !target.startsWith(root.endsWith(sep) ? root : root + sep)) {
    throw inTheWay(`${shown} is a symbolic link that leads out of the project.`);
  }
  return target;
}

function kindOf(path: string): { isDirectory: boolean; isFile: boolean } {
  const state = statSync(path);
  return { isDirectory: state.isDirectory(), isFile: state.isFile() };
}

const inTheWay = (message: string, cause?: unknown) =>
  new CommandError(EXIT.conflict, 'conflict', message, 'Move it away, or choose another directory. Nothing was written.', cause);

/** @throws CommandError when a directory that these files go to cannot be written to */
export function mustBeWritable(root: string, changes: readonly Change[]): void {
  for (const { target, path } of changes) {
    let directory = dirname(target);
    while (directory !== root && !statSync(directory, { throwIfNoEntry: false })) directory = dirname(directory);
    try {
      accessSync(directory, constants.W_OK | constants.X_OK);
    } catch (cause) {
      const shown = relative(root, directory) || root;
      throw new CommandError(EXIT.failure, 'not_writable', `${path} cannot be written: you may not write to ${shown}.`, '', cause);
    }
  }
}

/**
 * Writes all of these files or none: each beside its place first, then all of them are put there. It lets nothing come between,
 * no Ctrl-C either.
 * @throws CommandError when one was changed since it was looked at, or cannot be written; then everything is as it was
 */
export function writeAll(root: string, changes: readonly Change[]): void {
  for (const { path, before, target } of changes) {
    const there = lookAt(root, path);
    const isSame = there.target === target && (before ? there.before?.equals(before) : !there.before);
    if (!isSame) throw new CommandError(EXIT.conflict, 'conflict', `${path} was changed meanwhile. Nothing was written.`, 'Run it again.');
  }
  const undo: (() => void)[] = [];
  let path = '';
  try {
    const beside = changes.map((change) => {
      path = change.path;
      const directory = dirname(change.target);
      const made = mkdirSync(directory, { recursive: true });
      if (made) undo.push(() => rmSync(made, { recursive: true }));
      const temporary = join(directory, `.emailauth-${randomBytes(8).toString('hex')}`);
      undo.push(() => rmSync(temporary, { force: true }));
      const mode = change.before ? statSync(change.target).mode & 0o7777 : change.mode;
      writeFileSync(temporary, change.after, { flag: 'wx', mode });
      // What the umask took away from the mode that it had.
      if (change.before && mode !== undefined) chmodSync(temporary, mode);
      return { ...change, temporary };
    });
    for (const { target, temporary, before, ...change } of beside) {
      path = change.path;
      renameSync(temporary, target);
      undo.push(() => (before ? writeFileSync(target, before) : rmSync(target, { force: true })));
    }
  } catch (cause) {
    for (const step of undo.reverse()) step();
    const { message } = cause as Error;
    throw new CommandError(EXIT.failure, 'not_writable', `${path} cannot be written: ${message}`, 'Everything is as it was.', cause);
  }
}
