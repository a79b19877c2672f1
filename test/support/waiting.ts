import { randomInt } from 'node:crypto';
import { createServer } from 'node:net';

/** Between two checks of a condition: a tenth of the time waited so far, since most conditions hold soon, within these bounds in ms. */
const MIN_INTERVAL = 5;
const MAX_INTERVAL = 200;

/**
 * Waits until a condition holds, checking it every few ms.
 * @param what the condition, for the error
 * @param check returns true, or what is still missing
 * @throws Error with what was missing after `timeoutMs`
 */
export async function waitUntil(what: string, timeoutMs: number, check: () => Promise<boolean | string> | boolean | string): Promise<void> {
  const start = performance.now();
  for (;;) {
    const state = await check();
    if (state === true) return;
    const waited = performance.now() - start;
    if (waited > timeoutMs) throw new Error(`Timed out after ${timeoutMs} ms: ${what}${state ? ` (${state})` : ''}`);
    await pause(Math.min(MAX_INTERVAL, Math.max(MIN_INTERVAL, waited / 10)));
  }
}

/** Between two turns of what is repeated, in ms. */
const TURN_MS = 20;

/** Repeats an action, one turn after another, as a client that keeps sending requests. @returns a function that ends it after its last turn */
export function repeatUntilEnded(action: () => Promise<unknown>): () => Promise<void> {
  let isOver = false;
  const turns = (async () => {
    while (!isOver) {
      await action();
      await pause(TURN_MS);
    }
  })();
  return async () => {
    isOver = true;
    await turns;
  };
}

/**
 * Begins an action at a steady rate, whether or not earlier ones are finished; at most those of four seconds are under way.
 * @returns a function that ends it once all are finished
 */
export function beginAtRate(perSecond: number, action: () => Promise<unknown>): () => Promise<void> {
  let isOver = false;
  const underWay = new Set<Promise<unknown>>();
  const beginning = (async () => {
    for (let next = performance.now(); !isOver; next += 1000 / perSecond) {
      await pause(Math.max(0, next - performance.now()));
      const begun: Promise<unknown> = action().finally(() => underWay.delete(begun));
      underWay.add(begun);
      while (underWay.size > 4 * perSecond) await Promise.race(underWay);
    }
  })();
  return async () => {
    isOver = true;
    await beginning;
    await Promise.all(underWay);
  };
}

function pause(milliseconds: number): Promise<void> {
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
