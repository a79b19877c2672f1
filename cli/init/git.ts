import { spawnSync } from 'node:child_process';
import { existsSync, readFileSync, realpathSync } from 'node:fs';
import { dirname, join, relative, sep } from 'node:path';
import type { Environment } from '../installation.ts';
import { foreign, shellLine } from '../terminal.ts';
import { isBelow } from './files.ts';

/**
 * What git has of a file: `held` as it is, `absent` where there is none, `changed` where git has another version, and nothing of one
 * that is `untracked` or `ignored`.
 */
type FileState = 'held' | 'absent' | 'changed' | 'untracked' | 'ignored';

/** The states of files by absolute path, or why git does not tell them, as the start of a sentence. */
export type GitStates = ReadonlyMap<string, FileState> | { reason: string };

const TIMEOUT_MS = 30_000;

/**
 * Returns what git has of files, in its index or in a commit.
 * @param root the directory of a project, without symbolic links
 * @param paths absolute, without symbolic links; the files need not exist
 * @param env the environment of git
 */
export function readGit(root: string, paths: readonly string[], env: Environment): GitStates {
  const found = runGit(env, root, ['rev-parse', '--show-toplevel']);
  if (typeof found !== 'string') return isInWorkTree(root) ? found : { reason: `${foreign(root)} is in no git repository` };
  const top = realpathSync(found.replace(/\r?\n$/, ''));
  const nameOf = (path: string) => relative(top, path).split(sep).join('/');
  const inside = paths.filter((path) => isBelow(top, path));
  const names = inside.map(nameOf);
  const list = (...args: string[]) => runGit(env, top, ['--literal-pathspecs', ...args, '-z', '--', ...names]);
  const [tracked, changed] = [list('ls-files', '-v'), list('diff', '--name-only', '--no-ext-diff')];
  const ignored = runGit(env, top, ['check-ignore', '-z', '--stdin'], names.join('\0'));
  if (typeof tracked !== 'string') return tracked;
  if (typeof changed !== 'string') return changed;
  if (typeof ignored !== 'string') return ignored;
  const tags = new Map(tracked.split('\0').map((line) => [line.slice(2), line.charAt(0)]));
  const [changedNames, ignoredNames] = [new Set(changed.split('\0')), new Set(ignored.split('\0'))];
  const stateOf = (path: string): FileState => {
    const name = nameOf(path);
    const tag = tags.get(name);
    // Another tag stands for a conflict, or for a file that git was told not to compare.
    if (tag) return tag === 'H' && !changedNames.has(name) ? 'held' : 'changed';
    if (!existsSync(path)) return 'absent';
    return ignoredNames.has(name) ? 'ignored' : 'untracked';
  };
  return new Map(paths.map((path) => [path, inside.includes(path) ? stateOf(path) : 'untracked']));
}

/**
 * Returns the words of the commands that put files back as git has them and remove those that git did not have, as a person enters them.
 * @param cwd from where they are entered
 * @param root the directory of the project. Both are without symbolic links
 */
export function undoCommand(
  cwd: string,
  root: string,
  { restore, remove }: { restore: readonly string[]; remove: readonly string[] },
): string[] {
  const nameOf = (path: string) => relative(root, path).split(sep).join('/');
  // Other characters are a pattern to git.
  const isPattern = [...restore, ...remove].some((path) => /[*?[\\]|^:/.test(nameOf(path)));
  const git = ['git', ...(cwd === root ? [] : ['-C', relative(cwd, root)]), ...(isPattern ? ['--literal-pathspecs'] : [])];
  const line = (command: readonly string[], paths: readonly string[]) =>
    paths.length > 0 ? [[...git, ...command, '--', ...paths.map(nameOf)].map((word) => shellLine([word]))] : [];
  // Ignored files, too: `.env`, and what a rule such as `lib/` ignores.
  const [first = [], second] = [...line(['restore'], restore), ...line(['clean', '-fx'], remove)];
  return second ? [...first, '&&', ...second] : first;
}

/**
 * Returns how git treats a file of a directory: it is tracked, ignored, or untracked and would be part of the next commit. Without a
 * work tree, only the .gitignore of the directory counts: a repository may be created later.
 */
export function gitStatusOf(directory: string, file: string, env: Environment): 'tracked' | 'ignored' | 'untracked' {
  const tracked = isInWorkTree(directory) ? runGit(env, directory, ['ls-files', '--', file]) : null;
  if (typeof tracked !== 'string') return isListedIn(join(directory, '.gitignore'), file) ? 'ignored' : 'untracked';
  if (tracked !== '') return 'tracked';
  const ignored = runGit(env, directory, ['check-ignore', '--', file]);
  return typeof ignored === 'string' && ignored !== '' ? 'ignored' : 'untracked';
}

function isInWorkTree(directory: string): boolean {
  // In a linked work tree and in a submodule `.git` is a file.
  if (existsSync(join(directory, '.git'))) return true;
  const parent = dirname(directory);
  return parent !== directory && isInWorkTree(parent);
}

/** Returns the output of a command that reads, or why it failed, as the start of a sentence. */
function runGit(env: Environment, directory: string, args: readonly string[], input = ''): string | { reason: string } {
  // Without the fsmonitor program that the work tree's own configuration may name, and without a lock.
  const all = ['--no-optional-locks', '-C', directory, '-c', 'core.fsmonitor=false', ...args];
  const { error, status, stdout, stderr } = spawnSync('git', all, {
    env: env as NodeJS.ProcessEnv,
    input,
    encoding: 'utf8',
    timeout: TIMEOUT_MS,
  });
  if (error)
    return { reason: 'code' in error && error.code === 'ENOENT' ? 'git is not installed here' : `git cannot be run (${error.message})` };
  // With 1, `check-ignore` found nothing.
  if (status === 0 || status === 1) return stdout;
  const remedy = /git config --global --add safe\.directory .+/.exec(stderr)?.[0];
  const said = foreign(stderr.trim().split('\n')[0]);
  return { reason: `git does not read the repository (${said}${remedy ? `; if it is yours: \`${foreign(remedy)}\`` : ''})` };
}

function isListedIn(path: string, file: string): boolean {
  if (!existsSync(path)) return false;
  const lines = readFileSync(path, 'utf8').split(/\r?\n/);
  return [file, `/${file}`, `${file}*`].some((line) => lines.includes(line));
}
