import type pg from 'pg';
import type { Database } from './database.ts';
import { up as signIn } from './migrations/0001-sign-in.ts';
import { up as portal } from './migrations/0002-portal.ts';

/** Append-only: a migration that has shipped is never changed. */
const migrations = [
  { name: '0001-sign-in', sql: signIn },
  { name: '0002-portal', sql: portal },
];

// Any number will do, as long as every instance takes the same one.
const MIGRATION_LOCK = 4_127_001;

/**
 * Brings the schema up to date. Instances that start at once wait for one another under an advisory lock, and each
 * migration commits together with its entry in `migrations`.
 * @returns the names of the migrations that ran
 */
export async function migrate(database: Database): Promise<string[]> {
  const client = await database.core.connect();
  try {
    await client.query('begin; set local statement_timeout = 0');
    await client.query({ text: 'select pg_advisory_xact_lock($1)', values: [MIGRATION_LOCK], query_timeout: 120_000 } as pg.QueryConfig);
    await client.query('create table if not exists migrations (name text primary key, at timestamptz not null default now())');
    const executed = async () =>
      (await client.query<{ name: string }>('select name from migrations order by name')).rows.map((row) => row.name);
    const done = await executed();
    if (migrations.every(({ name }) => done.includes(name))) {
      await client.query('commit');
      return [];
    }
    // Loaded only when there is something to do: it costs a start more than all else here.
    const { Umzug } = await import('umzug');
    const umzug = new Umzug({
      migrations: migrations.map(({ name, sql }) => ({ name, up: async () => void (await client.query(sql)) })),
      storage: {
        logMigration: async ({ name }) => void (await client.query('insert into migrations (name) values ($1)', [name])),
        unlogMigration: async ({ name }) => void (await client.query('delete from migrations where name = $1', [name])),
        executed,
      },
      logger: undefined,
    });
    const ran = await umzug.up();
    await client.query('commit');
    return ran.map((migration) => migration.name);
  } catch (error) {
    await client.query('rollback').catch(() => {});
    throw error;
  } finally {
    client.release();
  }
}
