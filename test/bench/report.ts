import type { Round } from './measure.ts';

const NAME_WIDTH = 46;
const FIGURE_WIDTH = 15;

/** Prints the title of a table and its columns. */
export function heading(title: string, ...columns: string[]): void {
  console.log(`\n${title.padEnd(NAME_WIDTH)}${columns.map((column) => column.padStart(FIGURE_WIDTH)).join('')}`);
}

export function row(name: string, ...values: string[]): void {
  console.log(`  ${name}`.padEnd(NAME_WIDTH) + values.map((text) => text.padStart(FIGURE_WIDTH)).join(''));
}

export function formatNumber(value: number, digits = 0): string {
  return value.toLocaleString('en', { minimumFractionDigits: digits, maximumFractionDigits: digits });
}

/** Prints the title of a table of rounds and its columns. */
export function roundHeading(title: string): void {
  heading(title, 'per s', 'p50 ms', 'p99 ms', 'CPU s/1,000', 'server', 'PostgreSQL');
}

export function roundRow(name: string, round: Round): void {
  const [rate, ...times] = [round.rate, round.p50, round.p99, cpuOf(round), round.serverCpu, round.postgresCpu];
  row(name, formatNumber(rate), ...times.map((time, column) => formatNumber(time, [2, 1][column] ?? 3)));
}

export const cpuOf = (round: Round): number => round.serverCpu + round.postgresCpu;

const targets: string[][] = [];

/** Records a value, so that `printTargets` prints whether it reaches its target. */
export function compare(name: string, value: number, relation: 'at least' | 'at most', target: number): void {
  const reached = relation === 'at least' ? value >= target : value <= target;
  const digits = target >= 10 ? 0 : 2;
  targets.push([name, formatNumber(value, digits), `${relation} ${formatNumber(target, digits)}`, reached ? 'reached' : 'missed']);
}

/** Prints all values that have targets. */
export function printTargets(): void {
  if (targets.length === 0) return;
  heading('Targets', 'value', 'target', '');
  for (const [name, ...values] of targets) row(name, ...values);
}
