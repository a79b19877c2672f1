import { cancelled, usageError } from './exit.ts';
import { printable, type Terminal } from './terminal.ts';

/** Returns what is wrong with the input, or undefined. */
type Validate = (text: string) => string | undefined;

/**
 * Prompts for what the command line did not give.
 * @param question.flag the flag that gives it instead, such as `--email <address>`
 * @throws CommandError usage where no prompt is possible; cancelled by Ctrl-C and Esc
 */
export async function promptText(
  terminal: Terminal,
  question: { message: string; flag: string; placeholder?: string; validate?: Validate },
) {
  requireInteractive(terminal, question.flag);
  const { placeholder, validate } = question;
  const message = printable(question.message);
  if (!terminal.movesCursor) return (await import('./plain-prompts.ts')).askText(message, validate);
  const { text } = await import('@clack/prompts');
  return orCancelled(await text({ message, placeholder, validate: (value) => validate?.(value ?? ''), output: process.stderr })).trim();
}

/** Prompts for a secret without showing it. @param question.variable the environment variable that gives it instead */
export async function promptHidden(terminal: Terminal, question: { message: string; variable: string }): Promise<string> {
  requireInteractive(terminal, question.variable);
  if (!terminal.movesCursor) return (await import('./plain-prompts.ts')).askHidden(question.message);
  const { password } = await import('@clack/prompts');
  return orCancelled(await password({ message: question.message, output: process.stderr }));
}

/** Prompts for one of several values. */
export async function promptChoice<Value extends string>(
  terminal: Terminal,
  question: { message: string; flag: string; choices: { value: Value; label: string; hint?: string }[] },
): Promise<Value> {
  requireInteractive(terminal, question.flag);
  const message = printable(question.message);
  if (!terminal.movesCursor) return (await import('./plain-prompts.ts')).askChoice(message, question.choices);
  const { select } = await import('@clack/prompts');
  const options = question.choices as Parameters<typeof select<Value>>[0]['options'];
  return orCancelled(await select<Value>({ message, options, output: process.stderr }));
}

/**
 * Prompts for yes or no; `--yes` answers it.
 * @throws CommandError usage where no prompt is possible; cancelled by no, Ctrl-C and Esc
 */
export async function requireConfirmation(terminal: Terminal, message: string): Promise<void> {
  if (terminal.yes) return;
  if (!terminal.interactive) throw usageError('Cannot prompt here.', 'Pass --yes to confirm.');
  if (!(await isConfirmed(terminal, printable(message)))) throw cancelled();
}

async function isConfirmed({ movesCursor }: Terminal, message: string): Promise<boolean> {
  if (!movesCursor) return (await import('./plain-prompts.ts')).askYes(message);
  const { confirm } = await import('@clack/prompts');
  return orCancelled(await confirm({ message, initialValue: false, output: process.stderr }));
}

function requireInteractive({ interactive }: Terminal, missing: string): void {
  if (interactive) return;
  const verb = /^[-<]/.test(missing) ? 'Pass' : 'Set';
  throw usageError(`${missing} is missing. Cannot prompt here.`, `${verb} ${missing}.`);
}

/** Returns what was entered; clack returns a symbol when the person cancels. */
function orCancelled<Value>(entered: Value | symbol): Exclude<Value, symbol> {
  if (typeof entered === 'symbol') throw cancelled();
  return entered as Exclude<Value, symbol>;
}
