import { setTimeout as sleep } from 'node:timers/promises';
import pg from 'pg';
import type { Log } from '../log.ts';
import { placeOf } from './address.ts';
import { LAG_SECONDS, MAX_LAG_SECONDS, ReadingClient, SESSION_SETTINGS } from './client.ts';

/** A statement that only reads; the name is that of its prepared statement. */
type ReadQuery = { name: string; text: string; values?: unknown[] };

/** What runs statements that only read. */
export type Reader = { query<Row extends pg.QueryResultRow>(query: ReadQuery): Promise<{ rows: Row[] }> };

/** The replica of DATABASE_READ_URL, and where its outages are logged. */
export type ReplicaOptions = { url: string; poolSize: number; log: Pick<Log, 'warn'> };

const CONNECT_MS = 1_500;
/** A replica that does not respond within this time leaves enough of a request's time to the primary. */
const BEGIN_MS = 800;
const QUERY_MS = 2_500;
/** How long the primary is used after a failure, so that a replica that is away does not delay every call. */
const PAUSE_MS = 5_000;
const LOG_INTERVAL_MS = 60_000;
const CATCH_UP_MS = 500;
const CATCH_UP_POLL_MS = 20;

// In a transaction, the settings apply behind every pooler. Those of the planner are explained at CORE_SETTINGS in database.ts.
const BEGIN = `begin transaction read only; set local statement_timeout = 2200; set local timezone = 'UTC';
  set local enable_seqscan = off; set local jit = off; set local max_parallel_workers_per_gather = 0`;

/** The position up to which the transactions that are visible on a server are in its write-ahead log. */
const POSITION = `select (case when pg_is_in_recovery() then pg_last_wal_replay_lsn() else pg_current_wal_flush_lsn() end)::text as position`;

class Lagging extends Error {}

/**
 * Reads statistics and exports from a replica, and from the primary while the replica cannot be used: it cannot be reached, a statement
 * fails there, or it is more than MAX_LAG_SECONDS behind.
 */
export class ReadReplica implements Reader {
  readonly #primary: pg.Pool;
  readonly #pool: pg.Pool;
  readonly #options: ReplicaOptions;
  #pausedUntil = 0;
  #loggedAt = Number.NEGATIVE_INFINITY;

  constructor(primary: pg.Pool, options: ReplicaOptions) {
    this.#primary = primary;
    this.#options = options;
    this.#pool = new pg.Pool({
      connectionString: options.url,
      max: options.poolSize,
      connectionTimeoutMillis: CONNECT_MS,
      query_timeout: QUERY_MS,
      idleTimeoutMillis: 60_000,
      keepAlive: true,
      application_name: 'emailauth-read',
      Client: ReadingClient,
      onConnect: async (client) => void (await client.query(SESSION_SETTINGS)),
    });
    this.#pool.on('error', () => {});
    this.#pool.on('connect', (client) => void client.on('error', () => {}));
  }

  /** Reads what was committed up to MAX_LAG_SECONDS ago. */
  async query<Row extends pg.QueryResultRow>(query: ReadQuery): Promise<{ rows: Row[] }> {
    return (await this.#tryReplica<Row>(query, null)) ?? this.#primary.query<Row>(query);
  }

  /** Returns a reader that sees everything that was committed before this call: the replica once it has replayed that, else the primary. */
  async upToDate(): Promise<Reader> {
    if (this.#isPaused()) return this.#primary;
    const { rows } = await this.#primary.query<{ position: string }>(POSITION);
    let usesReplica = true;
    return {
      query: async <Row extends pg.QueryResultRow>(query: ReadQuery) => {
        const result = usesReplica ? await this.#tryReplica<Row>(query, rows[0].position) : null;
        // A replica that was too late once is not waited for again.
        if (!result) usesReplica = false;
        return result ?? this.#primary.query<Row>(query);
      },
    };
  }

  connections(): { state: string; value: number }[] {
    const { totalCount, idleCount, waitingCount } = this.#pool;
    return [
      { state: 'open', value: totalCount },
      { state: 'idle', value: idleCount },
      { state: 'waiting', value: waitingCount },
    ];
  }

  close(): Promise<void> {
    return this.#pool.end();
  }

  #isPaused(): boolean {
    return Date.now() < this.#pausedUntil;
  }

  /** @returns null when the primary has to be used */
  async #tryReplica<Row extends pg.QueryResultRow>(query: ReadQuery, position: string | null): Promise<{ rows: Row[] } | null> {
    if (this.#isPaused()) return null;
    try {
      return await this.#read<Row>(query, position);
    } catch (error) {
      this.#reportFailure(error as Error);
      return null;
    }
  }

  /** @returns null when the replica has not replayed `position` in time @throws Lagging, or the error of the connection or statement */
  async #read<Row extends pg.QueryResultRow>({ text, values }: ReadQuery, position: string | null): Promise<{ rows: Row[] } | null> {
    const client = await this.#pool.connect();
    try {
      const results = await client.query({
        text: `${BEGIN}; select ${LAG_SECONDS} as lag`,
        query_timeout: BEGIN_MS,
      } as pg.QueryConfig);
      // Several statements in one message have an array of results, which the types of pg do not know.
      const { lag } = (results as unknown as pg.QueryResult<{ lag: number | null }>[]).at(-1)?.rows[0] ?? {};
      if (lag === undefined || lag === null || lag > MAX_LAG_SECONDS) throw new Lagging();
      const isCurrent = position === null || (await hasReplayed(client, position));
      // Without a name: a pooler need not keep prepared statements.
      const result = isCurrent ? await client.query<Row>({ text, values }) : null;
      await client.query('commit');
      client.release();
      return result;
    } catch (error) {
      // The next connection may lead to another host of the URL.
      client.release(true);
      throw error;
    }
  }

  #reportFailure(error: Error): void {
    this.#pausedUntil = Date.now() + PAUSE_MS;
    if (performance.now() - this.#loggedAt < LOG_INTERVAL_MS) return;
    this.#loggedAt = performance.now();
    const place = placeOf(this.#options.url);
    const cause = error instanceof Lagging ? `is more than ${MAX_LAG_SECONDS} s behind` : `cannot be used (${causeOf(error)})`;
    this.#options.log.warn(`DATABASE_READ_URL (${place}) ${cause}; statistics are read from DATABASE_URL`);
  }
}

/** Waits until a server has replayed the log up to a position; a primary always has. @returns false when it takes too long */
async function hasReplayed(client: pg.PoolClient, position: string): Promise<boolean> {
  const end = Date.now() + CATCH_UP_MS;
  while (true) {
    const { rows } = await client.query<{ replayed: boolean | null }>({
      text: 'select not pg_is_in_recovery() or pg_last_wal_replay_lsn() >= $1::pg_lsn as replayed',
      values: [position],
    });
    if (rows[0].replayed) return true;
    if (Date.now() > end) return false;
    await sleep(CATCH_UP_POLL_MS);
  }
}

/** Returns the code of an error where it has one: a message could quote values. */
const causeOf = (error: Error) => String(Object(error).code ?? error.message);
