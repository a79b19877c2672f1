import { describe, expect, test } from 'vitest';
import type { GrowingText } from './growing-input.ts';

/** The largest text that anything outside can send is 64 KB. */
const SIZE = 16 * 1024;
const TIMES = 4;
/** Linear time gives 4, quadratic 16. */
const MAX_RATIO = 8;
/** Below this there is nothing to compare. */
const SPARE_MS = 4;

const repeat = (what: string, part: string, start = '', end = ''): GrowingText => [
  what,
  (size) => start + part.repeat(Math.ceil(size / part.length)) + end,
];
/** What slows a parser of plain text: runs of what it skips or counts, with something at the end that makes it go back. */
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
/** A parser of text from outside, which may throw. */
export type Parser = [name: string, run: (text: string) => unknown, texts: GrowingText[]];

/** Declares a test for each parser and text: four times the text takes at most eight times the CPU time. */
export function describeLinearTime(parsers: Parser[]): void {
  describe.each(parsers)('the time for %s grows at most linearly', (_name, run, texts) => {
    test.each(texts)('%s', async (_what, make) => {
      const parse = swallow(run);
      const [small, large] = [make(SIZE), make(TIMES * SIZE)];
      await parse(small);
      expect(await leastCpu(parse, large)).toBeLessThan(MAX_RATIO * (await leastCpu(parse, small)) + SPARE_MS);
    });
  });
}

const swallow = (run: (text: string) => unknown) => (text: string) => {
  try {
    return run(text);
  } catch {
    return null;
  }
};

/** CPU time of one call in ms, the least of several: other load on the machine adds to some of them. */
async function leastCpu(run: (text: string) => unknown, text: string): Promise<number> {
  let least = Number.POSITIVE_INFINITY;
  for (let round = 0; round < 4; round++) {
    const before = process.cpuUsage();
    await run(text);
    const { user, system } = process.cpuUsage(before);
    least = Math.min(least, (user + system) / 1000);
  }
  return least;
}
