import { request } from 'node:http';
import type { AddressInfo } from 'node:net';

/** Addresses that mean every interface; a client reaches them by the loopback. */
const ANY: Record<string, string> = { '0.0.0.0': '127.0.0.1', '::': '::1' };

/**
 * Asks the service itself, by its listening address, for what it answers without the database: the way a visitor's request
 * goes. Resolves at the end of a 200. @throws when another answer comes, none, or not within `milliseconds`
 */
export function requestSelf({ address, port }: AddressInfo, milliseconds: number): Promise<void> {
  return new Promise((resolve, reject) => {
    const asked = request(
      {
        host: ANY[address] ?? address,
        port,
        path: '/api/languages',
        agent: false,
        headers: { Connection: 'close' },
        signal: AbortSignal.timeout(milliseconds),
      },
      (response) => {
        response.on('error', reject);
        response.on('end', () => (response.statusCode === 200 ? resolve() : reject(new Error(`Answered ${response.statusCode}`))));
        response.resume();
      },
    );
    asked.on('error', reject);
    asked.end();
  });
}
