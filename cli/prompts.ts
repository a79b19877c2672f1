import { cancelled, usageError } from './exit.ts';
import { columnsOf, fitColumns, printable, type Terminal } from './terminal.ts';

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
  if (!terminal.movesCursor) return askText(message, validate);
  const { text } = await import('@clack/prompts');
  return orCancelled(await text({ message, placeholder, validate: (value) => validate?.(value ?? ''), output: process.stderr })).trim();
}

/** Prompts for a secret without showing it. @param question.variable the environment variable that gives it instead */
export async function promptHidden(terminal: Terminal, question: { message: string; variable: string }): Promise<string> {
  requireInteractive(terminal, question.variable);
  if (!terminal.movesCursor) return askHidden(question.message);
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
  if (!terminal.movesCursor) return askChoice(message, question.choices);
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
  if (!movesCursor) return askYes(message);
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

// Prompts for a terminal that cannot move its cursor (TERM=dumb), such as the shell of Emacs: one line each, without control codes.

/** Prompts until the text is valid. @throws CommandError cancelled at Ctrl-C and at the end of the input */
async function askText(message: string, validate: Validate = () => undefined): Promise<string> {
  for (;;) {
    const text = await readLine(`${message}:`);
    const fault = validate(text);
    if (!fault) return text;
    show(`${fault}\n`);
  }
}

/** Prompts for a text that is not shown. @throws CommandError cancelled */
async function askHidden(message: string): Promise<string> {
  const { stdin } = process;
  show(`${message}: `);
  stdin.setRawMode(true);
  stdin.resume();
  let text = '';
  try {
    for await (const chunk of stdin.iterator({ destroyOnReturn: false })) {
      for (const character of String(chunk)) {
        if (character === '\r' || character === '\n') return text;
        // Ctrl-C, and Ctrl-D at the start.
        if (character === '\x03' || (character === '\x04' && text === '')) throw cancelled();
        text = character === '\x7f' || character === '\b' ? text.slice(0, -1) : text + character;
      }
    }
    throw cancelled();
  } finally {
    stdin.setRawMode(false);
    stdin.pause();
    process.stderr.write('\n');
  }
}

/** Prompts for one of several values by its number. @throws CommandError cancelled */
async function askChoice<Value extends string>(
  message: string,
  choices: readonly { value: Value; label: string; hint?: string }[],
): Promise<Value> {
  const lines = choices.map(({ label, hint }, i) => `  ${i + 1}. ${label}${hint ? ` (${hint})` : ''}\n`);
  show(`${message}\n${lines.join('')}`);
  const isNumber = (text: string) => (choices[Number(text) - 1] ? undefined : `Enter a number from 1 to ${choices.length}.`);
  return choices[Number(await askText('Number', isNumber)) - 1].value;
}

/** Prompts for yes or no. @throws CommandError cancelled */
async function askYes(message: string): Promise<boolean> {
  return /^y(?:es)?$/i.test(await readLine(`${message} [y/N]`));
}

const show = (text: string) => process.stderr.write(fitColumns(text, columnsOf(process.stderr)));

/** Reads one line. @throws CommandError cancelled */
async function readLine(prompt: string): Promise<string> {
  const { createInterface } = await import('node:readline');
  show(`${prompt} `);
  const lines = createInterface({ input: process.stdin, terminal: false });
  return new Promise<string>((resolve, reject) => {
    const interrupt = () => lines.close();
    process.once('SIGINT', interrupt);
    lines.once('line', (line) => {
      resolve(line.trim());
      lines.close();
    });
    lines.once('close', () => {
      process.off('SIGINT', interrupt);
      reject(cancelled());
    });
  });
}
