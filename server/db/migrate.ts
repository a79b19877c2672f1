import type pg from 'pg';
import type { Database } from './database.ts';
import { up as signIn } from './migrations/0001-sign-in.ts';
import { up as portal } from './migrations/0002-portal.ts';
import { up as cleanUpIndexes } from './migrations/0007-clean-up-indexes.ts';

/** Append-only: a migration that has shipped is never changed. */
const migrations = [
  { name: '0001-sign-in', sql: signIn },
  { name: '0002-portal', sql: portal },
  { name: '0007-clean-up-indexes', sql: cleanUpIndexes },
];

// Any number will do, as long as every instance takes the same one.
const MIGRATION_LOCK = 4_127_001;

/** The names of all migrations of this program, in their order. */
export const MIGRATIONS: readonly string[] = migrations.map(({ name }) => name);

/**
 * Brings the schema up to date. Instances that start at once wait for one another under an advisory lock, and each
 * migration commits together with its entry in `migrations`.
 * @returns the names of the migrations that ran
 */
export async function migrate(database: Database): Promise<string[]> {
  const client = await database.core.connect();
  try {
    return await migrateOn(client);
  } finally {
    client.release();
  }
}

/** The same on a connection of the caller's. */
export async function migrateOn(client: pg.ClientBase, beforeCommit = () => {}): Promise<string[]> {
  try {
    await client.query('begin; set local statement_timeout = 0');
    await lockMigrations(client);
    const ran = await migrateWithin(client);
    beforeCommit();
    await client.query('commit');
    return ran;
  } catch (error) {
    await client.query('rollback').catch(() => {});
    throw error;
  }
}

/** Keeps every other process from changing the schema until the end of the transaction. */
export async function lockMigrations(client: pg.ClientBase): Promise<void> {
  await client.query({ text: 'select pg_advisory_xact_lock($1)', values: [MIGRATION_LOCK], query_timeout: 120_000 } as pg.QueryConfig);
}

/** The migrations that a database has had; none: it is not one of ours. */
export async function migrationsOf(client: pg.ClientBase): Promise<string[]> {
  const { rows: found } = await client.query<{ there: boolean }>("select to_regclass('migrations') is not null as there");
  return found[0].there ? executed(client) : [];
}

/**
 * Runs what has not run yet, in the transaction of a caller who holds the lock.
 * @param wanted no others than these
 * @returns the names of the migrations that ran
 */
export async function migrateWithin(client: pg.ClientBase, wanted: readonly string[] = MIGRATIONS): Promise<string[]> {
  await client.query('create table if not exists migrations (name text primary key, at timestamptz not null default now())');
  const done = await executed(client);
  if (wanted.every((name) => done.includes(name))) return [];
  // Loaded only when there is something to do: it costs a start more than all else here.
  const { Umzug } = await import('umzug');
  const umzug = new Umzug({
    migrations: migrations
      .filter(({ name }) => wanted.includes(name))
      .map(({ name, sql }) => ({ name, up: async () => void (await client.query(sql)) })),
    storage: {
      logMigration: async ({ name }) => void (await client.query('insert into migrations (name) values ($1)', [name])),
      unlogMigration: async ({ name }) => void (await client.query('delete from migrations where name = $1', [name])),
      executed: () => executed(client),
    },
    logger: undefined,
  });
  return (await umzug.up()).map(({ name }) => name);
}

async function executed(client: pg.ClientBase): Promise<string[]> {
  return (await client.query<{ name: string }>('select name from migrations order by name')).rows.map(({ name }) => name);
}
