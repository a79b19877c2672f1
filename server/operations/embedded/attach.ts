import { setTimeout as sleep } from 'node:timers/promises';
import type pg from 'pg';
import type { StorageConfig } from '../../platform/config.ts';
import { placeOf } from '../../platform/db/address.ts';
import { DatabaseClient, disconnect, READ_ONLY_CAUSE, type ReadOnlyCause, SESSION_SETTINGS } from '../../platform/db/client.ts';
import {
  detectPooling,
  MIN_VERSION,
  READ_ONLY_REMEDIES,
  READ_ONLY_TEXTS,
  refuseSharedSessions,
  type Target,
  tooOld,
} from '../../platform/db/examine.ts';
import { createLog } from '../../platform/log.ts';
import { StartError } from '../../platform/start-error.ts';

/** The database that an operator's command works on. */
export type Attached = Target & {
  /** Where it is, for messages: without user and password. */
  place: string;
  /** Stops the embedded PostgreSQL if it was started for this command. */
  stop(): Promise<void>;
};

/** PostgreSQL does not accept the connection. */
export class DatabaseUnreachable extends StartError {
  override name = 'DatabaseUnreachable';
  override readonly exitCode = 8;
  readonly code = 'database_unreachable';
}

/** An operator's command was run where there is no database, in another directory than the service for instance. */
export class NoDatabase extends StartError {
  override name = 'NoDatabase';
  override readonly exitCode = 3;
  readonly code = 'no_database';
  readonly hint = 'Run this in the directory of the service, or set DATA_DIR or DATABASE_URL to the value that the service has.';

  constructor(dataDir: string) {
    super(`There is no database in ${dataDir}, and DATABASE_URL is not set.`);
  }
}

const CONNECT_MS = 5_000;
/** How long a running service may take to start its PostgreSQL. */
const START_MS = 15_000;
const SETTINGS = `set statement_timeout = 0; set idle_in_transaction_session_timeout = 0; ${SESSION_SETTINGS};
  set client_encoding = 'UTF8'`;

/**
 * Returns the database of the settings. The embedded one is that of the running service; if no service runs, it is started,
 * and no service can start until `stop`.
 * @param options.exclusive fails with DataDirInUse when a service runs on DATA_DIR
 * @param options.creates creates an embedded database where there is none
 * @throws DataDirInUse, EmbeddedUnusable, DatabaseUnreachable, NoDatabase
 */
export async function attachDatabase(config: StorageConfig, options: { exclusive: boolean; creates?: boolean }): Promise<Attached> {
  const { databaseUrl, databaseDirectUrl, dataDir } = config;
  const url = databaseDirectUrl ?? databaseUrl;
  const stop = async () => {};
  if (url) return { url, setting: databaseDirectUrl ? 'DATABASE_DIRECT_URL' : 'DATABASE_URL', place: placeOf(url), stop };
  const { findEmbedded, hasCluster, startEmbedded } = await import('./embedded.ts');
  const { DataDirInUse } = await import('./processes.ts');
  if (!options.creates && !hasCluster(dataDir)) throw new NoDatabase(dataDir);
  const place = `the embedded PostgreSQL in ${dataDir}`;
  const log = createLog({ logLevel: 'silent', mode: 'production' });
  for (const end = Date.now() + START_MS; ; await sleep(100)) {
    try {
      return { ...(await startEmbedded({ dataDir, log })), setting: null, place };
    } catch (error) {
      if (!(error instanceof DataDirInUse) || options.exclusive || Date.now() > end) throw error;
      const found = findEmbedded(dataDir);
      if (found) return { url: found, setting: null, place, stop };
    }
  }
}

/** The connection of an operator's command. */
export type Connection = {
  client: pg.Client;
  /** Makes an abort have no effect from now on. */
  ignoreAbort(): void;
  close(): Promise<void>;
};

/**
 * Opens one connection without time-outs; `signal` closes it at once.
 * @param options.writes refuses a server that is read-only
 * @throws StartError when it cannot be used, DatabaseUnreachable
 */
export async function connectAlone(
  { url, setting, place }: Attached,
  signal: AbortSignal,
  options: { writes: boolean },
): Promise<Connection> {
  const client = new DatabaseClient({
    connectionString: url,
    connectionTimeoutMillis: CONNECT_MS,
    keepAlive: true,
    application_name: 'emailauth-operator',
  });
  // An error is reported by the current statement, or by the next one.
  let aborted = false;
  const abort = () => {
    aborted = true;
    disconnect(client);
  };
  signal.addEventListener('abort', abort);
  const ignoreAbort = () => signal.removeEventListener('abort', abort);
  const close = async () => {
    ignoreAbort();
    if (!aborted) await Promise.race([client.end().catch(() => {}), sleep(CONNECT_MS, null, { ref: false })]);
  };
  try {
    await client.connect();
    if (setting) refuseSharedSessions({ url, setting }, await detectPooling(url));
    await client.query(SETTINGS);
    const { rows } = await client.query<{ version: number; cause: ReadOnlyCause | null }>(
      `select current_setting('server_version_num')::integer / 10000 as version, ${READ_ONLY_CAUSE} as cause`,
    );
    const [{ version, cause }] = rows;
    if (version < MIN_VERSION) throw tooOld(place, version);
    if (cause && options.writes) {
      throw new StartError(`PostgreSQL at ${place} ${READ_ONLY_TEXTS[cause]}. ${READ_ONLY_REMEDIES[cause]}.`);
    }
    return { client, ignoreAbort, close };
  } catch (error) {
    await close();
    if (signal.aborted || error instanceof StartError) throw error;
    const { message, code } = error as NodeJS.ErrnoException;
    const check = `Check ${setting ?? 'DATA_DIR'}, and that it is running.`;
    throw new DatabaseUnreachable(`PostgreSQL at ${place} cannot be used: ${message || code}. ${check}`, { cause: error });
  }
}
