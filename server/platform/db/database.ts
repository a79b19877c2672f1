import pg from 'pg';
import type { Sequelize, Transaction } from 'sequelize';
import { poolConnections, poolWaitSeconds } from '../metrics/metrics.ts';
import { DATABASE_WAIT_MS, DatabaseClient, disconnect, isBroken, isReadOnly, isUnanswered, SESSION_SETTINGS } from './client.ts';
import type { Orm } from './models.ts';

/** How this program connects to PostgreSQL. */
export type DatabaseRoute = {
  /** For statements and transactions; may be the address of a pooler. */
  url: string;
  /** For what needs its own session: LISTEN, session locks, migrations. */
  directUrl: string;
  /** Whether a connection to `url` is one session of PostgreSQL; false behind a pooler in transaction mode. */
  sessions: boolean;
  /** Whether named prepared statements may be used on `url`. */
  preparedStatements: boolean;
};

/** Runs one statement, in the transaction that it belongs to. */
export type Query = (text: string, values: unknown[]) => Promise<{ rows: unknown[] }>;

/** Runs one statement, as graphile-worker's `query` for a task does. */
export type JobQuery = <Row extends object>(text: string, values?: unknown[]) => Promise<{ rows: Row[] }>;

/** What a pool calls with a connection. */
export type OnConnection = Parameters<pg.Pool['connect']>[0];

/** The server cancels a statement so much earlier, so that only a server that does not respond costs the connection. */
const CANCELLED_EARLIER_MS = 300;
const RECONNECT_PAUSE_MS = 1_000;

/** A pooler in transaction mode keeps this name on its connections after the service has stopped, so it does not show that one is serving. */
const POOLED_NAME = 'emailauth-pooled';

/** An SQL expression: whether the statement is one of a service in local mode. A pooler in transaction mode keeps no settings: false. */
export const IS_LOCAL = "coalesce(current_setting('emailauth.mode', true) = 'local', false)";
const ormSettings = ({ waitMs, isLocal }: PoolOptions) =>
  `set statement_timeout = ${waitMs - CANCELLED_EARLIER_MS}; ${SESSION_SETTINGS}; set emailauth.mode = '${isLocal ? 'local' : 'production'}'`;
// The core's statements look up rows by key only. With these settings the planner uses the indexes for tables of any size, also in a
// plan that was made while the tables were empty. The little that is read is not worth a parallel worker.
const CORE_SETTINGS = `set enable_seqscan = off; set plan_cache_mode = force_generic_plan; set jit = off;
  set max_parallel_workers_per_gather = 0`;

type PoolOptions = {
  /** Connections of the core; Sequelize has as many more. */
  poolSize: number;
  /** How long anything waits for a connection or a response. */
  waitMs: number;
  /** Whether the service is in local mode, as IS_LOCAL tells statements. */
  isLocal: boolean;
};

/** Returns the route of a URL that leads to PostgreSQL itself. */
export const directRoute = (url: string): DatabaseRoute => ({ url, directUrl: url, sessions: true, preparedStatements: true });

/**
 * Opens the pools; they connect on first use.
 * @param to a route, or the URL of a PostgreSQL without a pooler
 */
export function openDatabase(
  to: DatabaseRoute | string,
  { poolSize = 8, waitMs = DATABASE_WAIT_MS, isLocal = false }: Partial<PoolOptions> = {},
): Database {
  return new Database(typeof to === 'string' ? directRoute(to) : to, { poolSize, waitMs, isLocal });
}

/** The pools: `core` for the prepared statements of the sign-in core, statistics and exports, `orm` for everything else. */
export class Database {
  readonly core: pg.Pool;
  readonly route: DatabaseRoute;
  readonly #options: PoolOptions;
  readonly #listeners: (() => void)[] = [];
  #reconnectedAt = 0;
  #respondedAt = 0;
  #orm: Promise<OpenOrm> | undefined;

