import { once } from 'node:events';
import { type AddressInfo, connect, createServer } from 'node:net';

/** The longest delay of a connection in ms, set by who runs the tests; 0: none. */
const MAX_DELAY_MS = Number(process.env.SLOW_DATABASE ?? 0);

/**
 * Returns the URL under which services reach a database. With SLOW_DATABASE=MS, each of their connections is delayed by a time of its own,
 * so that what a service writes beside its response comes late: a test that does not wait for it fails.
 */
export async function serviceUrlOf(databaseUrl: string): Promise<string> {
  if (MAX_DELAY_MS === 0) return databaseUrl;
  const { hostname, port } = new URL(databaseUrl);
  const relay = createServer((near) => {
    const far = connect(Number(port), hostname);
    // Every third connection is quick, as the one of the next request may be.
    const delayMs = Math.round(Math.max(0, (Math.random() * 1.5 - 0.5) * MAX_DELAY_MS));
    const later = (act: () => void) => void setTimeout(act, delayMs);
    near.on('data', (chunk) => later(() => far.write(chunk)));
    far.on('data', (chunk) => near.write(chunk));
    near.on('error', () => {}).on('close', () => later(() => far.destroy()));
    far.on('error', () => {}).on('close', () => near.destroy());
  });
  await once(relay.unref().listen(0, '127.0.0.1'), 'listening');
  return Object.assign(new URL(databaseUrl), { port: String((relay.address() as AddressInfo).port) }).href;
}
