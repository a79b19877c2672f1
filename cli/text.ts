import { stripVTControlCharacters } from 'node:util';
import stringWidth from 'fast-string-width';
import { wrapAnsi } from 'fast-wrap-ansi';

/** A format of `styleText` that the output uses. */
export type Style = 'bold' | 'dim' | 'red' | 'green' | 'yellow' | 'cyan' | 'underline';

/** What text for people depends on: the width of the terminal, and how it styles text. */
type Appearance = { readonly columns: number; style(format: Style, text: string): string };

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

type ParagraphStyle = Pick<Appearance, 'style'> & Partial<Appearance>;

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