  constructor(route: DatabaseRoute, options: PoolOptions) {
    this.route = route;
    this.#options = options;
    this.core = openCore(route, options);
    this.core.on('release', (error) => this.#observe(error));
    poolConnections.readBy(() => [
      { labels: { state: 'open' }, value: this.core.totalCount },
      { labels: { state: 'idle' }, value: this.core.idleCount },
      { labels: { state: 'waiting' }, value: this.core.waitingCount },
    ]);
  }

  /** Returns the models. Sequelize is imported on first use. */
  async orm(): Promise<Orm> {
    this.#orm ??= openOrm(this.route, this.#options, (error) => this.#observe(error));
    return (await this.#orm).orm;
  }

  /** Takes the idle connections out of use, so that the next statements open new ones: for a server that was demoted. */
  reconnect(): void {
    // While a server stays read-only every write fails, on a connection that the pool then closes by itself.
    if (Date.now() - this.#reconnectedAt < RECONNECT_PAUSE_MS) return;
    this.#reconnectedAt = Date.now();
    this.#discardIdle();
    for (const listener of this.#listeners) listener();
  }

  /** Calls `listener` at every `reconnect`, which also follows a statement that found the server read-only; at most once a second. */
  onReconnect(listener: () => void): void {
    this.#listeners.push(listener);
  }

  /**
   * Runs `work` on a connection of its own, for what takes longer than the time-outs of the pools.
   * @param maxMs then the connection is closed, which rolls back what has not committed
   */
  async onOwnConnection<Result>(maxMs: number, work: (client: pg.ClientBase) => Promise<Result>): Promise<Result> {
    const client = new DatabaseClient({
      connectionString: this.route.directUrl,
      connectionTimeoutMillis: this.#options.waitMs,
      keepAlive: true,
      application_name: 'emailauth-alone',
    });
    const timer = setTimeout(() => disconnect(client), maxMs);
    try {
      await client.connect();
      // The server does not notice that a connection is closed before its statement ends.
      await client.query(`set statement_timeout = ${maxMs}; ${SESSION_SETTINGS}`);
      return await work(client);
    } finally {
      clearTimeout(timer);
      void client.end().catch(() => {});
    }
  }

  async close(): Promise<void> {
    await Promise.all([this.core.end(), this.#orm?.then(({ orm }) => orm.sequelize.close())]);
  }

  /** @param error of a statement; undefined: it succeeded */
  #observe(error?: unknown): void {
    if (!error) this.#respondedAt = Date.now();
    else if (isReadOnly(error)) this.reconnect();
    else if (isBroken(error)) this.#discardIdle();
    // A server that responds to other statements meanwhile is only slow, and new connections would make it slower.
    else if (isUnanswered(error) && Date.now() - this.#respondedAt > this.#options.waitMs) this.#discardIdle();
  }

  #discardIdle(): void {
    for (let idle = this.core.idleCount; idle > 0; idle--) {
      this.core.connect().then(
        (client) => client.release(true),
        () => {},
      );
    }
    void this.#orm?.then(({ discardConnections }) => discardConnections());
  }
}

/** Runs a prepared statement inside the transaction. */
type PreparedQuery = <Row extends pg.QueryResultRow>(name: string, text: string, values: unknown[]) => Promise<Row[]>;

/** Runs `work` in one READ COMMITTED transaction, which is rolled back when it throws. */
export async function inTransaction<Result>(pool: pg.Pool, work: (query: PreparedQuery, plain: Query) => Promise<Result>): Promise<Result> {
  const client = await pool.connect();
  try {
    await client.query('begin');
    const result = await work(
      async (name, text, values) => (await client.query({ name, text, values })).rows,
      (text, values) => client.query(text, values),
    );
    await client.query('commit');
    client.release();
    return result;
  } catch (error) {
    // Closes the connection, which rolls back even if the server does not respond, and lets the pool see the cause.
    client.release(error as Error);
    throw error;
  }
}

/** Returns a function that runs statements in a transaction of the models. */
export function queryOf(sequelize: Sequelize, transaction: Transaction): Query {
  return async (text, values) => ({ rows: (await sequelize.query(text, { bind: values, transaction }))[0] });
}

/** Whether an error of Sequelize is a second record with the same value of a unique column. */
export const isUniqueViolation = (error: unknown): boolean => Object(error).name === 'SequelizeUniqueConstraintError';

/** A client that has the server parse every statement, for poolers that do not keep prepared statements. */
class UnpreparedClient extends DatabaseClient {
  override query = ((query: string | pg.QueryConfig, ...rest: []) =>
    super.query(typeof query === 'string' ? query : { ...query, name: undefined }, ...rest)) as pg.Client['query'];
}

/** A pool that measures how long each statement waits for a connection. */
class MeasuredPool extends pg.Pool {
  override connect = ((callback?: OnConnection) => {
    const start = performance.now();
    if (!callback) return super.connect().finally(() => CORE_WAIT.observe((performance.now() - start) / 1000));
    super.connect((error, client, release) => {
      CORE_WAIT.observe((performance.now() - start) / 1000);
      callback(error, client, release);
    });
  }) as pg.Pool['connect'];
}

const CORE_WAIT = poolWaitSeconds.with('core');
const ORM_WAIT = poolWaitSeconds.with('orm');

function openCore({ url, sessions, preparedStatements }: DatabaseRoute, options: PoolOptions): pg.Pool {
  const { poolSize, waitMs } = options;
  const pool = new MeasuredPool({
    connectionString: url,
    max: poolSize,
    connectionTimeoutMillis: waitMs,
    query_timeout: waitMs,
    idleTimeoutMillis: 60_000,
    keepAlive: true,
    application_name: sessions ? 'emailauth-core' : POOLED_NAME,
    // Not in the start-up packet: PgBouncer refuses it there.
    ...(sessions && { onConnect: (client) => client.query(`${ormSettings(options)}; ${CORE_SETTINGS}`) }),
    Client: preparedStatements ? DatabaseClient : UnpreparedClient,
  });
  // An idle connection that fails is replaced at the next query; without a listener its error would end the process.
  return pool.on('error', () => {});
}

/** Keeps Sequelize from setting the time zone of each connection; its types lack the option. */
const NO_SETTINGS = { keepDefaultTimezone: true };

type OpenOrm = { orm: Orm; discardConnections(): void };

/** @param observe called after every statement, with its error if it failed */
async function openOrm({ url, sessions }: DatabaseRoute, options: PoolOptions, observe: (error?: unknown) => void): Promise<OpenOrm> {
  const { poolSize, waitMs, isLocal } = options;
  const [sequelizePackage, { defineModels }] = await Promise.all([import('sequelize'), import('./models.ts')]);
  let usable = new WeakSet<object>();
  const prepare = async (connection: pg.Client) => {
    try {
      if (sessions) await connection.query(ormSettings(options));
    } catch (error) {
      void connection.end().catch(() => {});
      throw error;
    }
    usable.add(connection);
    for (const end of ['error', 'end'] as const) connection.on(end, () => void usable.delete(connection));
  };
  class OrmClient extends DatabaseClient {
    constructor(config: pg.ClientConfig) {
      super({ ...config, connectionString: url });
    }
  }
  const sequelize = new sequelizePackage.Sequelize({
    dialect: 'postgres',
    // Sequelize's own parser of URLs knows fewer parameters than `pg`.
    dialectModule: { ...pg, Client: OrmClient },
    logging: false,
    pool: { max: poolSize, min: 0, acquire: waitMs, idle: 30_000, validate: (connection) => usable.has(connection as object) },
    retry: { max: 0 },
    // Tables and columns have the names of the models in snake case; times are defaults of the database.
    define: { underscored: true, timestamps: false },
    dialectOptions: {
      connectionTimeoutMillis: waitMs,
      query_timeout: waitMs,
      keepAlive: true,
      application_name: sessions ? 'emailauth' : POOLED_NAME,
      clientMinMessages: 'ignore',
    },
    ...NO_SETTINGS,
    hooks: { afterConnect: (connection) => prepare(connection as pg.Client) },
  });
  observeStatements(sequelize, observe);
  measureWaits(sequelize);
  return {
    orm: defineModels(sequelize, isLocal),
    discardConnections: () => {
      usable = new WeakSet();
    },
  };
}

/** Has `observe` called after every statement, those of the models and of transactions included. */
function observeStatements(sequelize: Sequelize, observe: (error?: unknown) => void): void {
  const query = sequelize.query.bind(sequelize);
  sequelize.query = ((...statement: Parameters<typeof query>) =>
    query(...statement).then(
      (result) => {
        observe();
        return result;
      },
      (error) => {
        observe(error.original ?? error);
        throw error;
      },
    )) as typeof query;
}

/** Measures how long each statement of Sequelize waits for a connection. */
function measureWaits({ connectionManager }: Sequelize): void {
  const getConnection = connectionManager.getConnection.bind(connectionManager);
  connectionManager.getConnection = (options) => {
    const start = performance.now();
    return getConnection(options).finally(() => ORM_WAIT.observe((performance.now() - start) / 1000));
  };
}
