import { styleText } from 'node:util';
import { printable, printableJson } from './printable.ts';

/** The streams of a command, by its purpose for them: data on stdout, everything else on stderr. */
export type Terminal = {
  /** Whether somebody sits there who can be asked: stdin and stderr are a terminal, and neither CI nor `--no-input` says otherwise. */
  readonly interactive: boolean;
  /** Whether a whole screen can be drawn: a person sits there and stdout is a terminal. */
  readonly fullScreen: boolean;
  readonly json: boolean;
  readonly quiet: boolean;
  readonly verbose: boolean;
  /** `--yes`: what would be asked for confirmation is confirmed. */
  readonly yes: boolean;
  readonly colour: boolean;
  /** The command's result: `value` as JSON with `--json`, else the text, if any. */
  answer(value: unknown, text: string): void;
  /** News for the person on stderr; not with `--quiet`. */
  note(text: string): void;
  /** What only somebody who looks for a fault wants to read, on stderr with `--verbose`. */
  detail(text: string): void;
  /** A line on stderr that the next call writes anew, and '' takes away; not with `--quiet` or without a terminal. */
  progress(line: string): void;
  /** All of stdin. @param most bytes; what comes after them is left unread */
  readInput(most: number): Promise<string>;
  /** A text in a colour or weight, where colours are wanted. */
  style(format: Style, text: string): string;
};

export type Style = 'bold' | 'dim' | 'red' | 'green' | 'yellow' | 'cyan' | 'underline';

export type TerminalFlags = { json?: boolean; input?: boolean; quiet?: boolean; verbose?: boolean; yes?: boolean; color?: boolean };

/** @param flags the global ones of the command line */
export function openTerminal(flags: TerminalFlags, env: Record<string, string | undefined>): Terminal {
  const { stdin, stdout, stderr } = process;
  const interactive = flags.input !== false && !env.CI && Boolean(stdin.isTTY && stderr.isTTY);
  const colour = flags.color !== false && !env.NO_COLOR && env.TERM !== 'dumb' && Boolean(stdout.isTTY && stderr.isTTY);
  return {
    interactive,
    fullScreen: interactive && Boolean(stdout.isTTY) && !flags.json,
    json: Boolean(flags.json),
    quiet: Boolean(flags.quiet),
    verbose: Boolean(flags.verbose),
    yes: Boolean(flags.yes),
    colour,
    answer(value, text) {
      if (flags.json) stdout.write(`${printableJson(value)}\n`);
      else if (text) stdout.write(`${printable(text)}\n`);
    },
    note(text) {
      if (!flags.quiet) stderr.write(`${printable(text)}\n`);
    },
    detail(text) {
      if (flags.verbose) stderr.write(`${printable(text)}\n`);
    },
    style: (format, text) => (colour ? styleText(format, text) : text),
    progress(line) {
      if (!flags.quiet && stderr.isTTY && env.TERM !== 'dumb') stderr.write(`\r\x1b[K${printable(line)}`);
    },
    async readInput(most) {
      const chunks: Buffer[] = [];
      let left = most;
      for await (const chunk of stdin as AsyncIterable<Buffer>) {
        chunks.push(chunk.subarray(0, left));
        left -= chunk.length;
        if (left <= 0) break;
      }
      return Buffer.concat(chunks).toString();
    },
  };
}

/** Columns of text, as wide as their widest cell and two spaces apart. */
export function table(rows: readonly (readonly string[])[]): string {
  const widths: number[] = [];
  for (const row of rows) {
    for (const [i, cell] of row.entries()) widths[i] = Math.max(widths[i] ?? 0, widthOf(cell));
  }
  const fill = (cell: string, i: number, { length }: readonly string[]) =>
    i === length - 1 ? cell : cell + ' '.repeat(widths[i] - widthOf(cell));
  return rows.map((row) => row.map(fill).join('  ')).join('\n');
}

// East Asian wide characters (UAX #11) take two cells, combining marks none.
const WIDE =
  /[\u1100-\u115f\u2e80-\u303e\u3041-\ua4cf\uac00-\ud7a3\uf900-\ufaff\ufe30-\ufe6f\uff00-\uff60\uffe0-\uffe6]|\p{Extended_Pictographic}/u;

/** Cells that a text takes in a terminal. */
function widthOf(text: string): number {
  return [...text].reduce((width, character) => width + (/\p{M}/u.test(character) ? 0 : WIDE.test(character) ? 2 : 1), 0);
}
