import { setTimeout as sleep } from 'node:timers/promises';
import type pg from 'pg';
import { StartError } from '../start-error.ts';
import { DatabaseClient } from './client.ts';
import { createFunctions, missingFunctions, type SqlFunction } from './functions.ts';
import { LOCKS } from './locks.ts';
import {
  inShortTransaction,
  MIGRATION_NAME,
  type OnlineOptions,
  pidOf,
  plainSql,
  runOnline,
  runSeparately,
  type Step,
  type StepRun,
  titleOf,
} from './migration-steps.ts';
import { type Migration, migrations } from './migrations/migrations.ts';

/** The names of all migrations of this program, in order. */
export const MIGRATIONS: readonly string[] = migrations.map(({ name }) => name);

const POLL_MS = 200;
const CONNECT_MS = 5_000;

/** The schema belongs to a newer release. */
class SchemaNewer extends StartError {
  override name = 'SchemaNewer';
  override readonly exitCode = 6;
  readonly code = 'newer';

  constructor(found: string) {
    super(
      `The database has schema ${found}, this program knows up to ${MIGRATIONS.at(-1)}. ` +
        'Install the release of emailauth that upgraded the database, or a newer one, or restore a backup from before the upgrade.',
    );
  }
}

/** A step failed; the previous steps are kept. */
class MigrationFailed extends StartError {
  override name = 'MigrationFailed';
  readonly code = 'migration_failed';
}

type MigrateOptions = OnlineOptions & {
  /** Its abort cancels the statement in PostgreSQL, after the caller has closed the connection. */
  signal?: AbortSignal;
  /** In place of this program's, for tests. */
  migrations?: readonly Migration[];
  /** The functions that this program calls (server/signin/sql-functions.ts); those that the database lacks are created. */
  functions?: readonly SqlFunction[];
};

/**
 * Runs `work` on a separate connection without time-outs, for migrateOn.
 * @param url a direct connection, since the lock belongs to a session, which a pooler in transaction mode would share
 */
export async function onMigrationConnection<Result>(url: string, work: (client: pg.Client) => Promise<Result>): Promise<Result> {
  const client = new DatabaseClient({
    connectionString: url,
    connectionTimeoutMillis: CONNECT_MS,
    keepAlive: true,
    application_name: MIGRATION_NAME,
  });
  // An error is reported by the current statement, or by the next one.
  await client.connect();
  try {
    return await work(client);
  } finally {
    await client.end().catch(() => {});
  }
}

/** Calls migrateOn on a connection of its own. */
export function migrate(url: string, options: Omit<MigrateOptions, 'url' | 'signal'> = {}): Promise<string[]> {
  return onMigrationConnection(url, (client) => migrateOn(client, { ...options, url }));
}

/**
 * Migrates the schema while other instances are running. Instances that start at the same time wait for one another.
 * @param client a connection that the caller opened only for this, and closes afterwards
 * @param options.url of the same database
 * @returns the names of the migrations that ran
 * @throws SchemaNewer, MigrationFailed
 */
export async function migrateOn(client: pg.Client, options: MigrateOptions): Promise<string[]> {
  const { url, signal, migrations: wanted = migrations, functions = [], report = () => {} } = options;
  const before = await recordsOf(client);
  refuseNewer(before, wanted);
  const isMigrated = wanted.every(({ name }) => before.includes(name));
  if (isMigrated && (await missingFunctions(client, functions)).length === 0) return [];
  const pid = await pidOf(client);
  let cancelling: Promise<unknown> | undefined;
  const cancel = () => {
    cancelling = runSeparately(url, `select pg_cancel_backend(${pid})`).catch(() => {});
  };
  signal?.addEventListener('abort', cancel);
  try {
    await removeTimeouts(client);
    await takeLock(client, report);
    const records = await recordsOf(client);
    refuseNewer(records, wanted);
    if (records.length === 0) return await createSchema(client, wanted, options);
    const ran = await upgradeSchema(client, wanted, options);
    await inShortTransaction(client, options, () => createFunctions(client, functions)).catch((error) => {
      throw failed(FUNCTIONS, error);
    });
    return ran;
  } finally {
    signal?.removeEventListener('abort', cancel);
    await cancelling;
  }
}

const EMPTY = 'of an empty database';
const FUNCTIONS = 'of the functions';

/** Runs all migrations in one transaction, since new tables are not in use. */
function createSchema(client: pg.Client, wanted: readonly Migration[], options: MigrateOptions): Promise<string[]> {
  return inShortTransaction(client, options, () => runPlain(client, wanted, options.functions)).catch((error) => {
    throw failed(EMPTY, error);
  });
}

function upgradeSchema(client: pg.Client, wanted: readonly Migration[], options: OnlineOptions): Promise<string[]> {
  return runAll(client, wanted, (step, context) => {
    const { label } = context;
    options.report?.(label);
    return runOnline(client, step, options, context).catch((error) => {
      throw failed(label, error);
    });
  });
}

/** Prevents other processes from changing the schema until the end of the transaction; waits up to its `lock_timeout`. */
export async function lockMigrations(client: pg.ClientBase): Promise<void> {
  await client.query('select pg_advisory_xact_lock($1)', [LOCKS.migration]);
}

