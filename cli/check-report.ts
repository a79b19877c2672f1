import type { CheckResult } from '../diagnostics/check.ts';
import type { Remedies } from '../diagnostics/website.ts';
import type { Terminal } from './terminal.ts';
import { textWidth, wrap } from './text.ts';

/** What to do next after a check, as commands. */
export const commandRemedies = {
  urlOption: '--url',
  writeCallback: '`emailauth init` writes one.',
  signIn: 'Run `emailauth login`.',
  prove: (domain: string) => `emailauth sites verify ${domain}`,
  register: (domain: string) => `emailauth register ${domain}`,
} satisfies Partial<Remedies>;

const STATUSES = { true: ['PASS', 'green'], false: ['FAIL', 'red'], null: ['SKIP', 'yellow'] } as const;
const INDENT = ' '.repeat(6);

/** Returns the results of checks as text: what was found, below it what to do, and at the end what failed and what was not checked. */
export function formatReport(checks: readonly CheckResult[], { style, columns }: Pick<Terminal, 'style' | 'columns'>): string {
  const width = textWidth(columns);
  const lines = checks.flatMap(({ ok, name, detail, fix }) => {
    const [status, format] = STATUSES[`${ok}`];
    const [first, ...rest] = wrap(`${name}: ${detail}`, width - INDENT.length);
    const below = [...rest, ...(fix ? wrap(fix, width - INDENT.length) : [])];
    return [`${style(format, status)}  ${first}`, ...below.map((line) => INDENT + line)];
  });
  return [...lines, '', ...wrap(summaryOf(checks), width)].join('\n');
}

function summaryOf(checks: readonly CheckResult[]): string {
  const failed = checks.filter(({ ok }) => ok === false).length;
  const skipped = checks.filter(({ ok }) => ok === null).map(({ name }) => name);
  if (failed === 0 && skipped.length === 0) return 'Nothing is wrong.';
  const failures = failed === 0 ? 'No check failed.' : failed === 1 ? 'One check failed.' : `${failed} checks failed.`;
  if (skipped.length === 0) return failures;
  const notMade = skipped.length === 1 ? 'One check was not made' : `${skipped.length} checks were not made`;
  return `${failures} ${notMade}: ${skipped.join(', ')}.`;
}
