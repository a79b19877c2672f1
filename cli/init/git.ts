import { execFileSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';

/**
 * What git makes of a file of a directory: it keeps its history, ignores it, or would take it into the next commit; `outside`
 * when no work tree is there.
 */
export function stateInGit(directory: string, file: string): 'outside' | 'tracked' | 'ignored' | 'open' {
  if (!isInWorkTree(directory)) return 'outside';
  const tracked = ask(directory, 'ls-files', '--error-unmatch', '--', file);
  if (tracked === 'no program') return hasLine(join(directory, '.gitignore'), file) ? 'ignored' : 'open';
  if (tracked === 0) return 'tracked';
  return ask(directory, 'check-ignore', '-q', '--', file) === 0 ? 'ignored' : 'open';
}

function isInWorkTree(directory: string): boolean {
  // In a linked work tree and in a submodule `.git` is a file.
  if (existsSync(join(directory, '.git'))) return true;
  const parent = dirname(directory);
  return parent !== directory && isInWorkTree(parent);
}

function ask(directory: string, ...args: string[]): number | 'no program' {
  try {
    // Without the program that the work tree's own settings may name for watching files.
    execFileSync('git', ['-C', directory, '-c', 'core.fsmonitor=false', ...args], { stdio: 'ignore', timeout: 10_000 });
    return 0;
  } catch (error) {
    const { code, status } = error as { code?: string; status?: number | null };
    return code === 'ENOENT' ? 'no program' : (status ?? 1);
  }
}

function hasLine(path: string, file: string): boolean {
  if (!existsSync(path)) return false;
  const lines = readFileSync(path, 'utf8').split(/\r?\n/);
  return [file, `/${file}`, `${file}*`].some((line) => lines.includes(line));
}
