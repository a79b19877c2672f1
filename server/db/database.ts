import pg from 'pg';
import type { Sequelize } from 'sequelize';

/** How this program reaches PostgreSQL. */
export type DatabaseRoute = {
  /** For statements and transactions; may lead through a pooler. */
  url: string;
  /** For what needs a session of its own: LISTEN, session locks, migrations. */
  directUrl: string;
  /** Whether a connection to `url` is one session of PostgreSQL; false behind a pooler in transaction mode. */
  sessions: boolean;
  /** Whether named prepared statements may be used on `url`. */
  preparedStatements: boolean;
};

/** The two pools: `core` for the sign-in core's prepared statements, `orm` for everything else. */
export type Database = {
  core: pg.Pool;
  /** Sequelize, imported on first use. */
  orm(): Promise<Sequelize>;
  /** For a server that was demoted: takes the idle connections out of use, so that the next statements open new ones. */
  reconnect(): void;
  /** Calls `listener` at every `reconnect`, which also follows a statement that found the server read-only; at most once a second. */
  onReconnect(listener: () => void): void;
  close(): Promise<void>;
};

/** Runs one statement, inside whatever transaction it belongs to. */
export type Query = (text: string, values: unknown[]) => Promise<{ rows: unknown[] }>;

// A frozen PostgreSQL must become a 503 within 3 s, so no wait for it is longer than 2.5 s.
const WAIT_MS = 2_500;
/** The server gives up first, so that only one that does not answer costs the connection. */
const STATEMENT_MS = 2_200;
const RECONNECT_PAUSE_MS = 1_000;

/** A pooler in transaction mode keeps this name on its connections after the service has ended, so it tells nobody that one serves. */
const POOLED_NAME = 'emailauth-pooled';

const ORM_SETTINGS = `set statement_timeout = ${STATEMENT_MS}; set timezone = 'UTC'`;
// The core's statements look rows up by key alone. Told so, the planner keeps to the indexes from the first row to the
// ten-millionth, also where a plan was made while the tables were empty. The little that is read is not worth a parallel worker.
const CORE_SETTINGS = `${ORM_SETTINGS}; set enable_seqscan = off; set plan_cache_mode = force_generic_plan; set jit = off;
  set max_parallel_workers_per_gather = 0`;

/** The route of a URL that leads to PostgreSQL itself. */
export const directRoute = (url: string): DatabaseRoute => ({ url, directUrl: url, sessions: true, preparedStatements: true });

/**
 * Opens the pools; connects on first use.
 * @param to a route, or the URL of a PostgreSQL without a pooler
 * @param options.poolSize connections of the core; Sequelize has as many of its own
 */
export function openDatabase(to: DatabaseRoute | string, options: { poolSize?: number } = {}): Database {
  const route = typeof to === 'string' ? directRoute(to) : to;
  const size = options.poolSize ?? 8;
  const listeners: (() => void)[] = [];
  let reconnectedAt = 0;
  let answeredAt = 0;
  let orm: Promise<Orm> | undefined;

  const dropIdle = () => {
    for (let idle = core.idleCount; idle > 0; idle--) {
      core.connect().then(
        (client) => client.release(true),
        () => {},
      );
    }
    void orm?.then(({ discardConnections }) => discardConnections());
  };
  const reconnect = () => {
    // While a server stays read-only every write fails, on a connection that the pool then closes by itself.
    if (Date.now() - reconnectedAt < RECONNECT_PAUSE_MS) return;
    reconnectedAt = Date.now();
    dropIdle();
    for (const listener of listeners) listener();
  };
  /** @param error of a statement; none: it was answered */
  const notice = (error?: unknown) => {
    if (!error) answeredAt = Date.now();
    else if (isReadOnly(error)) reconnect();
    else if (isBroken(error)) dropIdle();
    // A server that answers others in the meantime is only slow, and new connections would make it slower.
    else if (isUnanswered(error) && Date.now() - answeredAt > WAIT_MS) dropIdle();
  };

  const core = openCore(route, size);
  core.on('release', notice);
  return {
    core,
    orm: async () => {
      orm ??= openOrm(route, size, notice);
      return (await orm).sequelize;
    },
    reconnect,
    onReconnect: (listener) => void listeners.push(listener),
    close: async () => {
      await Promise.all([core.end(), orm?.then(({ sequelize }) => sequelize.close())]);
    },
  };
}

