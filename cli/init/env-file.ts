import { execFileSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { parseEnv } from 'node:util';

/** What is missing in a `.env` file. */
export type Completion = {
  /** The lines to append; empty when nothing is missing. */
  addition: string;
  /** Names in the addition. */
  added: string[];
  /** Names to which the file gives another value, which stays. */
  different: string[];
};

/**
 * Returns what to append to a `.env` file; its existing lines stay. An empty variable counts as missing, since the last line of a
 * name applies.
 * @param text of the file; empty when there is none
 * @param variables with their values, or a function that generates the value when it is missing
 */
export function complete(text: string, variables: readonly { name: string; value: string | (() => string) }[]): Completion {
  const existing = parseEnv(text.replace(/^\uFEFF/, '')) as Record<string, string | undefined>;
  const missing = variables.filter(({ name }) => !existing[name]);
  const lines = missing.map(({ name, value }) => `${name}=${typeof value === 'function' ? value() : value}`);
  return {
    addition: additionTo(text, lines),
    added: missing.map(({ name }) => name),
    different: variables
      .filter(({ name, value }) => existing[name] && typeof value === 'string' && existing[name] !== value)
      .map(({ name }) => name),
  };
}

/** Returns what to append to a text so that it ends with these lines, with the text's kind of line ends. */
export function additionTo(text: string, lines: readonly string[]): string {
  if (lines.length === 0) return '';
  const end = /\r\n/.test(text) ? '\r\n' : '\n';
  const start = text === '' || text.endsWith('\n') ? '' : end;
  return start + lines.map((line) => line + end).join('');
}

/** Returns the value of a variable in a `.env` file; empty when there is none. */
export const valueIn = (text: string, name: string): string => parseEnv(text.replace(/^\uFEFF/, ''))[name] ?? '';

/**
 * Returns how git treats a file of a directory: it is tracked, ignored, or untracked and would be part of the next commit; `outside`
 * when there is no work tree.
 */
export function gitStatusOf(directory: string, file: string): 'outside' | 'tracked' | 'ignored' | 'untracked' {
  if (!isInWorkTree(directory)) return 'outside';
  const tracked = runGit(directory, 'ls-files', '--error-unmatch', '--', file);
  if (tracked === 'not installed') return isListedIn(join(directory, '.gitignore'), file) ? 'ignored' : 'untracked';
  if (tracked === 0) return 'tracked';
  return runGit(directory, 'check-ignore', '-q', '--', file) === 0 ? 'ignored' : 'untracked';
}

function isInWorkTree(directory: string): boolean {
  // In a linked work tree and in a submodule `.git` is a file.
  if (existsSync(join(directory, '.git'))) return true;
  const parent = dirname(directory);
  return parent !== directory && isInWorkTree(parent);
}

function runGit(directory: string, ...args: string[]): number | 'not installed' {
  try {
    // Without the fsmonitor program that the work tree's own configuration may name.
    execFileSync('git', ['-C', directory, '-c', 'core.fsmonitor=false', ...args], { stdio: 'ignore', timeout: 10_000 });
    return 0;
  } catch (error) {
    const { code, status } = error as { code?: string; status?: number | null };
    return code === 'ENOENT' ? 'not installed' : (status ?? 1);
  }
}

function isListedIn(path: string, file: string): boolean {
  if (!existsSync(path)) return false;
  const lines = readFileSync(path, 'utf8').split(/\r?\n/);
  return [file, `/${file}`, `${file}*`].some((line) => lines.includes(line));
}
