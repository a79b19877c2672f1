import { existsSync } from 'node:fs';
import { relative, sep } from 'node:path';
import { foreign, shellLine } from '../terminal.ts';
import { type GitStates, undoCommand } from './git.ts';
import type { CommandLine } from './package-manager.ts';
import type { Step } from './plan.ts';

/** How what `init` wrote is taken back. */
export type Undo = {
  /** The words of a line for the shell, quoted where needed; empty where git can undo nothing. */
  command: string[];
  /** What else is to be done, as sentences with code in backticks. */
  notes: string[];
};

const LOCAL_ENV = '.env';

/**
 * Returns the files that change and have contents that git does not hold, relative to the project. `.env` is one of them only where git
 * tracks it: its contents belong outside of git, and `init` adds lines to it.
 * @param steps those that change a file
 * @param installed the files that an installation of packages changes; the package manager makes those again that git ignores
 */
export function findUnheld(root: string, git: GitStates, steps: readonly Step[], installed: readonly string[]): string[] {
  if ('reason' in git) return [];
  const planned = steps.filter((step) => !isHeld(git, step) && !isLocalEnv(git, step)).map(({ change }) => change.target);
  const others = installed.filter((path) => existsSync(path) && ['changed', 'untracked'].includes(git.get(path) ?? ''));
  return [...new Set([...planned, ...others])].map((path) => shownPath(root, path));
}

/**
 * Returns how the changes of a run are taken back.
 * @param cwd from where the command is entered, without symbolic links
 * @param run.git the states of the files before
 * @param run.steps those that changed a file
 * @param run.changed the files that were changed, as absolute paths
 * @param run.install the command that makes the installed packages those of the manifest; null when none were added
 */
export function undoOf(
  cwd: string,
  root: string,
  { git, steps, changed, install }: { git: GitStates; steps: readonly Step[]; changed: readonly string[]; install: CommandLine | null },
): Undo {
  if ('reason' in git) return { command: [], notes: [] };
  const inState = (state: string) => changed.filter((path) => git.get(path) === state);
  const env = steps.find((step) => isLocalEnv(git, step));
  const planned = new Set(steps.map(({ change }) => change.target));
  // The tools of the project make other ignored files again.
  const left = [...inState('changed'), ...inState('untracked'), ...inState('ignored').filter((path) => planned.has(path))];
  const byHand = left.filter((path) => path !== env?.change.target).map((path) => `\`${shownPath(root, path)}\``);
  return {
    command: undoCommand(cwd, root, { restore: inState('held'), remove: inState('absent').filter((path) => existsSync(path)) }),
    notes: [
      ...(env ? [describeEnv(env)] : []),
      ...(byHand.length > 0 ? [`git did not hold ${byHand.join(', ')} before: take the changes out by hand.`] : []),
      ...(install ? [`\`${shellLine(install)}\` then removes the packages.`] : []),
    ],
  };
}

const isHeld = (git: ReadonlyMap<string, string>, { change }: Step) => ['held', 'absent'].includes(git.get(change.target) ?? '');

/** Whether a step changes a `.env` that git does not track. */
const isLocalEnv = (git: ReadonlyMap<string, string>, { change }: Step) =>
  change.path === LOCAL_ENV && ['untracked', 'ignored'].includes(git.get(change.target) ?? '');

function describeEnv({ shown: { addition = '', replaced = [] } }: Step): string {
  const names = [...addition.matchAll(/^(\w+)=/gm)].map(([, name]) => `\`${name}\``);
  const removed = names.length > 0 ? [`remove ${names.join(', ')}`] : [];
  const restored = replaced.map(({ from }) => `set \`${from.trim()}\` again`);
  return `git does not hold \`${LOCAL_ENV}\`: in it, ${[...removed, ...restored].join(', and ')}.`;
}

const shownPath = (root: string, path: string) => foreign(relative(root, path).split(sep).join('/'));