/** The migrations of a database. */
export type SchemaState = {
  /** Names of migrations; empty: the database does not belong to Email Auth. */
  migrations: string[];
  /** A migration that has begun and not ended. */
  unfinished: string | null;
  /** Whether a newer program has migrated it. */
  newer: boolean;
};

/** Returns which migrations have run on a database. */
export async function readSchemaState(client: pg.ClientBase): Promise<SchemaState> {
  const records = await recordsOf(client);
  return {
    migrations: records.filter((record) => !record.includes('/')),
    unfinished: records.find((record) => record.includes('/'))?.split('/')[0] ?? null,
    newer: newestUnknown(records, migrations) !== undefined,
  };
}

/**
 * Runs pending migrations in the transaction of the caller, which holds the lock, on tables that are not in use.
 * @param options.migrations only these
 * @returns the names of the migrations that ran
 */
export async function migrateWithin(
  client: pg.ClientBase,
  { migrations: wanted = MIGRATIONS, functions }: { migrations?: readonly string[]; functions?: readonly SqlFunction[] },
): Promise<string[]> {
  return runPlain(
    client,
    migrations.filter(({ name }) => wanted.includes(name)),
    functions,
  );
}

async function runPlain(client: pg.ClientBase, wanted: readonly Migration[], functions: readonly SqlFunction[] = []): Promise<string[]> {
  await client.query('create table if not exists migrations (name text primary key, at timestamptz not null default now())');
  const ran = await runAll(client, wanted, async (step, { record }) => void (await client.query(`${plainSql(step)};\n${record}`)));
  await createFunctions(client, functions);
  return ran;
}

/** Runs the steps that have no record. */
async function runAll(
  client: pg.ClientBase,
  wanted: readonly Migration[],
  perform: (step: Step, context: StepRun) => Promise<void>,
): Promise<string[]> {
  const records = await recordsOf(client);
  const pending = wanted.filter(({ name }) => !records.includes(name));
  for (const migration of pending) {
    const { name } = migration;
    const steps = 'steps' in migration ? migration.steps : [{ title: 'change the schema', sql: migration.sql }];
    for (const [index, step] of steps.entries()) {
      const number = index + 1;
      if (records.includes(`${name}/${number}`)) continue;
      const label = `${name}, step ${number} of ${steps.length}: ${titleOf(step)}`;
      const record = `insert into migrations (name) values ('${number < steps.length ? `${name}/${number}` : name}');
        ${number < steps.length ? '' : `delete from migrations where name like '${name}/%'`}`;
      await perform(step, { record, label });
    }
  }
  return pending.map(({ name }) => name);
}

/** Returns the names of completed migrations, and `NAME/n` for step n of one that is not completed. */
async function recordsOf(client: pg.ClientBase): Promise<string[]> {
  const { rows: found } = await client.query<{ exists: boolean }>("select to_regclass('migrations') is not null as exists");
  if (!found[0].exists) return [];
  return (await client.query<{ name: string }>('select name from migrations order by name')).rows.map(({ name }) => name);
}

function newestUnknown(records: string[], known: readonly Migration[]): string | undefined {
  const names = records.map((record) => record.split('/')[0]);
  return names.filter((name) => !known.some((migration) => migration.name === name)).at(-1);
}

function refuseNewer(records: string[], known: readonly Migration[]): void {
  const newest = newestUnknown(records, known);
  if (newest) throw new SchemaNewer(newest);
}

/** Turns off time-outs, including defaults of the role or the database. A statement continues when this program is killed, so its work is kept. */
async function removeTimeouts(client: pg.ClientBase): Promise<void> {
  await client.query(
    `select set_config(name, '0', false) from pg_settings where name in ('statement_timeout', 'lock_timeout', 'transaction_timeout',
       'idle_in_transaction_session_timeout', 'idle_session_timeout', 'client_connection_check_interval')`,
  );
  // Releases the lock within a minute when this machine is unreachable.
  await client.query(`set application_name = '${MIGRATION_NAME}'; set tcp_keepalives_idle = 30; set tcp_keepalives_interval = 10;
    set tcp_keepalives_count = 3`);
}

/** Polls for the lock: a statement that waits in PostgreSQL holds a snapshot, for which a concurrent index build has to wait. */
async function takeLock(client: pg.ClientBase, report: (line: string) => void): Promise<void> {
  for (let first = true; ; first = false) {
    const { rows } = await client.query<{ taken: boolean }>('select pg_try_advisory_lock($1) as taken', [LOCKS.migration]);
    if (rows[0].taken) return;
    if (first) report('Another process is migrating the database; waiting for it to finish.');
    await sleep(POLL_MS);
  }
}

function failed(label: string, error: unknown): unknown {
  const { code, message } = error as NodeJS.ErrnoException;
  const [denied, interrupted] =
    label === EMPTY
      ? ['As the owner of the database, run: grant create on schema public to the role of DATABASE_URL', 'Nothing was changed.']
      : [
          'Run `emailauth db migrate` with a DATABASE_URL of the role that owns the tables.',
          'The previous steps are kept. Remove the cause and start again; the migration continues with this step.',
        ];
  const remedy = code === '42501' ? denied : interrupted;
  return new MigrationFailed(`Migration ${label}: ${message || code}. ${remedy}`, { cause: error });
}
