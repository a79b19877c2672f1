import type { Check } from '../../contract/check.ts';
import type { Style } from '../terminal.ts';

const WIDTH = 80;
const INDENT = ' '.repeat(6);

/** The checks for people: what was seen, and below it what to do. */
export function reportOf(checks: readonly Check[], style: (format: Style, text: string) => string): string {
  const lines = checks.flatMap(({ ok, name, detail, fix }) => {
    const [word, format] = ok === null ? (['SKIP', 'yellow'] as const) : ok ? (['PASS', 'green'] as const) : (['FAIL', 'red'] as const);
    const [first, ...rest] = wrap(`${name}: ${detail}`, WIDTH - INDENT.length);
    const below = [...rest, ...(fix ? wrap(fix, WIDTH - INDENT.length) : [])];
    return [`${style(format, word)}  ${first}`, ...below.map((line) => INDENT + line)];
  });
  const failed = checks.filter(({ ok }) => ok === false).length;
  const summary = failed === 0 ? 'Nothing is wrong.' : failed === 1 ? 'One check failed.' : `${failed} checks failed.`;
  return [...lines, '', summary].join('\n');
}

/** Breaks at blanks alone, so that a record or an address stays whole. */
function wrap(text: string, width: number): string[] {
  const lines: string[] = [];
  for (const word of text.split(' ')) {
    const last = lines.at(-1);
    if (last !== undefined && last.length + 1 + word.length <= width) lines[lines.length - 1] = `${last} ${word}`;
    else lines.push(word);
  }
  return lines;
}
