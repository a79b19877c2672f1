import { expect } from 'vitest';
import { repeatUntilEnded, waitUntil } from '../support/waiting.ts';

const isFull = process.env.FAULTS === 'full';

/** Returns the size of a run: `full` with FAULTS=full, as in `FAULTS=full npm run test:faults`, otherwise `short`. */
export const inRun = <Size>({ short, full }: { short: Size; full: Size }): Size => (isFull ? full : short);

/**
 * Begins to measure whether a promised duration is kept. Only a full run, whose files run alone, asserts it: the load of other files
 * lengthens every duration. The bound is the promised time plus three times the slowest response to `ping` meanwhile.
 * @param ping a request that needs only the process that it is sent to, such as `/healthz`
 */
export function openPromise(ping: () => Promise<unknown>): { expectWithin(promisedMs: number, tookMs?: number): Promise<void> } {
  const start = performance.now();
  let slowestMs = 0;
  const measure = async () => {
    const sent = performance.now();
    await ping();
    slowestMs = Math.max(slowestMs, performance.now() - sent);
  };
  const end = isFull ? repeatUntilEnded(measure) : undefined;
  return {
    async expectWithin(promisedMs, tookMs = performance.now() - start) {
      await end?.();
      if (isFull) expect(tookMs).toBeLessThan(promisedMs + 3 * slowestMs);
    },
  };
}

/** Waits until a condition holds that is promised to hold after `promisedMs` on an idle machine. @param ping as of `openPromise` */
export async function waitWithin(
  what: string,
  promisedMs: number,
  ping: () => Promise<unknown>,
  check: () => Promise<boolean | string> | boolean | string,
): Promise<void> {
  const promise = openPromise(ping);
  await waitUntil(what, promisedMs + 60_000, check);
  await promise.expectWithin(promisedMs);
}
