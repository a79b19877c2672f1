import { Transform } from 'node:stream';
import { openRelay, throughRelay } from './relay.ts';

/** The longest delay of a connection in ms, set by who runs the tests; 0: none. */
const MAX_DELAY_MS = Number(process.env.SLOW_DATABASE ?? 0);

/**
 * Returns the URL under which services reach a database. With SLOW_DATABASE=MS, the statements of each connection are delayed by a time of
 * its own, so that what a service writes beside its response comes late: a test that does not wait for it fails.
 */
export async function serviceUrlOf(databaseUrl: string): Promise<string> {
  if (MAX_DELAY_MS === 0) return databaseUrl;
  return throughRelay(databaseUrl, await openRelay(Number(new URL(databaseUrl).port), { ofClient: delay }));
}

/** Returns a stream that delays each piece. A third of these streams delay nothing: the next request may have a quick connection. */
function delay(): Transform {
  const delayMs = Math.max(0, (Math.random() * 1.5 - 0.5) * MAX_DELAY_MS);
  return new Transform({ transform: (chunk, _encoding, done) => void setTimeout(done, delayMs, null, chunk) });
}
