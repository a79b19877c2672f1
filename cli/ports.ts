import { createServer } from 'node:net';

const MAX_PORT = 65_535;

/** Returns a TCP port of this machine on which nothing listens. */
export function freePort(): Promise<number> {
  return new Promise((resolve, reject) => {
    const server = createServer().once('error', reject);
    server.listen(0, '127.0.0.1', () => {
      const { port } = server.address() as { port: number };
      server.close(() => resolve(port));
    });
  });
}

/** Returns whether nothing listens on a TCP port of this machine. */
export function isFree(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const server = createServer().once('error', () => resolve(false));
    // On all addresses, so that it fails where a program listens on one of them.
    server.listen(port, () => server.close(() => resolve(true)));
  });
}

/** Returns the first free port above another one that is suitable; the one above it when there is none. */
export async function nextFreePort(above: number, isSuitable: (port: number) => boolean): Promise<number> {
  for (let port = above + 1; port <= Math.min(above + 100, MAX_PORT); port++) {
    if (isSuitable(port) && (await isFree(port))) return port;
  }
  return above < MAX_PORT ? above + 1 : above - 1;
}
