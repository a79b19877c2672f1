import { setTimeout as sleep } from 'node:timers/promises';
import type { Log } from '../log.ts';
import { StartError } from '../start-error.ts';
import { READ_ONLY_CAUSE, type ReadOnlyCause } from './client.ts';
import { placeOf } from './hosts.ts';
import { detectPooling, openClient, type Pooling } from './pooling.ts';

/** A database to connect to. `setting` gives the URL; null: the embedded PostgreSQL. */
export type Target = { url: string; setting: 'DATABASE_URL' | 'DATABASE_DIRECT_URL' | null };

/** @property database equal for two URLs if and only if they lead to the same database of the same server */
export type Reached = { pooling: Pooling; database: string; utc: boolean };

export const MIN_VERSION = 14;
const TIMEOUT_MS = 30_000;
const INTERVAL_MS = 500;

/** The end of a sentence that begins with the server. */
export const READ_ONLY_TEXTS: Record<ReadOnlyCause, string> = {
  standby: 'is read-only: it is a standby',
  default_transaction_read_only: 'is read-only: default_transaction_read_only is on',
};

/** What an operator can do about it. */
export const READ_ONLY_REMEDIES: Record<ReadOnlyCause, string> = {
  standby: 'Promote it, or give the address of the primary',
  default_transaction_read_only:
    'Turn it off for the server, the database and the role, or give the address of a server that accepts writes',
};

/** SQLSTATEs and messages of PostgreSQL and PgBouncer for wrong settings, which waiting does not correct. */
const FINAL_STATES = /^(?:28|3D|42|0A|0L|0P)/;
const FINAL_MESSAGES = /authentication failed|no such (?:user|database)|unsupported startup parameter/;

const EXAMINE = `
select current_setting('server_version_num')::int / 10000 as version, ${READ_ONLY_CAUSE} as cause,
  extract(epoch from pg_postmaster_start_time()) || ' ' || (select oid from pg_database where datname = current_database()) as database,
  extract(timezone from timestamptz '2026-01-15Z') = 0 and extract(timezone from timestamptz '2026-07-15Z') = 0 as utc`;

/** The server accepts no writes. That may change, since a promotion can be in progress. */
class ReadOnly extends Error {}

/**
 * Waits until PostgreSQL responds and accepts writes, since it may be starting or being promoted at the same time.
 * @throws StartError after 30 s, or at once when waiting does not help
 */
export async function reachDatabase(target: Target, log: Log): Promise<Reached> {
  const place = placeOf(target.url);
  for (const end = Date.now() + TIMEOUT_MS; ; await sleep(INTERVAL_MS)) {
    try {
      return await examine(target, place);
    } catch (error) {
      if (error instanceof StartError) throw error;
      const { code = '', message } = error as NodeJS.ErrnoException;
      if (FINAL_STATES.test(code) || FINAL_MESSAGES.test(message) || Date.now() > end) throw unusable(target, place, error as Error);
      log.info({ reason: message || code, place }, 'waiting for PostgreSQL');
    }
  }
}

async function examine({ url, setting }: Target, place: string): Promise<Reached> {
  const client = openClient(url);
  try {
    await client.connect();
    const { rows } = await client.query<{ version: number; cause: ReadOnlyCause | null; database: string; utc: boolean }>(EXAMINE);
    const [{ version, cause, database, utc }] = rows;
    if (version < MIN_VERSION) throw tooOld(place, version);
    if (cause) throw new ReadOnly(`${READ_ONLY_TEXTS[cause]}. ${READ_ONLY_REMEDIES[cause]}${setting ? ` in ${setting}` : ''}.`);
    return { pooling: setting ? await detectPooling(url) : 'session', database, utc };
  } finally {
    void client.end().catch(() => {});
  }
}

function unusable({ setting }: Target, place: string, cause: Error): StartError {
  const { code, message, severity } = cause as NodeJS.ErrnoException & { severity?: string };
  if (cause instanceof ReadOnly) return new StartError(`PostgreSQL at ${place} ${message}`, { cause });
  const check = setting ? ` Check ${setting}.` : '';
  if (severity) return new StartError(`The server at ${place} refuses: "${message}" (SQLSTATE ${code}).${check}`, { cause });
  return new StartError(`PostgreSQL at ${place} cannot be reached: ${message || code}.${check}`, { cause });
}

export const tooOld = (place: string, version: number): StartError =>
  new StartError(`PostgreSQL at ${place} is version ${version}; at least ${MIN_VERSION} is needed.`);

/** Checks that each connection is its own session. @throws StartError */
export function refuseSharedSessions({ url, setting }: Target, { pooling }: Pick<Reached, 'pooling'>): void {
  if (pooling === 'session') return;
  const found = `${setting} (${placeOf(url)}) leads through a pooler in ${pooling} mode`;
  const sessionMode = 'set the pooler to session mode (PgBouncer: pool_mode = session)';
  if (setting === 'DATABASE_DIRECT_URL') {
    throw new StartError(
      `${found}, where locks, LISTEN and migrations do not work. Give the address of PostgreSQL itself, or ${sessionMode}.`,
    );
  }
  if (pooling === 'statement') {
    throw new StartError(`${found}, where there are no transactions. Give the address of PostgreSQL itself, or ${sessionMode}.`);
  }
  throw new StartError(
    `${found}, where locks, LISTEN and migrations do not work. Give the address of PostgreSQL itself in DATABASE_DIRECT_URL, and with ` +
      `PgBouncer before 1.21 also DATABASE_PREPARED_STATEMENTS=off; or ${sessionMode}.`,
  );
}
