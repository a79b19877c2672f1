import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import type pg from 'pg';
import type { DatabaseFacts, Standby } from '../../../diagnostics/deployment.ts';
import type { Log } from '../log.ts';
import { StartError } from '../start-error.ts';
import { placeOf } from './address.ts';
import { DATABASE_WAIT_MS, DatabaseClient, HAS_TIME_SETTINGS, READ_ONLY_CAUSE, type ReadOnlyCause } from './client.ts';

/** A database to connect to. `setting` gives the URL; null: the embedded PostgreSQL. */
export type Target = { url: string; setting: 'DATABASE_URL' | 'DATABASE_DIRECT_URL' | null };

/** What `SERVER` selects. `identity` is equal for two URLs if and only if they lead to the same database of the same server. */
type Server = {
  version: number;
  encoding: string;
  readOnly: ReadOnlyCause | null;
  identity: string;
  hasTimeSettings: boolean;
};

/** A database that accepts writes. */
export type Reached = { identity: string; hasTimeSettings: boolean; pooling: Pooling; missingGrant: string | null };

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
const FINAL_MESSAGES = /authentication failed|no such (?:user|database)|unsupported startup parameter|not support SSL|certificate/;

const SERVER = `
select current_setting('server_version_num')::int / 10000 as version, current_setting('server_encoding') as encoding, ${READ_ONLY_CAUSE} as "readOnly",
  extract(epoch from pg_postmaster_start_time()) || ' ' || (select oid from pg_database where datname = current_database()) as identity,
  ${HAS_TIME_SETTINGS} as "hasTimeSettings"`;

const JOBS_SCHEMA = 'graphile_worker';
/** The statement that lets the role create the schema of the jobs, or null. */
const MISSING_GRANT = `case when has_database_privilege(current_database(), 'create') or to_regnamespace('${JOBS_SCHEMA}') is not null then null
  else format('grant create on database %I to %I', current_database(), current_user) end as "missingGrant"`;

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
      return await reach(target, place);
    } catch (error) {
      if (error instanceof StartError) throw error;
      const { code = '', message } = error as NodeJS.ErrnoException;
      if (FINAL_STATES.test(code) || FINAL_MESSAGES.test(message) || Date.now() > end) throw unusable(target, place, error as Error);
      log.info({ reason: message || code, place }, 'waiting for PostgreSQL');
    }
  }
}

async function reach({ url, setting }: Target, place: string): Promise<Reached> {
  // The embedded PostgreSQL has no pooler.
  return withClients(url, setting ? 2 : 1, async (client, second) => {
    const { rows } = await client.query<Server & { missingGrant: string | null }>(`${SERVER}, ${MISSING_GRANT}`);
    const [{ version, encoding, readOnly, identity, hasTimeSettings, missingGrant }] = rows;
    if (version < MIN_VERSION) throw tooOld(place, version);
    if (encoding !== 'UTF8') throw notUtf8(place, encoding);
    if (readOnly) throw new ReadOnly(`${READ_ONLY_TEXTS[readOnly]}. ${READ_ONLY_REMEDIES[readOnly]}${setting ? ` in ${setting}` : ''}.`);
    return { pooling: second ? await poolingOf(client, second) : 'session', identity, hasTimeSettings, missingGrant };
  });
}

function unusable({ setting }: Target, place: string, cause: Error): StartError {
  const { code, message, severity } = cause as NodeJS.ErrnoException & { severity?: string };
  if (cause instanceof ReadOnly) return new StartError(`PostgreSQL at ${place} ${message}`, { cause });
  const remedy = /, no encryption$/.test(message) ? `Add sslmode=require to ${setting}.` : `Check ${setting}.`;
  const check = setting ? ` ${remedy}` : '';
  if (severity) return new StartError(`The server at ${place} refuses: "${message}" (SQLSTATE ${code}).${check}`, { cause });
  return new StartError(`PostgreSQL at ${place} cannot be reached: ${message || code}.${check}`, { cause });
}

export const tooOld = (place: string, version: number): StartError =>
  new StartError(`PostgreSQL at ${place} is version ${version}; at least ${MIN_VERSION} is needed.`);

const notUtf8 = (place: string, encoding: string): StartError =>
  new StartError(
    `The database at ${place} has the encoding ${encoding}, which cannot store every name and text. ` +
      "Give a database with the encoding UTF8: create database emailauth encoding 'UTF8' locale 'C' template template0.",
  );

