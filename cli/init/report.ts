import { structuredPatch } from 'diff';
import type { Terminal } from '../terminal.ts';
import { paragraph } from '../text.ts';
import type { ShownChange } from './files.ts';
import type { Step } from './plan.ts';

/** Returns a unified diff, in color where colors are wanted. */
export function patchOf({ path, before, after, addition, replaced = [] }: ShownChange, { style }: Pick<Terminal, 'style'>): string {
  const lines =
    before && addition !== undefined
      ? [...replaced.flatMap((line) => replacedLine(before, line)), ...appendedLines(before, addition)]
      : changedLines(before, after);
  const head = [`--- ${before ? path : '/dev/null'}`, `+++ ${path}`].map((line) => style('bold', line));
  return [...head, ...lines.map((line) => colorLine(withoutControls(line), style))].join('\n');
}

function changedLines(before: Buffer | null, after: Buffer): string[] {
  const { hunks } = structuredPatch('', '', before?.toString() ?? '', after.toString(), '', '', { context: 3 });
  return hunks.flatMap(({ oldStart, oldLines, newStart, newLines, lines }) => [
    `@@ -${before ? oldStart : 0},${oldLines} +${newStart},${newLines} @@`,
    ...lines,
  ]);
}

function replacedLine(before: Buffer, { from, to }: { from: string; to: string }): string[] {
  const at = before.toString().split(/\r?\n/).lastIndexOf(from) + 1;
  return [`@@ -${at},1 +${at},1 @@`, `-${from}`, `+${to}`];
}

function appendedLines(before: Buffer, addition: string): string[] {
  if (addition === '') return [];
  const lines = addition.trim().split(/\r?\n/);
  const last = before.toString().split('\n').length - (before.length === 0 || before.at(-1) === 10 ? 1 : 0);
  return [`@@ -${last},0 +${last + 1},${lines.length} @@`, ...lines.map((line) => `+${line}`)];
}

function colorLine(line: string, style: Terminal['style']): string {
  if (line.startsWith('+')) return style('green', line);
  if (line.startsWith('-')) return style('red', line);
  return line.startsWith('@') || line.startsWith('\\') ? style('dim', line) : line;
}

/** Returns a line with its control characters, and those that change the direction of text, as visible symbols (U+2400 ff.). */
function withoutControls(line: string): string {
  // biome-ignore lint/suspicious/noControlCharactersInRegex: these characters are replaced.
  return line.replace(/\r$/, '').replace(/[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]/g, (character) => {
    const code = character.charCodeAt(0);
    return code < 0x20 ? String.fromCharCode(0x2400 + code) : '\u2421';
  });
}

type Report = {
  title: string;
  steps: readonly Step[];
  /** The command that passed, or null. */
  verified: string | null;
  commands: readonly string[];
  next: readonly string[];
};

/** Returns what was done and what is left to do, as text of at most 80 columns, unless code is longer. */
export function formatReport({ title, steps, verified, commands, next }: Report, { style }: Pick<Terminal, 'style'>): string {
  const lines = [title, ''];
  for (const { change, action } of steps)
    lines.push(`  ${style(action === 'unchanged' ? 'dim' : 'green', action.padEnd(11))}  ${change.path}`);
  if (verified) lines.push('', paragraph(`\`${verified}\` passed.`, { style }));
  if (commands.length > 0) lines.push('', style('bold', 'Run'), ...commands.map((command) => `  ${style('cyan', command)}`));
  lines.push('', style('bold', 'Next'), ...next.map((sentence) => paragraph(sentence, { style }, '  - ', '    ')));
  return lines.join('\n');
}