const codeOf = (error: unknown) => String(Object(error).code);
const messageOf = (error: unknown) => String(Object(error).message);

/** SQLSTATE 25006: a write on a standby, or on a server that was set read-only. */
const isReadOnly = (error: unknown) => codeOf(error) === '25006';

/** Whether the server shut down (SQLSTATEs 57P01 to 57P03) or the connection broke (class 08): others to it did so too, or will. */
const isBroken = (error: unknown) =>
  /^(?:57P0[123]|08...|ECONNRESET|EPIPE)$/.test(codeOf(error)) || messageOf(error).startsWith('Connection terminated');

/** Whether the client's own time for an answer ran out. */
const isUnanswered = (error: unknown) => messageOf(error) === 'Query read timeout';

/** A client that has the server parse every statement, for poolers that do not keep prepared statements. */
class UnpreparedClient extends pg.Client {
  override query = ((query: string | pg.QueryConfig, ...rest: []) =>
    super.query(typeof query === 'string' ? query : { ...query, name: undefined }, ...rest)) as pg.Client['query'];
}

function openCore({ url, sessions, preparedStatements }: DatabaseRoute, size: number): pg.Pool {
  const pool = new pg.Pool({
    connectionString: url,
    max: size,
    connectionTimeoutMillis: WAIT_MS,
    query_timeout: WAIT_MS,
    idleTimeoutMillis: 60_000,
    keepAlive: true,
    application_name: sessions ? 'emailauth-core' : POOLED_NAME,
    // Not in the start-up packet: PgBouncer refuses it there.
    ...(sessions && { onConnect: (client) => client.query(CORE_SETTINGS) }),
    ...(!preparedStatements && { Client: UnpreparedClient }),
  });
  // A connection that dies is replaced at the next query; without listeners, idle or in use, it would end the process.
  pool.on('error', () => {});
  return pool.on('connect', (client) => void client.on('error', () => {}));
}

/** Sequelize would set the time zone of each connection; its types do not know the option. */
const NO_SETTINGS = { keepDefaultTimezone: true };

type Orm = { sequelize: Sequelize; discardConnections(): void };

/** @param notice called after every statement, with its error if it failed */
async function openOrm({ url, sessions }: DatabaseRoute, size: number, notice: (error?: unknown) => void): Promise<Orm> {
  const { Sequelize: Orm } = await import('sequelize');
  let usable = new WeakSet<object>();
  const prepare = async (connection: pg.Client) => {
    try {
      if (sessions) await connection.query(ORM_SETTINGS);
    } catch (error) {
      void connection.end().catch(() => {});
      throw error;
    }
    usable.add(connection);
    for (const end of ['error', 'end'] as const) connection.on(end, () => void usable.delete(connection));
  };
  const sequelize = new Orm(url, {
    dialect: 'postgres',
    logging: false,
    pool: { max: size, min: 0, acquire: WAIT_MS, idle: 30_000, validate: (connection) => usable.has(connection as object) },
    retry: { max: 0 },
    dialectOptions: {
      connectionTimeoutMillis: WAIT_MS,
      query_timeout: WAIT_MS,
      keepAlive: true,
      application_name: sessions ? 'emailauth' : POOLED_NAME,
      clientMinMessages: 'ignore',
    },
    ...NO_SETTINGS,
    hooks: { afterConnect: (connection) => prepare(connection as pg.Client) },
  });
  const query = sequelize.query.bind(sequelize);
  sequelize.query = ((...statement: Parameters<typeof query>) =>
    query(...statement).then(
      (result) => {
        notice();
        return result;
      },
      (error) => {
        notice(error.original ?? error);
        throw error;
      },
    )) as typeof query;
  return {
    sequelize,
    discardConnections: () => {
      usable = new WeakSet();
    },
  };
}
