import { structuredPatch } from 'diff';
import type { Terminal } from '../terminal.ts';
import type { Change } from './files.ts';

/** A change to show; of one that only appends, what it appends is shown and nothing of what is there. */
export type Shown = Pick<Change, 'path' | 'before' | 'after'> & { addition?: string };

/**
 * A unified diff, coloured where colours are wanted.
 * @param terminal.style as in Terminal
 */
export function patchOf({ path, before, after, addition }: Shown, { style }: Pick<Terminal, 'style'>): string {
  const lines = addition && before ? appended(before, addition) : compared(before, after);
  const head = [`--- ${before ? path : '/dev/null'}`, `+++ ${path}`].map((line) => style('bold', line));
  return [...head, ...lines.map((line) => coloured(plain(line), style))].join('\n');
}

function compared(before: Buffer | null, after: Buffer): string[] {
  const { hunks } = structuredPatch('', '', before?.toString() ?? '', after.toString(), '', '', { context: 3 });
  return hunks.flatMap(({ oldStart, oldLines, newStart, newLines, lines }) => [
    `@@ -${before ? oldStart : 0},${oldLines} +${newStart},${newLines} @@`,
    ...lines,
  ]);
}

function appended(before: Buffer, addition: string): string[] {
  const lines = addition.trim().split(/\r?\n/);
  const last = before.toString().split('\n').length - (before.length === 0 || before.at(-1) === 10 ? 1 : 0);
  return [`@@ -${last},0 +${last + 1},${lines.length} @@`, ...lines.map((line) => `+${line}`)];
}

function coloured(line: string, style: Terminal['style']): string {
  if (line.startsWith('+')) return style('green', line);
  if (line.startsWith('-')) return style('red', line);
  return line.startsWith('@') || line.startsWith('\\') ? style('dim', line) : line;
}

/** A line of somebody's file, without power over the terminal: control characters, and those that turn the direction of text, as pictures (U+2400 ff.). */
function plain(line: string): string {
  // biome-ignore lint/suspicious/noControlCharactersInRegex: they are what this is about.
  return line.replace(/\r$/, '').replace(/[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]/g, (sign) => {
    const code = sign.charCodeAt(0);
    return code < 0x20 ? String.fromCharCode(0x2400 + code) : '\u2421';
  });
}
