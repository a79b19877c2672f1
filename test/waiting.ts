import { randomInt } from 'node:crypto';
import { createServer } from 'node:net';

/**
 * Asks again every 50 ms until the answer is true.
 * @param what what is waited for, for the error
 * @param answer true, or what is still missing
 * @throws Error that says what was missing when `milliseconds` were over
 */
export async function waitUntil(
  what: string,
  milliseconds: number,
  answer: () => Promise<boolean | string> | boolean | string,
): Promise<void> {
  const end = Date.now() + milliseconds;
  for (;;) {
    const state = await answer();
    if (state === true) return;
    if (Date.now() > end) throw new Error(`Waited ${milliseconds} ms in vain: ${what}${state ? ` (${state})` : ''}`);
    await sleep(50);
  }
}

/**
 * Asks again and again until `stop`, to tell how much this machine's load adds to an answer: a bound on a duration that a
 * test asserts is the promised time plus a few of these.
 * @param ask a request that needs nothing but the process that is asked, such as `/healthz`
 * @returns `stop`, which resolves to the slowest answer in ms
 */
export function measureLag(ask: () => Promise<unknown>): { stop(): Promise<number> } {
  let [over, slowest] = [false, 0];
  const asking = (async () => {
    do {
      const start = performance.now();
      await ask();
      slowest = Math.max(slowest, performance.now() - start);
      await sleep(20);
    } while (!over);
  })();
  return {
    async stop() {
      over = true;
      await asking;
      return slowest;
    },
  };
}

export function sleep(milliseconds: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, milliseconds));
}

/** Below what Linux takes for outgoing connections (ip_local_port_range), which could have the port a moment later. */
const PORTS = { from: 20_000, to: 32_000 };

/** A TCP port of the loopback that nobody listens on at this moment. */
export async function freePort(): Promise<number> {
  for (;;) {
    const port = randomInt(PORTS.from, PORTS.to);
    const server = createServer();
    const free = await new Promise<boolean>((resolve) => {
      server.once('error', () => resolve(false));
      server.listen(port, '127.0.0.1', () => resolve(true));
    });
    if (!free) continue;
    await new Promise((resolve) => server.close(resolve));
    return port;
  }
}
