import { connect, type Socket } from 'node:net';
import { waitUntil } from './waiting.ts';

/** Opens connections to a service, each with a request whose header does not end. */
export async function openSlowConnections(port: number, count: number): Promise<Socket[]> {
  let connected = 0;
  const sockets = Array.from({ length: count }, () => {
    const socket = connect(port, '127.0.0.1', () => {
      connected++;
      socket.write('POST /api/auth/logout HTTP/1.1\r\nHost: x\r\nContent-');
    });
    return socket.on('error', () => {});
  });
  await waitUntil('all sockets are connected', 60_000, () => connected === count || `${connected} are connected`);
  return sockets;
}
