import pg from 'pg';
import type { Sequelize } from 'sequelize';

/** The two ways to PostgreSQL: `core` for the sign-in core's prepared statements, `orm` for everything else. */
export type Database = {
  core: pg.Pool;
  /** Sequelize, imported on first use. */
  orm(): Promise<Sequelize>;
  close(): Promise<void>;
};

/** Runs one statement, inside whatever transaction it belongs to. */
export type Query = (text: string, values: unknown[]) => Promise<{ rows: unknown[] }>;

// A frozen PostgreSQL must become a 503 within 3 s, so no wait for it is longer than 2.5 s.
const WAIT_MS = 2_500;

// The core's statements look rows up by key alone. Told so, the planner keeps to the indexes from the first row to the
// ten-millionth, also where a plan was made while the tables were empty. The little that is read is not worth a parallel worker.
const CORE_SETTINGS = [
  '-c enable_seqscan=off',
  '-c plan_cache_mode=force_generic_plan',
  '-c jit=off',
  '-c max_parallel_workers_per_gather=0',
  `-c statement_timeout=${WAIT_MS}`,
  '-c timezone=UTC',
].join(' ');

/**
 * Opens the pools; connects on first use.
 * @param url a PostgreSQL URL
 * @param options.poolSize connections of the core; Sequelize has as many of its own
 */
export function openDatabase(url: string, options: { poolSize?: number } = {}): Database {
  const size = options.poolSize ?? 8;
  const core = new pg.Pool({
    connectionString: url,
    max: size,
    connectionTimeoutMillis: WAIT_MS,
    query_timeout: WAIT_MS,
    idleTimeoutMillis: 60_000,
    keepAlive: true,
    application_name: 'emailauth-core',
    options: CORE_SETTINGS,
  });
  // A connection that dies is replaced at the next query; without listeners, idle or in use, it would end the process.
  core.on('error', () => {});
  core.on('connect', (client) => void client.on('error', () => {}));
  let orm: Promise<Sequelize> | undefined;
  return {
    core,
    orm: () => {
      orm ??= openOrm(url, size);
      return orm;
    },
    close: async () => {
      await Promise.all([core.end(), orm?.then((opened) => opened.close())]);
    },
  };
}

async function openOrm(url: string, size: number): Promise<Sequelize> {
  const { Sequelize: Orm } = await import('sequelize');
  return new Orm(url, {
    dialect: 'postgres',
    logging: false,
    pool: { max: size, min: 0, acquire: WAIT_MS, idle: 30_000 },
    retry: { max: 0 },
    dialectOptions: {
      connectionTimeoutMillis: WAIT_MS,
      statement_timeout: WAIT_MS,
      query_timeout: WAIT_MS,
      keepAlive: true,
      application_name: 'emailauth',
    },
  });
}
