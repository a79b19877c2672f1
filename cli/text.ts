import stringWidth from 'fast-string-width';
import { wrapAnsi } from 'fast-wrap-ansi';
import type { Terminal } from './terminal.ts';

/** Width of output for people, in columns, where the text is not a table. */
export const TEXT_WIDTH = 80;

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

/** Returns sentences in lines of at most 80 columns. Code, in backticks, is never broken. */
export function paragraph(sentences: string, { style }: Pick<Terminal, 'style'>, firstIndent = '', indent = firstIndent): string {
  const joined = sentences.replace(/`[^`]*`/g, (code) => code.replaceAll(' ', '\u00a0'));
  return wrap(joined, TEXT_WIDTH - indent.length)
    .map((line, i) => (i === 0 ? firstIndent : indent) + styleCode(line.replaceAll('\u00a0', ' '), style))
    .join('\n');
}

/** Shows code in a color instead of backticks. Without colors the backticks stay, since they show where code ends. */
function styleCode(line: string, style: Terminal['style']): string {
  const hasColors = style('cyan', 'x') !== 'x';
  return hasColors ? line.replace(/`([^`]*)`/g, (_, code: string) => style('cyan', code)) : line;
}
