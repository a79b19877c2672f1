import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { connect, createServer, type Socket } from 'node:net';
import type { Transform } from 'node:stream';

/** A TCP relay on the loopback whose target can change, like a virtual IP address. */
export type Relay = {
  port: number;
  /** Connects new connections to another port; open connections keep theirs. */
  switchTo(port: number): void;
  close(): Promise<void>;
};

/** Make a stream for each connection, through which passes what its client or its server sends. */
type Changes = { ofClient?(): Transform; ofServer?(): Transform };

/** Opens a relay, which does not keep the process alive. @param target a port of the loopback */
export async function openRelay(target: number, { ofClient, ofServer }: Changes = {}): Promise<Relay> {
  let port = target;
  const open = new Set<Socket>();
  const pass = (from: Socket, to: Socket, change?: Transform) => {
    open.add(from);
    from.on('error', () => to.destroy());
    from.on('close', () => {
      open.delete(from);
      // Otherwise the pipe ends the other side, once everything has passed.
      if (!from.readableEnded) to.destroy();
    });
    (change ? from.pipe(change) : from).pipe(to);
  };
  const server = createServer((near) => {
    const far = connect(port, '127.0.0.1');
    pass(near, far, ofClient?.());
    pass(far, near, ofServer?.());
  });
  await once(server.unref().listen(0, '127.0.0.1'), 'listening');
  return {
    port: (server.address() as AddressInfo).port,
    switchTo: (next) => {
      port = next;
    },
    async close() {
      for (const socket of open) socket.destroy();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

/** Returns a URL with the port of a relay. */
export const throughRelay = (url: string, { port }: Pick<Relay, 'port'>): string =>
  Object.assign(new URL(url), { port: String(port) }).href;
