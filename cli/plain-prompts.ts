import { createInterface } from 'node:readline';
import { cancelled } from './exit.ts';
import { columnsOf, fitColumns } from './terminal.ts';

// Prompts for a terminal that cannot move its cursor (TERM=dumb), such as the shell of Emacs: one line each, without control codes.

/** Prompts until the text is valid. @throws CommandError cancelled at Ctrl-C and at the end of the input */
export async function askText(message: string, validate: (text: string) => string | undefined = () => undefined): Promise<string> {
  for (;;) {
    const text = await readLine(`${message}:`);
    const fault = validate(text);
    if (!fault) return text;
    show(`${fault}\n`);
  }
}

/** Prompts for a text that is not shown. @throws CommandError cancelled */
export async function askHidden(message: string): Promise<string> {
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
export async function askChoice<Value extends string>(
  message: string,
  choices: readonly { value: Value; label: string; hint?: string }[],
): Promise<Value> {
  const lines = choices.map(({ label, hint }, i) => `  ${i + 1}. ${label}${hint ? ` (${hint})` : ''}\n`);
  show(`${message}\n${lines.join('')}`);
  const isNumber = (text: string) => (choices[Number(text) - 1] ? undefined : `Enter a number from 1 to ${choices.length}.`);
  return choices[Number(await askText('Number', isNumber)) - 1].value;
}

/** Prompts for yes or no. @throws CommandError cancelled */
export async function askYes(message: string): Promise<boolean> {
  return /^y(?:es)?$/i.test(await readLine(`${message} [y/N]`));
}

const show = (text: string) => process.stderr.write(fitColumns(text, columnsOf(process.stderr)));

/** Reads one line. @throws CommandError cancelled */
function readLine(prompt: string): Promise<string> {
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
