import { existsSync, readFileSync, realpathSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { frameworkOf, frameworks } from '../../templates/catalog.ts';
import { detectFrameworks, detectionFiles } from '../../templates/detect.ts';
import type { Framework } from '../../templates/framework.ts';
import { usageError } from '../exit.ts';
import { askChoice } from '../prompts.ts';
import type { Terminal } from '../terminal.ts';

/** Beyond this size a file is no list of dependencies. */
const MAX_BYTES = 1024 * 1024;

/** The directory of a project, without symbolic links. @throws CommandError usage when there is none */
export function directoryOf(path: string): string {
  const state = statSync(path, { throwIfNoEntry: false });
  const hint = 'Give the directory of a project: `emailauth init <dir>`.';
  if (!state) throw usageError(`There is no directory ${path}.`, hint);
  if (!state.isDirectory()) throw usageError(`${path} is a file.`, hint);
  return realpathSync(path);
}

/**
 * The framework that is named, else the one that is recognised, else the one that is chosen.
 * @throws CommandError usage for an unknown id, and where nobody can be asked
 */
export async function frameworkFor(terminal: Terminal, root: string, id: string | undefined): Promise<Framework> {
  const hint = `Give --framework <id>; \`emailauth init --list\` shows them all.`;
  if (id !== undefined) {
    const named = frameworkOf(id);
    if (!named) throw usageError(`There is no framework "${id}".`, hint);
    return named;
  }
  const found = detectFrameworks(textsIn(root));
  if (found.length === 1) return found[0];
  const names = found.map(({ name }) => name).join(', ');
  const what = found.length > 1 ? `Several frameworks are recognised: ${names}.` : 'No framework is recognised here.';
  if (!terminal.interactive) throw usageError(what, hint);
  const among = found.length > 1 ? found : frameworks;
  const choices = among.map(({ id, name, language }) => ({ value: id, label: name, hint: language }));
  const chosen = await askChoice(terminal, { message: `${what} Which is it?`, flag: '--framework <id>', choices });
  return among.find((each) => each.id === chosen) as Framework;
}

function textsIn(root: string): Record<string, string> {
  const texts: Record<string, string> = {};
  for (const file of detectionFiles) {
    const path = join(root, file);
    try {
      const state = statSync(path);
      if (state.isFile() && state.size <= MAX_BYTES) texts[file] = readFileSync(path, 'utf8');
    } catch {
      // It is not there, or not for us to read.
    }
  }
  return texts;
}

/** @returns whether a project has a file or directory */
export const holds = (root: string) => (path: string) => existsSync(join(root, path));
