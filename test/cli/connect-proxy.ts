import { createServer, type IncomingMessage } from 'node:http';
import { type AddressInfo, connect } from 'node:net';
import type { Duplex } from 'node:stream';

/** An HTTP proxy for CONNECT (RFC 9110 §9.3.6) that connects every host to this machine, and records which ones were asked for. */
export type ConnectProxy = { url: string; port: number; asked: string[]; credentials: (string | undefined)[]; close(): Promise<void> };

/** @param status the response instead of a connection, such as 407 */
export async function openConnectProxy(status?: number): Promise<ConnectProxy> {
  const asked: string[] = [];
  const credentials: (string | undefined)[] = [];
  const sockets = new Set<Duplex>();
  const server = createServer().on('connect', ({ url = '', headers }: IncomingMessage, socket: Duplex) => {
    asked.push(url);
    credentials.push(headers['proxy-authorization']);
    sockets.add(socket);
    socket.on('error', () => {});
    if (status) return socket.end(`HTTP/1.1 ${status} Refused\r\n\r\n`);
    const target = connect(Number(url.split(':').at(-1)), '127.0.0.1', () => {
      socket.write('HTTP/1.1 200 Connection established\r\n\r\n');
      target.pipe(socket).pipe(target);
    });
    target.on('error', () => socket.destroy());
    return sockets.add(target);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}`,
    port,
    asked,
    credentials,
    async close() {
      for (const socket of sockets) socket.destroy();
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}
