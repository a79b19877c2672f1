import { setTimeout as sleep } from 'node:timers/promises';
import pg from 'pg';
import type { StorageConfig } from '../config.ts';
import { createLog } from '../log.ts';
import { StartError } from '../start-error.ts';
import { detectPooling } from './pooling.ts';
import { OLDEST_VERSION, placeOf, refuseSharedSessions, type Target, tooOld } from './reach.ts';
import { READ_ONLY_CAUSE, READ_ONLY_REMEDIES, READ_ONLY_TEXTS, type ReadOnlyCause } from './read-only.ts';

/** The database of the operator's commands. */
export type Attached = Target & {
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

const CONNECT_MS = 5_000;
/** How long a service that runs may take to have its PostgreSQL ready. */
const STARTING_MS = 15_000;
const SETTINGS = `set statement_timeout = 0; set idle_in_transaction_session_timeout = 0; set timezone = 'UTC'; set datestyle = 'ISO';
  set client_encoding = 'UTF8'`;

/**
 * The database that the settings name. The embedded one is that of the service which runs; when none does, it is started,
 * and no service can start until `stop`.
 * @param options.exclusive no service may run on DATA_DIR
 * @throws DataDirInUse when one does, EmbeddedUnusable, DatabaseUnreachable
 */
export async function attachDatabase(config: StorageConfig, options: { exclusive: boolean }): Promise<Attached> {
  const { databaseUrl, databaseDirectUrl, dataDir } = config;
  const url = databaseDirectUrl ?? databaseUrl;
  const stop = async () => {};
  if (url) return { url, setting: databaseDirectUrl ? 'DATABASE_DIRECT_URL' : 'DATABASE_URL', place: placeOf(url), stop };
  const { findEmbedded, startEmbedded } = await import('./embedded/embedded.ts');
  const { DataDirInUse } = await import('./embedded/lock.ts');
  const place = `the embedded PostgreSQL in ${dataDir}`;
  const log = createLog({ logLevel: 'silent', mode: 'production' });
  for (const end = Date.now() + STARTING_MS; ; await sleep(100)) {
    try {
      return { ...(await startEmbedded({ dataDir, log })), setting: null, place };
    } catch (error) {
      if (!(error instanceof DataDirInUse) || options.exclusive || Date.now() > end) throw error;
      const found = findEmbedded(dataDir);
      if (found) return { url: found, setting: null, place, stop };
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
 * @param options.writes refuses a server that is read-only
 * @throws StartError when it cannot be used, DatabaseUnreachable
 */
export async function connectAlone(
  { url, setting, place }: Attached,
  signal: AbortSignal,
  options: { writes: boolean },
): Promise<Connection> {
  const client = new pg.Client({
    connectionString: url,
    connectionTimeoutMillis: CONNECT_MS,
    keepAlive: true,
    application_name: 'emailauth-operator',
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
    if (setting) refuseSharedSessions({ url, setting }, { pooling: await detectPooling(url) });
    await client.query(SETTINGS);
    const { rows } = await client.query<{ version: number; cause: ReadOnlyCause | null }>(
      `select current_setting('server_version_num')::integer / 10000 as version, ${READ_ONLY_CAUSE} as cause`,
    );
    const [{ version, cause }] = rows;
    if (version < OLDEST_VERSION) throw tooOld(place, version);
    if (cause && options.writes) {
      throw new StartError(`PostgreSQL at ${place} ${READ_ONLY_TEXTS[cause]}. ${READ_ONLY_REMEDIES[cause]}.`);
    }
    return { client, seeThrough, close };
  } catch (error) {
    await close();
    if (signal.aborted || error instanceof StartError) throw error;
    const { message, code } = error as NodeJS.ErrnoException;
    const check = `Check ${setting ?? 'DATA_DIR'}, and that it runs.`;
    throw new DatabaseUnreachable(`PostgreSQL at ${place} cannot be used: ${message || code}. ${check}`, { cause: error });
  }
}
