import { randomInt } from 'node:crypto';
import { createServer } from 'node:net';

/**
 * Waits until a condition holds, checking every 50 ms.
 * @param what the condition, for the error
 * @param check returns true, or what is still missing
 * @throws Error with what was missing after `timeoutMs`
 */
export async function waitUntil(what: string, timeoutMs: number, check: () => Promise<boolean | string> | boolean | string): Promise<void> {
  const end = Date.now() + timeoutMs;
  for (;;) {
    const state = await check();
    if (state === true) return;
    if (Date.now() > end) throw new Error(`Timed out after ${timeoutMs} ms: ${what}${state ? ` (${state})` : ''}`);
    await sleep(50);
  }
}

/**
 * Sends requests until `stop` is called, to measure how much the load of this machine delays a response. A bound on a
 * duration that a test asserts is the promised time plus three times this.
 * @param ping a request that needs only the process that it is sent to, such as `/healthz`
 * @returns `stop`, which resolves to the slowest response time in ms
 */
export function measureLag(ping: () => Promise<unknown>): { stop(): Promise<number> } {
  let [stopped, slowest] = [false, 0];
  const pinging = (async () => {
    do {
      const start = performance.now();
      await ping();
      slowest = Math.max(slowest, performance.now() - start);
      await sleep(20);
    } while (!stopped);
  })();
  return {
    async stop() {
      stopped = true;
      await pinging;
      return slowest;
    },
  };
}

/**
 * Waits until a condition holds that is promised to hold after `promisedMs` on an idle machine.
 * @param ping as of `measureLag`
 * @throws Error when it took longer than `promisedMs` plus what the load of this machine adds
 */
export async function waitWithin(
  what: string,
  promisedMs: number,
  ping: () => Promise<unknown>,
  check: () => Promise<boolean | string> | boolean | string,
): Promise<void> {
  const start = performance.now();
  const lag = measureLag(ping);
  let took = Number.NaN;
  let bound = 0;
  try {
    await waitUntil(what, promisedMs + 60_000, check);
    took = performance.now() - start;
  } finally {
    bound = promisedMs + 3 * (await lag.stop());
  }
  if (took > bound) throw new Error(`It took ${Math.round(took)} ms, more than ${Math.round(bound)} ms: ${what}`);
}

export function sleep(milliseconds: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, milliseconds));
}

/** Below the ports that Linux uses for outgoing connections (ip_local_port_range), which could take the port. */
const FIRST_PORT = 20_000;
const PORTS_PER_WORKER = 2_000;
/** Ports that this process has returned: what they are for may not listen on them yet. */
const usedPorts = new Set<number>();

/** Returns a TCP port of the loopback on which no process listens, another one at every call, and none that another worker of vitest returns. */
export async function freePort(): Promise<number> {
  const first = FIRST_PORT + Number(process.env.VITEST_POOL_ID ?? 0) * PORTS_PER_WORKER;
  for (;;) {
    const port = randomInt(first, first + PORTS_PER_WORKER);
    if (usedPorts.has(port)) continue;
    const server = createServer();
    const free = await new Promise<boolean>((resolve) => {
      server.once('error', () => resolve(false));
      server.listen(port, '127.0.0.1', () => resolve(true));
    });
    if (!free) continue;
    await new Promise((resolve) => server.close(resolve));
    usedPorts.add(port);
    return port;
  }
}
