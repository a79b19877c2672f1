import { describe, expect, test } from 'vitest';
import type { GrowingText } from './growing-input.ts';

/** Texts from outside have at most 64 KB. */
const SIZE = 16 * 1024;
const TIMES = 4;
/** Linear time has the ratio 4, quadratic time 16. */
const MAX_RATIO = 8;
/** Shorter times cannot be compared. */
const TOLERANCE_MS = 4;
/** Other load and garbage collection only add to a time, so the minimum of several rounds counts. Quadratic time fails every round. */
const MIN_ROUNDS = 4;
const MAX_ROUNDS = 100;

const repeat = (what: string, part: string, start = '', end = ''): GrowingText => [
  what,
  (size) => start + part.repeat(Math.ceil(size / part.length)) + end,
];
/** Texts that slow down parsers: repetitions of what they skip or count, with an end that causes backtracking. */
export const growingTexts: GrowingText[] = [
  ...['a', '1', '.', ' ', '\t', '"', '%', '%41', '-', '@', ':', '/', '\n', '<', '\\', 'a.', '1.', 'é', '=', ';', ','].map((part) =>
    repeat(`a run of ${JSON.stringify(part)}`, part, 'x', 'x'),
  ),
  repeat('a host', 'a.', 'https://', '/'),
  repeat('an address', 'a.', '', '@b.example'),
  repeat('spaces at both ends', ' '),
  repeat('an SPF record', ' include:a.', 'v=spf1 '),
  repeat('macros', '%{a', 'v=spf1 exists:'),
  repeat('a bearer token', 'a', 'Bearer ', ' '),
  repeat('user agent', 'Version/1.', 'Mozilla/5.0 '),
];
/** A parser of untrusted text, which may throw. */
export type Parser = [name: string, run: (text: string) => unknown, texts: GrowingText[]];

/** Defines a test for each parser and text: a text four times as long takes at most eight times the CPU time. */
export function describeLinearTime(parsers: Parser[]): void {
  describe.each(parsers)('the time for %s grows at most linearly', (_name, run, texts) => {
    test.each(texts)('%s', async (_what, make) => {
      const parse = ignoringErrors(run);
      const [small, large] = [make(SIZE), make(TIMES * SIZE)];
      await parse(small);
      let [smallMs, largeMs] = [Number.POSITIVE_INFINITY, Number.POSITIVE_INFINITY];
      const isLinear = () => largeMs < MAX_RATIO * smallMs + TOLERANCE_MS;
      for (let round = 0; round < MAX_ROUNDS && (round < MIN_ROUNDS || !isLinear()); round++) {
        smallMs = Math.min(smallMs, await cpuMsOf(parse, small));
        largeMs = Math.min(largeMs, await cpuMsOf(parse, large));
      }
      expect(largeMs).toBeLessThan(MAX_RATIO * smallMs + TOLERANCE_MS);
    });
  });
}

const ignoringErrors = (run: (text: string) => unknown) => (text: string) => {
  try {
    return run(text);
  } catch {
    return null;
  }
};

async function cpuMsOf(run: (text: string) => unknown, text: string): Promise<number> {
  const before = process.cpuUsage();
  await run(text);
  const { user, system } = process.cpuUsage(before);
  return (user + system) / 1000;
}
