import { on } from 'node:events';
import { cancelled, usageError } from './exit.ts';
import { columnsOf, fitColumns, foreign, printable, type Terminal } from './terminal.ts';

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
  if (!terminal.movesCursor) return askText(terminal, message, validate);
  const { text } = await import('@clack/prompts');
  const options = { message, placeholder, validate: (value: string | undefined) => validate?.(value ?? '') };
  return (await prompt(terminal, (common) => text({ ...options, ...common }))).trim();
}

/** Prompts for a secret without showing it. @param question.variable the environment variable that gives it instead */
export async function promptHidden(terminal: Terminal, question: { message: string; variable: string }): Promise<string> {
  requireInteractive(terminal, question.variable);
  if (!terminal.movesCursor) return askHidden(terminal, question.message);
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
  if (!terminal.movesCursor) return askChoice(terminal, message, choices);
  const { select } = await import('@clack/prompts');
  const options = choices as Parameters<typeof select<Value>>[0]['options'];
  return prompt(terminal, (common) => select<Value>({ message, options, ...common }));
}

/**
 * Prompts for yes or no; `--yes` answers it.
 * @throws CommandError usage where no prompt is possible; cancelled by no, Ctrl-C, Esc and the terminal's signal
 */
export async function requireConfirmation(terminal: Terminal, message: string): Promise<void> {
  if (terminal.yes) return;
  if (!terminal.interactive) throw usageError('Cannot prompt here.', 'Pass --yes to confirm.');
  if (!(await isConfirmed(terminal, printable(message)))) throw cancelled();
}

async function isConfirmed(terminal: Terminal, message: string): Promise<boolean> {
  if (!terminal.movesCursor) return askYes(terminal, message);
  const { confirm } = await import('@clack/prompts');
  return prompt(terminal, (common) => confirm({ message, initialValue: false, ...common }));
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
  { signal }: Terminal,
  ask: (common: { output: typeof process.stderr; signal: AbortSignal }) => Promise<Value | symbol>,
): Promise<Exclude<Value, symbol>> {
  // clack keeps its listener and would end a prompt a second time that was answered before.
  const open = new AbortController();
  const abort = () => open.abort();
  signal.addEventListener('abort', abort);
  if (signal.aborted) abort();
  try {
    const entered = await ask({ output: process.stderr, signal: open.signal });
    if (typeof entered === 'symbol') throw cancelled();
    return entered as Exclude<Value, symbol>;
  } finally {
    signal.removeEventListener('abort', abort);
  }
}

// Prompts for a terminal that cannot move its cursor (TERM=dumb), such as the shell of Emacs: one line each, without control codes.

/** Prompts until the text is valid. @throws CommandError cancelled by the signal and at the end of the input */
async function askText(terminal: Terminal, message: string, validate: Validate = () => undefined): Promise<string> {
  for (;;) {
    const text = await readLine(terminal, `${message}:`);
    const fault = validate(text);
    if (!fault) return text;
    show(`${fault}\n`);
  }
}

/** Prompts for a text that is not shown. @throws CommandError cancelled */
async function askHidden({ signal }: Terminal, message: string): Promise<string> {
  const { stdin } = process;
  show(`${message}: `);
  stdin.setRawMode(true);
  stdin.resume();
  let text = '';
  try {
    for await (const [chunk] of on(stdin, 'data', { signal, close: ['end'] })) {
      for (const character of String(chunk)) {
        if (character === '\r' || character === '\n') return text;
        // Ctrl-C, and Ctrl-D at the start.
        if (character === '\x03' || (character === '\x04' && text === '')) throw cancelled();
        text = character === '\x7f' || character === '\b' ? text.slice(0, -1) : text + character;
      }
    }
    throw cancelled();
  } catch (error) {
    throw signal.aborted ? cancelled() : error;
  } finally {
    stdin.setRawMode(false);
    stdin.pause();
    process.stderr.write('\n');
  }
}

/** Prompts for one of several values by its number. @throws CommandError cancelled */
async function askChoice<Value extends string>(
  terminal: Terminal,
  message: string,
  choices: readonly { value: Value; label: string; hint?: string }[],
): Promise<Value> {
  const lines = choices.map(({ label, hint }, i) => `  ${i + 1}. ${label}${hint ? ` (${hint})` : ''}\n`);
  show(`${message}\n${lines.join('')}`);
  const isNumber = (text: string) => (choices[Number(text) - 1] ? undefined : `Enter a number from 1 to ${choices.length}.`);
  return choices[Number(await askText(terminal, 'Number', isNumber)) - 1].value;
}

/** Prompts for yes or no. @throws CommandError cancelled */
async function askYes(terminal: Terminal, message: string): Promise<boolean> {
  return /^y(?:es)?$/i.test(await readLine(terminal, `${message} [y/N]`));
}

const show = (text: string) => process.stderr.write(fitColumns(text, columnsOf(process.stderr)));

/** Reads one line. @throws CommandError cancelled */
async function readLine({ signal }: Terminal, question: string): Promise<string> {
  const { createInterface } = await import('node:readline');
  show(`${question} `);
  const lines = createInterface({ input: process.stdin, terminal: false });
  return new Promise<string>((resolve, reject) => {
    const interrupt = () => lines.close();
    signal.addEventListener('abort', interrupt);
    lines.once('line', (line) => {
      resolve(line.trim());
      lines.close();
    });
    lines.once('close', () => {
      signal.removeEventListener('abort', interrupt);
      reject(cancelled());
    });
    if (signal.aborted) interrupt();
  });
}
