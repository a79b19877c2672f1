import { styleText } from 'node:util';
import { fitColumns, type Style } from './text.ts';

/** The streams of a command: results go to stdout, everything else to stderr. */
export type Terminal = {
  /** Whether a person can be prompted: stdin and stderr are a terminal, and neither CI nor `--no-input` is set. */
  readonly interactive: boolean;
  /** Whether a full screen can be drawn: a person can be prompted and stdout is a terminal. */
  readonly fullScreen: boolean;
  /** Whether text that was printed can be replaced: not with TERM=dumb, where prompts are plain lines. */
  readonly movesCursor: boolean;
  /** The width of the terminal that shows results; Infinity without one. */
  readonly columns: number;
  readonly json: boolean;
  readonly verbose: boolean;
  /** `--yes`: confirmations are given without a prompt. */
  readonly yes: boolean;
  /** Prints the command's result: `value` as JSON with `--json`, else the text, if any, wrapped between words. */
  result(value: unknown, text: string): void;
  /** Prints one of several results as soon as it is known: `value` as one line of JSON with `--json`, else the text. */
  item(value: unknown, text: string): void;
  /** Prints a message for the person on stderr, wrapped between words; not with `--quiet`. */
  note(text: string): void;
  /** Prints details for debugging on stderr, with `--verbose`. */
  detail(text: string): void;
  /** Prints a line on stderr that the next call replaces and '' removes; not with `--quiet` or without a terminal. */
  progress(line: string): void;
  /** Reads stdin, up to `maxBytes`. */
  readInput(maxBytes: number): Promise<string>;
  /** Reads stdin line by line until `signal` aborts. */
  readLines(signal: AbortSignal): AsyncIterable<string>;
  /** Returns a text in a color or weight, where colors are wanted. */
  style(format: Style, text: string): string;
};

export type TerminalFlags = { json?: boolean; input?: boolean; quiet?: boolean; verbose?: boolean; yes?: boolean; color?: boolean };

/** Opens the terminal of this process. @param flags the global ones of the command line */
export function openTerminal(flags: TerminalFlags, env: Record<string, string | undefined>): Terminal {
  const { stdin, stdout, stderr } = process;
  const interactive = flags.input !== false && !env.CI && Boolean(stdin.isTTY && stderr.isTTY);
  const movesCursor = env.TERM !== 'dumb';
  const hasColors = flags.color !== false && !env.NO_COLOR && movesCursor && Boolean(stdout.isTTY && stderr.isTTY);
  return {
    interactive,
    movesCursor,
    columns: columnsOf(stdout),
    fullScreen: interactive && Boolean(stdout.isTTY) && !flags.json,
    json: Boolean(flags.json),
    verbose: Boolean(flags.verbose),
    yes: Boolean(flags.yes),
    result(value, text) {
      if (flags.json) stdout.write(`${printableJson(value)}\n`);
      else if (text) stdout.write(`${fitColumns(printable(text), columnsOf(stdout))}\n`);
    },
    item(value, text) {
      stdout.write(`${flags.json ? printableJson(value, 0) : fitColumns(printable(text), columnsOf(stdout))}\n`);
    },
    note(text) {
      if (!flags.quiet) stderr.write(`${fitColumns(printable(text), columnsOf(stderr))}\n`);
    },
    detail(text) {
      if (flags.verbose) stderr.write(`${printable(text)}\n`);
    },
    style: (format, text) => (hasColors ? styleText(format, text) : text),
    progress(line) {
      if (!flags.quiet && stderr.isTTY && movesCursor) stderr.write(`\r\x1b[K${printable(line)}`);
    },
    async *readLines(signal) {
      const { createInterface } = await import('node:readline');
      yield* createInterface({ input: stdin, signal });
    },
    async readInput(maxBytes) {
      const chunks: Buffer[] = [];
      let left = maxBytes;
      for await (const chunk of stdin as AsyncIterable<Buffer>) {
        chunks.push(chunk.subarray(0, left));
        left -= chunk.length;
        if (left <= 0) break;
      }
      return Buffer.concat(chunks).toString();
    },
  };
}

/** Returns the width of a terminal, or Infinity when the stream is not one. */
export const columnsOf = (stream: { columns?: number }): number => stream.columns || Number.POSITIVE_INFINITY;

// The styles that Terminal.style sets, and their ends.
const OWN_STYLE = '\\x1b\\[(?:1|2|4|22|24|3[1-36]|39)m';
// Control characters that terminals interpret (C0, DEL, C1), and characters that change the direction of writing.
const CONTROL = '[\\p{Cc}\\p{Bidi_Control}\\u2028\\u2029\\ufeff]';
const styledOrControl = new RegExp(`(${OWN_STYLE})|(?![\\n\\t])${CONTROL}`, 'gu');
const control = new RegExp(CONTROL, 'gu');

/** Returns a text without what a terminal would interpret; line ends, tabs and the styles of Terminal.style stay. */
export function printable(text: string): string {
  return text.replace(styledOrControl, (_, style?: string) => style ?? '');
}

/** Returns JSON in which such characters are escaped; it parses to the same value. */
export function printableJson(value: unknown, indent = 2): string {
  const escaped = (character: string) => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`;
  return JSON.stringify(value, null, indent).replace(control, (character) => (character === '\n' ? character : escaped(character)));
}
