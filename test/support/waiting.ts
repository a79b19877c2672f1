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
