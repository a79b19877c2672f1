import { setTimeout as sleep } from 'node:timers/promises';
import pg from 'pg';
import type { StorageConfig } from '../config.ts';
import { createLog } from '../log.ts';
import { StartError } from '../start-error.ts';

/** The database of the operator's commands. */
export type Attached = {
  url: string;
  /** Where it is, for people: no user and no password. */
  place: string;
  /** Ends what was started for it. */
  stop(): Promise<void>;
};

/** PostgreSQL does not take the connection. */
export class DatabaseUnreachable extends StartError {
  override name = 'DatabaseUnreachable';
  override readonly exitCode = 8;
  readonly code = 'database_unreachable';
}

const OLDEST_VERSION = 14;
const CONNECT_MS = 5_000;
/** How long a service that runs may take to have its PostgreSQL ready. */
const STARTING_MS = 15_000;

/**
 * The database that the settings name. The embedded one is that of the service which runs; when none does, it is started,
 * and no service can start until `stop`.
 * @param options.exclusive no service may run on DATA_DIR
 * @throws DataDirInUse when one does, EmbeddedUnusable, DatabaseUnreachable
 */
export async function attachDatabase(config: StorageConfig, options: { exclusive: boolean }): Promise<Attached> {
  const { databaseUrl, dataDir } = config;
  if (databaseUrl) return { url: databaseUrl, place: placeOf(databaseUrl), stop: async () => {} };
  const { findEmbedded, startEmbedded } = await import('./embedded/embedded.ts');
  const { DataDirInUse } = await import('./embedded/lock.ts');
  const place = `the embedded PostgreSQL in ${dataDir}`;
  const log = createLog({ logLevel: 'silent', mode: 'production' });
  for (const end = Date.now() + STARTING_MS; ; await sleep(100)) {
    try {
      return { ...(await startEmbedded({ dataDir, log })), place };
    } catch (error) {
      if (!(error instanceof DataDirInUse) || options.exclusive || Date.now() > end) throw error;
      const url = findEmbedded(dataDir);
      if (url) return { url, place, stop: async () => {} };
    }
  }
}

/** A connection of a command's own. */
export type Connection = {
  client: pg.Client;
  /** From here on an abort breaks nothing off. */
  seeThrough(): void;
  close(): Promise<void>;
};

/**
 * One connection without limits of time, which `signal` breaks off.
 * @throws DatabaseUnreachable
 */
export async function connectAlone({ url, place }: Attached, signal: AbortSignal): Promise<Connection> {
  const client = new pg.Client({
    connectionString: url,
    connectionTimeoutMillis: CONNECT_MS,
    keepAlive: true,
    application_name: 'emailauth-operator',
    options: '-c statement_timeout=0 -c idle_in_transaction_session_timeout=0 -c timezone=UTC -c datestyle=ISO -c client_encoding=UTF8',
  });
  // An error shows at the statement under way, or at the next one.
  client.on('error', () => {});
  // TLS puts another stream in the place of the first one.
  const { connection } = client as unknown as { connection: { stream: { destroy(): void } } };
  const breakOff = () => connection.stream.destroy();
  let broken = false;
  const abort = () => {
    broken = true;
    breakOff();
  };
  signal.addEventListener('abort', abort);
  const seeThrough = () => signal.removeEventListener('abort', abort);
  const close = async () => {
    seeThrough();
    if (!broken) await Promise.race([client.end().catch(() => {}), sleep(CONNECT_MS, null, { ref: false })]);
  };
  try {
    await client.connect();
    const { rows } = await client.query<{ version: number }>("select current_setting('server_version_num')::integer as version");
    const version = Math.floor(rows[0].version / 10_000);
    if (version < OLDEST_VERSION)
      throw new StartError(`PostgreSQL at ${place} is version ${version}; at least ${OLDEST_VERSION} is needed.`);
    return { client, seeThrough, close };
  } catch (error) {
    await close();
    if (signal.aborted || error instanceof StartError) throw error;
    const { message, code } = error as NodeJS.ErrnoException;
    throw new DatabaseUnreachable(`PostgreSQL at ${place} cannot be used: ${message || code}. Check DATABASE_URL, and that it runs.`, {
      cause: error,
    });
  }
}

function placeOf(url: string): string {
  const { host, pathname } = new URL(url);
  return `${host || 'this machine'}${pathname}`;
}
