import type { Readable, Writable } from 'node:stream';
import { NAME_REQUIRED } from '../contract/rules.ts';
import { cancelled, usageError } from './exit.ts';
import { foreign, printable, type Terminal } from './terminal.ts';

/** Returns what is wrong with the input, or undefined. */
type Validate = (text: string) => string | undefined;

/**
 * Prompts for what the command line did not give.
 * @param question.flag the flag that gives it instead, such as `--email <address>`
 * @throws CommandError usage where no prompt is possible; cancelled by Ctrl-C, Esc and the terminal's signal
 */
export async function promptText(
  terminal: Terminal,
  question: { message: string; flag: string; placeholder?: string; validate?: Validate },
) {
  requireInteractive(terminal, question.flag);
  const { placeholder, validate } = question;
  const message = printable(question.message);
  const { text } = await import('@clack/prompts');
  const options = { message, placeholder, validate: (value: string | undefined) => validate?.(value ?? '') };
  return (await prompt(terminal, (common) => text({ ...options, ...common }))).trim();
}

/** Validates a name, which must not be empty. */
export const requiredName: Validate = (text) => (text.trim() === '' ? NAME_REQUIRED : undefined);

/** Prompts for a secret without showing it. @param question.variable the environment variable that gives it instead */
export async function promptHidden(terminal: Terminal, question: { message: string; variable: string }): Promise<string> {
  requireInteractive(terminal, question.variable);
  const { password } = await import('@clack/prompts');
  return prompt(terminal, (common) => password({ message: question.message, ...common }));
}

/** Prompts for one of several values. */
export async function promptChoice<Value extends string>(
  terminal: Terminal,
  question: { message: string; flag: string; choices: { value: Value; label: string; hint?: string }[] },
): Promise<Value> {
  requireInteractive(terminal, question.flag);
  const message = printable(question.message);
  const choices = question.choices.map(({ value, label, hint }) => ({
    value,
    label: foreign(label),
    ...(hint && { hint: foreign(hint) }),
  }));
  const { select } = await import('@clack/prompts');
  const options = choices as Parameters<typeof select<Value>>[0]['options'];
  return prompt(terminal, (common) => select<Value>({ message, options, ...common }));
}

/**
 * Prompts for yes or no; `--yes` answers it.
 * @throws CommandError usage where no prompt is possible; cancelled by no, Ctrl-C, Esc and the terminal's signal
 */
export async function requireConfirmation(terminal: Terminal, message: string): Promise<void> {
  requireConfirmable(terminal);
  if (terminal.yes) return;
  const { confirm } = await import('@clack/prompts');
  const options = { message: printable(message), initialValue: false };
  if (!(await prompt(terminal, (common) => confirm({ ...options, ...common })))) throw cancelled();
}

/** Fails where `requireConfirmation` would, before the work that comes before the question. @throws CommandError usage */
export function requireConfirmable({ yes, interactive }: Terminal): void {
  if (!yes && !interactive) throw usageError('Cannot prompt here.', 'Pass --yes to confirm.');
}

function requireInteractive({ interactive }: Terminal, missing: string): void {
  if (interactive) return;
  const verb = /^[-<]/.test(missing) ? 'Pass' : 'Set';
  throw usageError(`${missing} is missing. Cannot prompt here.`, `${verb} ${missing}.`);
}

/**
 * Returns what was entered in a prompt of clack, which returns a symbol when the person or the signal cancels it.
 * @param ask starts it with the options that all prompts have
 */
async function prompt<Value>(
  { signal, streams: { stdin, stderr } }: Terminal,
  ask: (common: { input: Readable; output: Writable; signal: AbortSignal }) => Promise<Value | symbol>,
): Promise<Exclude<Value, symbol>> {
  // clack keeps its listener and would end a prompt a second time that was answered before.
  const open = new AbortController();
  const abort = () => open.abort();
  signal.addEventListener('abort', abort);
  if (signal.aborted) abort();
  try {
    const entered = await ask({ input: stdin, output: stderr, signal: open.signal });
    if (typeof entered === 'symbol') throw cancelled();
    return entered as Exclude<Value, symbol>;
  } finally {
    signal.removeEventListener('abort', abort);
  }
}
