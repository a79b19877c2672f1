import type { Context } from '../context.ts';
import { EXIT, type ExitCode, usageError } from '../exit.ts';
import { scripts } from '../shells.ts';

/** Prints the completion script of a shell. */
export async function completion({ terminal }: Context, shell: string): Promise<ExitCode> {
  const script = scripts[shell];
  if (!script) throw usageError(`There is no completion for ${shell}.`, `It is one of ${Object.keys(scripts).join(', ')}.`);
  terminal.answer({ shell, script }, script.trimEnd());
  return EXIT.ok;
}
