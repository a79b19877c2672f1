import { cancelled, usageError } from './exit.ts';
import { printable } from './printable.ts';
import type { Terminal } from './terminal.ts';

/** Returns what is wrong with an answer, or undefined. */
type Validate = (text: string) => string | undefined;

/**
 * Asks for what the command line did not give.
 * @param question.flag names it in the error where nobody can be asked, such as `--email <address>`
 * @throws CommandError usage where nobody can be asked; cancelled by Ctrl-C and Esc
 */
export async function askText(terminal: Terminal, question: { message: string; flag: string; placeholder?: string; validate?: Validate }) {
  mustBeInteractive(terminal, question.flag);
  const { text } = await import('@clack/prompts');
  const { placeholder, validate } = question;
  const message = printable(question.message);
  return taken(await text({ message, placeholder, validate: (value) => validate?.(value ?? ''), output: process.stderr })).trim();
}

/** Asks for a secret without showing it. @param question.variable the environment variable that gives it instead */
export async function askHidden(terminal: Terminal, question: { message: string; variable: string }): Promise<string> {
  mustBeInteractive(terminal, question.variable);
  const { password } = await import('@clack/prompts');
  return taken(await password({ message: question.message, output: process.stderr }));
}

/** Asks to choose one of several. */
export async function askChoice<Value extends string>(
  terminal: Terminal,
  question: { message: string; flag: string; choices: { value: Value; label: string; hint?: string }[] },
): Promise<Value> {
  mustBeInteractive(terminal, question.flag);
  const { select } = await import('@clack/prompts');
  const options = question.choices as Parameters<typeof select<Value>>[0]['options'];
  return taken(await select<Value>({ message: printable(question.message), options, output: process.stderr }));
}

/**
 * Asks yes or no; `--yes` answers it.
 * @throws CommandError usage where nobody can be asked; cancelled by no, Ctrl-C and Esc
 */
export async function mustConfirm(terminal: Terminal, message: string): Promise<void> {
  if (terminal.yes) return;
  mustBeInteractive(terminal, '--yes');
  const { confirm } = await import('@clack/prompts');
  if (!taken(await confirm({ message: printable(message), initialValue: false, output: process.stderr }))) throw cancelled();
}

function mustBeInteractive({ interactive }: Terminal, missing: string): void {
  if (!interactive) throw usageError(`${missing} is missing, and nobody can be asked here.`, `Give ${missing}.`);
}

/** Clack answers a symbol when the person cancels. */
function taken<Value>(answer: Value | symbol): Exclude<Value, symbol> {
  if (typeof answer === 'symbol') throw cancelled();
  return answer as Exclude<Value, symbol>;
}
