import type { Terminal } from '../terminal.ts';
import type { Step } from './plan.ts';

const WIDTH = 80;

type Report = { title: string; steps: readonly Step[]; commands: readonly string[]; next: readonly string[] };

/** What was done and what is left to do, for a person: lines of at most 80 columns, unless code is longer. */
export function reportOf({ title, steps, commands, next }: Report, { style }: Pick<Terminal, 'style'>): string {
  const lines = [title, ''];
  for (const { change, action } of steps)
    lines.push(`  ${style(action === 'unchanged' ? 'dim' : 'green', action.padEnd(11))}  ${change.path}`);
  if (commands.length > 0) lines.push('', style('bold', 'Run'), ...commands.map((command) => `  ${style('cyan', command)}`));
  lines.push('', style('bold', 'Next'), ...next.map((sentence) => paragraph(sentence, { style }, '  - ', '    ')));
  return lines.join('\n');
}

/** Sentences in lines of at most 80 columns. Code, in backticks, is never broken. */
export function paragraph(sentences: string, { style }: Pick<Terminal, 'style'>, first = '', others = first): string {
  const lines: string[] = [];
  for (const word of sentences.match(/(?:`[^`]*`|[^\s`])+/g) ?? []) {
    const last = lines.at(-1);
    if (last !== undefined && others.length + last.length + 1 + word.length <= WIDTH) lines[lines.length - 1] = `${last} ${word}`;
    else lines.push(word);
  }
  return lines.map((line, i) => (i === 0 ? first : others) + coded(line, style)).join('\n');
}

/** Code in a colour of its own instead of backticks; where there are no colours they stay, since they tell where it ends. */
function coded(line: string, style: Terminal['style']): string {
  const hasColours = style('cyan', 'x') !== 'x';
  return hasColours ? line.replace(/`([^`]*)`/g, (_, code: string) => style('cyan', code)) : line;
}
