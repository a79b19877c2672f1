import type { Readable, Writable } from 'node:stream';
import { stripVTControlCharacters, styleText } from 'node:util';
import stringWidth from 'fast-string-width';
import { wrapAnsi } from 'fast-wrap-ansi';

/** Where a command reads and writes: the streams of the process, or those of a test. */
export type Streams = {
  stdin: Readable & { isTTY?: boolean };
  stdout: Writable & { isTTY?: boolean; columns?: number };
  stderr: Writable & { isTTY?: boolean; columns?: number };
};

/** The terminal of a command: results go to stdout, everything else to stderr. */
export type Terminal = {
  readonly streams: Streams;
  /** Whether a person can be prompted: stdin and stderr are a terminal that is not `dumb`, and neither CI nor `--no-input` is set. */
  readonly interactive: boolean;
  /** Whether a full screen can be drawn: a person can be prompted and stdout is a terminal. */
  readonly fullScreen: boolean;
  /** The width of the terminal that shows results; Infinity without one. */
  readonly columns: number;
  readonly json: boolean;
  readonly verbose: boolean;
  /** `--yes`: confirmations are given without a prompt. */
  readonly yes: boolean;
  /** Cancels an open prompt. */
  readonly signal: AbortSignal;
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

/** Opens a terminal. @param flags the global ones of the command line. @param signal cancels an open prompt */
export function openTerminal(
  flags: TerminalFlags,
  env: Record<string, string | undefined>,
  signal: AbortSignal,
  streams: Streams,
): Terminal {
  const { stdin, stdout, stderr } = streams;
  const movesCursor = env.TERM !== 'dumb';
  const interactive = movesCursor && flags.input !== false && !env.CI && Boolean(stdin.isTTY && stderr.isTTY);
  const hasColors = flags.color !== false && !env.NO_COLOR && movesCursor && Boolean(stdout.isTTY && stderr.isTTY);
  let hasProgress = false;
  // Other text would be printed behind the line of progress.
  const clearProgress = () => {
    if (hasProgress) stderr.write(CLEAR_LINE);
    hasProgress = false;
  };
  const clean = (text: string) => printable(text, hasColors);
  const writeOut = (text: string) => {
    if (stdout.isTTY) clearProgress();
    stdout.write(text);
  };
  const writeError = (text: string) => {
    clearProgress();
    stderr.write(text);
  };
  return {
    streams,
    interactive,
    columns: columnsOf(stdout),
    fullScreen: interactive && Boolean(stdout.isTTY) && !flags.json,
    json: Boolean(flags.json),
    verbose: Boolean(flags.verbose),
    yes: Boolean(flags.yes),
    signal,
    result(value, text) {
      if (flags.json) writeOut(`${printableJson(value)}\n`);
      else if (text) writeOut(`${fitColumns(clean(text), columnsOf(stdout))}\n`);
    },
    item(value, text) {
      writeOut(`${flags.json ? printableJson(value, 0) : fitColumns(clean(text), columnsOf(stdout))}\n`);
    },
    note(text) {
      if (!flags.quiet) writeError(`${fitColumns(clean(text), columnsOf(stderr))}\n`);
    },
    detail(text) {
      if (flags.verbose) writeError(`${clean(text)}\n`);
    },
    // The streams of the process need not be those of the command.
    style: (format, text) => (hasColors ? styleText(format, text, { validateStream: false }) : text),
    progress(line) {
      if (flags.quiet || !stderr.isTTY || !movesCursor) return;
      hasProgress = line !== '';
      stderr.write(CLEAR_LINE + truncate(clean(line), columnsOf(stderr) - 1));
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

/** Moves to the first column and clears the line (ECMA-48: EL). */
const CLEAR_LINE = '\r\x1b[K';

/** Returns a text as one line of at most `columns` columns; a longer one ends with … */
export function truncate(text: string, columns: number): string {
  const line = text.replace(/[\n\t]/g, ' ');
  if (stringWidth(line) <= columns) return line;
  let short = '';
  let width = stringWidth('…');
  for (const { segment } of new Intl.Segmenter().segment(stripVTControlCharacters(line))) {
    width += stringWidth(segment);
    if (width > columns) break;
    short += segment;
  }
  return `${short}…`;
}

/** Returns the width of a terminal, or Infinity when the stream is not one. */
export const columnsOf = (stream: { columns?: number }): number => stream.columns || Number.POSITIVE_INFINITY;

// The styles that Terminal.style sets, and their ends.
const OWN_STYLE = '\\x1b\\[(?:1|2|4|22|24|3[1-36]|39)m';
// Control characters that terminals interpret (C0, DEL, C1), and characters that change the direction of writing.
const CONTROL = '[\\p{Cc}\\p{Bidi_Control}\\u2028\\u2029\\ufeff]';
const styledOrControl = new RegExp(`(${OWN_STYLE})|(?![\\n\\t])${CONTROL}`, 'gu');
const control = new RegExp(CONTROL, 'gu');

/**
 * Returns a text without what a terminal would interpret; line ends and tabs stay.
 * @param hasStyles whether the styles of Terminal.style stay; without them, every style is one of others
 */
export function printable(text: string, hasStyles = true): string {
  return text.replace(styledOrControl, (_, style?: string) => (hasStyles ? (style ?? '') : ''));
}

/**
 * Returns what others wrote, such as the name of a directory, as one line that a terminal does not interpret: control characters, and
 * those that change the direction of text, become visible symbols (U+2400 ff.).
 */
export const foreign = (text: string): string =>
  text.replace(control, (character) => {
    const code = character.charCodeAt(0);
    return code < 0x20 ? String.fromCharCode(0x2400 + code) : '\u2421';
  });

/** Returns a command as a person can enter it in a POSIX shell, whatever the words contain. */
export const shellLine = (words: readonly string[]): string => words.map(shellWord).join(' ');

function shellWord(word: string): string {
  if (/^[\w@%+=:,./-]+$/.test(word)) return word;
  // Only the value of an assignment may be quoted.
  const [, start, text] = /^([A-Za-z_]\w*=)?(.*)$/s.exec(word) ?? [];
  const isPlain = foreign(text) === text;
  if (isPlain) return `${start ?? ''}'${text.replaceAll("'", "'\\''")}'`;
  const escaped = [...text].map((character) => {
    if (/['\\]/.test(character)) return `\\${character}`;
    return foreign(character) === character
      ? character
      : [...Buffer.from(character)].map((byte) => `\\x${byte.toString(16).padStart(2, '0')}`).join('');
  });
  return `${start ?? ''}$'${escaped.join('')}'`;
}

/** Returns JSON in which such characters are escaped; it parses to the same value. */
export function printableJson(value: unknown, indent = 2): string {
  const escaped = (character: string) => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`;
  return JSON.stringify(value, null, indent).replace(control, (character) => (character === '\n' ? character : escaped(character)));
}

/** A format of `styleText` that the output uses. */
type Style = 'bold' | 'dim' | 'red' | 'green' | 'yellow' | 'cyan' | 'underline';

/** What text for people depends on: the width of the terminal, and how it styles text. */
export type Appearance = { readonly columns: number; style(format: Style, text: string): string };

/** Width of output for people, in columns, where the text is not a table. */
export const TEXT_WIDTH = 80;

/** Returns the width of text for people in a terminal with so many columns. */
export const textWidth = (columns = TEXT_WIDTH): number => Math.min(TEXT_WIDTH, columns);

/** Returns rows as columns that are as wide as their widest cell, separated by two spaces. */
export function table(rows: readonly (readonly string[])[]): string {
  const widths: number[] = [];
  for (const row of rows) {
    for (const [i, cell] of row.entries()) widths[i] = Math.max(widths[i] ?? 0, stringWidth(cell));
  }
  const pad = (cell: string, i: number, { length }: readonly string[]) =>
    i === length - 1 ? cell : cell + ' '.repeat(widths[i] - stringWidth(cell));
  return rows.map((row) => row.map(pad).join('  ')).join('\n');
}

/** Returns a title with rows of a name and a value below it. @param width the columns of a name with the space after it */
export function details(title: string, rows: readonly (readonly string[])[], width: number, { style }: Appearance): string {
  return [style('bold', title), ...rows.map(([name, value]) => `  ${style('dim', name.padEnd(width))}${value}`)].join('\n');
}

/** Returns the day of an ISO 8601 time, in UTC. */
export const dayOf = (time: string): string => time.slice(0, 10);

/** Returns the minute of an ISO 8601 time, in UTC. */
export const minuteOf = (time: string): string => time.slice(0, 16).replace('T', ' ');

/** Returns the lines of a text that is wrapped between words; a longer word, such as a record or an address, is not broken. */
export const wrap = (text: string, width: number): string[] => wrapAnsi(text, width).split('\n');

/**
 * Returns rows below their headings as a table, or where that is too wide, one block for each row.
 * @param terminal.columns the width of the terminal
 */
export function records(headings: readonly string[], rows: readonly (readonly string[])[], terminal: Appearance): string {
  const [head, ...lines] = table([headings, ...rows]).split('\n');
  if ([head, ...lines].every((line) => stringWidth(line) <= terminal.columns)) return [terminal.style('dim', head), ...lines].join('\n');
  const names = headings.slice(1).map((name) => `  ${terminal.style('dim', name)}`);
  return rows.map(([first, ...rest]) => [first, table(rest.map((cell, i) => [names[i], cell.trim()]))].join('\n')).join('\n\n');
}

/**
 * Returns a text whose lines are wrapped between words where they are longer than the terminal is wide. A patch stays as it is,
 * since its lines are code.
 */
export function fitColumns(text: string, columns: number): string {
  if (stripVTControlCharacters(text).includes('\n+++ ')) return text;
  return text
    .split('\n')
    .flatMap((line) => (stringWidth(line) <= columns ? [line] : wrapLine(line, columns)))
    .join('\n');
}

/** Returns the lines of one that is too long, with the continuation below the text of an item or value. */
function wrapLine(line: string, columns: number): string[] {
  const [, start, rest] = /^(\s*(?:[-$] |\d+\. )?)(.*)$/s.exec(line) as RegExpExecArray;
  const indent = start.length < columns / 2 ? ' '.repeat(start.length) : '';
  return wrap(rest, columns - indent.length).map((each, i) => (i === 0 ? start : indent) + each);
}

type ParagraphStyle = { style: Appearance['style']; columns?: number };

/** Returns the lines of a text that is wrapped between words, but not within what matches `whole`. */
export function wrapAround(text: string, whole: RegExp, width: number): string[] {
  const joined = text.replace(whole, (part) => part.replaceAll(' ', '\u00a0'));
  return wrap(joined, width).map((line) => line.replaceAll('\u00a0', ' '));
}

/** Returns sentences in lines of at most 80 columns, or of the terminal's width. Code, in backticks, is never broken. */
export function paragraph(sentences: string, { style, columns }: ParagraphStyle, firstIndent = '', indent = firstIndent): string {
  return wrapAround(sentences, /`[^`]*`/g, textWidth(columns) - indent.length)
    .map((line, i) => (i === 0 ? firstIndent : indent) + styleCode(line, style))
    .join('\n');
}

/** Shows code in a color instead of backticks. Without colors the backticks stay, since they show where code ends. */
function styleCode(line: string, style: Appearance['style']): string {
  const hasColors = style('cyan', 'x') !== 'x';
  return hasColors ? line.replace(/`([^`]*)`/g, (_, code: string) => style('cyan', code)) : line;
}