/** Checks that each connection is its own session. @throws StartError */
export function refuseSharedSessions({ url, setting }: Target, pooling: Pooling): void {
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

/** Checks that the role may create the schema of the jobs, unless it exists. @throws StartError */
export function refuseUnprivileged({ url, setting }: Target, missingGrant: string | null): void {
  if (!missingGrant) return;
  throw new StartError(
    `The role of ${setting} (${placeOf(url)}) may not create the schema ${JOBS_SCHEMA}, which the jobs need. As the owner of the database, run: ${missingGrant}`,
  );
}

const FACTS = `${SERVER},
  extract(epoch from clock_timestamp())::float8 as now,
  current_setting('max_connections')::int as max,
  (select count(*)::int from pg_stat_activity where backend_type = 'client backend') as used`;

const STANDBYS = `
select application_name as name, state, sync_state in ('sync', 'quorum') is true as "isSynchronous",
  extract(epoch from replay_lag)::float8 as "lagSeconds"
from pg_stat_replication where application_name not like 'pg_basebackup%' or state is null`;

type Row = Server & { now: number; max: number; used: number };

/** Returns what `emailauth doctor --deployment` reports about a database. Changes nothing, and never rejects. */
export async function examineDatabase(url: string): Promise<DatabaseFacts> {
  const place = placeOf(url);
  const examine = async (client: pg.Client, second: pg.Client): Promise<DatabaseFacts> => {
    const requestedAt = Date.now();
    const { rows } = await client.query<Row>(FACTS);
    const middle = (requestedAt + Date.now()) / 2_000;
    const [{ now, max, used, encoding, ...found }] = rows;
    if (encoding !== 'UTF8') return { place, problem: notUtf8(place, encoding).message };
    const standbys = (await client.query<Standby>(STANDBYS)).rows;
    const pooling = await poolingOf(client, second);
    return {
      place,
      problem: null,
      ...found,
      clockAheadSeconds: middle - now,
      connections: { max, used },
      standbys,
      pooling,
      keepsPreparedStatements: pooling === 'transaction' ? await keepsPreparedStatements(url) : null,
    };
  };
  return withClients(url, 2, examine).catch((error: NodeJS.ErrnoException) => ({ place, problem: `${error.message || error.code}.` }));
}

/** How long a connection keeps one session of PostgreSQL: always, or for a transaction or statement only. */
type Pooling = 'session' | 'transaction' | 'statement';

const ANSWER_MS = 5_000;
/** Behind a busy pooler, two clients may keep their server connections by chance, but not this often in a row. */
const ROUNDS = 10;
/** How often `keepsPreparedStatements` tries to reach a server connection a second time. */
const MAX_TRIES = 20;

/**
 * Detects whether a pooler shares sessions between its clients. Two clients set a mark in their sessions, and one of them holds a
 * transaction open while both read their own mark: if each has its own session, both always find it.
 */
export const detectPooling = (url: string): Promise<Pooling> => withClients(url, 2, poolingOf);

async function poolingOf(first: pg.Client, second: pg.Client): Promise<Pooling> {
  try {
    await second.query('begin');
    await second.query('commit');
  } catch (error) {
    // PgBouncer in statement mode, where there are no transactions.
    if (/statement pooling/.test((error as Error).message)) return 'statement';
    throw error;
  }
  const marks = { first: randomUUID(), second: randomUUID() };
  const isDirect = [await setMark(first, marks.first), await setMark(second, marks.second)].every(Boolean);
  for (let round = 0; round < (isDirect ? 1 : ROUNDS); round++) {
    // First without an open transaction, since the pooler may have only one server connection.
    if ((await readMark(first)) !== marks.first) return 'transaction';
    await second.query('begin');
    if ((await readMark(second)) !== marks.second || (await readMark(first)) !== marks.first) return 'transaction';
    await second.query('commit');
  }
  return 'session';
}

/** Whether a pooler in transaction mode prepares named statements on every server connection that runs them, as PgBouncer 1.21 can. */
export async function keepsPreparedStatements(url: string): Promise<boolean> {
  const statement = { name: `emailauth-${randomUUID()}`, text: 'select 1' };
  const prepared = new Set<number>();
  return withClients(url, 2, async (first, second) => {
    try {
      for (let tries = 0; tries < MAX_TRIES && prepared.size < 2; tries++) {
        await first.query('begin');
        prepared.add(await backendOf(first));
        await first.query(statement);
        await first.query('commit');
        await second.query('begin');
        const shared = prepared.has(await backendOf(second));
        if (shared) await second.query(statement);
        await second.query('commit');
        if (shared) return true;
      }
      return true;
    } catch (error) {
      // The other client has prepared it already, or it is only known on another server connection.
      if (['42P05', '26000'].includes(String((error as NodeJS.ErrnoException).code))) return false;
      throw error;
    }
  });
}

/**
 * Sets a mark in the session of a client.
 * @returns whether the backend is the one that BackendKeyData named (PostgreSQL's protocol, Start-up). A pooler gives its clients keys of
 *   its own, by which it cancels their statements.
 */
async function setMark(client: pg.Client, mark: string): Promise<boolean> {
  const text = "select set_config('emailauth.session', $1, false), pg_backend_pid() as pid";
  return (await client.query(text, [mark])).rows[0].pid === (client as unknown as { processID: number }).processID;
}

async function readMark(client: pg.Client): Promise<string | null> {
  return (await client.query("select current_setting('emailauth.session', true) as mark")).rows[0].mark;
}

async function backendOf(client: pg.Client): Promise<number> {
  return (await client.query('select pg_backend_pid() as pid')).rows[0].pid;
}

/** Runs `run` with as many connected clients. */
async function withClients<Result>(url: string, count: number, run: (...clients: pg.Client[]) => Promise<Result>): Promise<Result> {
  const clients = Array.from({ length: count }, () => openClient(url));
  try {
    await Promise.all(clients.map((client) => client.connect()));
    return await run(...clients);
  } finally {
    for (const client of clients) void client.end().catch(() => {});
  }
}

/** Creates a client with time-outs, for checks at the start. Errors are reported by its statements only. */
function openClient(url: string): pg.Client {
  return new DatabaseClient({
    connectionString: url,
    connectionTimeoutMillis: DATABASE_WAIT_MS,
    query_timeout: ANSWER_MS,
    application_name: 'emailauth-start',
  });
}
