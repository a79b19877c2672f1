import { setTimeout as sleep } from 'node:timers/promises';
import pg from 'pg';
import { StartError } from '../start-error.ts';
import { up as signIn } from './migrations/0001-sign-in.ts';
import { steps as portal } from './migrations/0002-portal.ts';
import { up as installation } from './migrations/0003-installation.ts';
import { steps as deviceSessions } from './migrations/0004-device-sessions.ts';
import { up as domainClaims } from './migrations/0005-domain-claims.ts';
import { steps as cleanUpIndexes } from './migrations/0006-clean-up-indexes.ts';
import { plainSql, type Step, titleOf } from './migrations/steps.ts';
import { inShortTransaction, MIGRATING, type OnlineOptions, performOnline, pidOf, runOn } from './online-steps.ts';

/** `sql`: the whole migration is one step. */
export type Migration = { name: string } & ({ sql: string } | { steps: readonly Step[] });

/** Append-only: a migration that has shipped is never changed. How to write one is in docs/architecture.md. */
const migrations: readonly Migration[] = [
  { name: '0001-sign-in', sql: signIn },
  { name: '0002-portal', steps: portal },
  { name: '0003-installation', sql: installation },
  { name: '0004-device-sessions', steps: deviceSessions },
  { name: '0005-domain-claims', sql: domainClaims },
  { name: '0006-clean-up-indexes', steps: cleanUpIndexes },
];

/** The names of all migrations of this program, in their order. */
export const MIGRATIONS: readonly string[] = migrations.map(({ name }) => name);

// Any numbers will do, as long as every instance takes the same ones.
/** Held by a session during the whole of a migration. */
const MIGRATION_LOCK = 4_127_003;
/**
 * Held within transactions alone. Programs up to schema 0002 wait for this one with a snapshot, which an index that is built
 * concurrently would wait for in its turn.
 */
const SCHEMA_LOCK = 4_127_001;
const TAKE_SCHEMA_LOCK = `select pg_advisory_xact_lock(${SCHEMA_LOCK})`;

const POLL_MS = 200;
const CONNECT_MS = 5_000;

/** The schema was made by a newer release. */
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

/** A step failed; the steps before it are kept. */
class MigrationFailed extends StartError {
  override name = 'MigrationFailed';
  readonly code = 'migration_failed';
}

type MigrateOptions = OnlineOptions & {
  /** Its abort ends the statement that PostgreSQL runs, after the caller has cut off the connection. */
  signal?: AbortSignal;
  /** Others than this program's. */
  migrations?: readonly Migration[];
};

/**
 * Brings the schema up to date while other instances serve, on a connection of its own without time-outs. Instances that
 * start at once wait for one another.
 * @param url a direct connection: the lock belongs to a session, which a pooler in transaction mode would share
 * @returns the names of the migrations that ran
 * @throws SchemaNewer, MigrationFailed
 */
export async function migrate(url: string, options: Omit<MigrateOptions, 'url' | 'signal'> = {}): Promise<string[]> {
  const client = new pg.Client({
    connectionString: url,
    connectionTimeoutMillis: CONNECT_MS,
    keepAlive: true,
    application_name: MIGRATING,
  });
  // An error shows at the statement under way, or at the next one.
  client.on('error', () => {});
  await client.connect();
  try {
    return await migrateOn(client, { ...options, url });
  } finally {
    await client.end().catch(() => {});
  }
}

/**
 * The same on a connection that the caller opened for this alone, and closes afterwards.
 * @param options.url of the same database
 */
export async function migrateOn(client: pg.Client, options: MigrateOptions): Promise<string[]> {
  const { url, signal, migrations: wanted = migrations, report = () => {} } = options;
  const before = await recordsOf(client);
  refuseNewer(before, wanted);
  if (wanted.every(({ name }) => before.includes(name))) return [];
  const pid = await pidOf(client);
  let cancelling: Promise<unknown> | undefined;
  const cancel = () => {
    cancelling = runOn(url, `select pg_cancel_backend(${pid})`).catch(() => {});
  };
  signal?.addEventListener('abort', cancel);
  try {
    await removeTimeouts(client);
    await takeLock(client, report);
    const records = await recordsOf(client);
    refuseNewer(records, wanted);
    return records.length === 0 ? await createSchema(client, wanted, options) : await upgradeSchema(client, wanted, options);
  } finally {
    signal?.removeEventListener('abort', cancel);
    await cancelling;
  }
}

/** Runs all migrations in one transaction: nobody waits for tables that are not there yet. */
function createSchema(client: pg.Client, wanted: readonly Migration[], options: OnlineOptions): Promise<string[]> {
  return inShortTransaction(client, options, TAKE_SCHEMA_LOCK, () => runPlain(client, wanted)).catch((error) => {
    throw failed('of an empty database', error);
  });
}

function upgradeSchema(client: pg.Client, wanted: readonly Migration[], options: OnlineOptions): Promise<string[]> {
  return runAll(client, wanted, (step, { migration, record, label }) => {
    options.report?.(label);
    const isRecorded = async () => (await recordsOf(client)).includes(migration);
    return performOnline(client, step, options, { label, begin: TAKE_SCHEMA_LOCK, record, isRecorded }).catch((error) => {
      throw failed(label, error);
    });
  });
}

/** Keeps every other process from changing the schema until the end of the transaction, or waits for its `lock_timeout`. */
export async function lockMigrations(client: pg.ClientBase): Promise<void> {
  await client.query('select pg_advisory_xact_lock($1), pg_advisory_xact_lock($2)', [MIGRATION_LOCK, SCHEMA_LOCK]);
}

/** The migrations of a database. */
export type SchemaState = {
  /** Names of migrations; none: the database is not one of ours. */
  migrations: string[];
  /** One that was begun and has not ended. */
  unfinished: string | null;
  /** Whether a newer program has changed it. */
  newer: boolean;
};

/** Returns which migrations a database has had. */
export async function readSchemaState(client: pg.ClientBase): Promise<SchemaState> {
  const records = await recordsOf(client);
  return {
    migrations: records.filter((record) => !record.includes('/')),
    unfinished: records.find((record) => record.includes('/'))?.split('/')[0] ?? null,
    newer: newestUnknown(records, migrations) !== undefined,
  };
}

/**
 * Runs what has not run yet in the transaction of a caller, who holds the lock, on tables that nobody else uses.
 * @param wanted no others than these
 * @returns the names of the migrations that ran
 */
export async function migrateWithin(client: pg.ClientBase, wanted: readonly string[] = MIGRATIONS): Promise<string[]> {
  return runPlain(
    client,
    migrations.filter(({ name }) => wanted.includes(name)),
  );
}

async function runPlain(client: pg.ClientBase, wanted: readonly Migration[]): Promise<string[]> {
  await client.query('create table if not exists migrations (name text primary key, at timestamptz not null default now())');
  return runAll(client, wanted, async (step, { record }) => void (await client.query(`${plainSql(step)};\n${record}`)));
}

/** What a step is run with. `record`: the SQL that notes it as done, for the same transaction. */
type StepContext = { migration: string; record: string; label: string };

/** Runs the steps that have no record yet. */
async function runAll(
  client: pg.ClientBase,
  wanted: readonly Migration[],
  perform: (step: Step, context: StepContext) => Promise<void>,
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
      await perform(step, { migration: name, record, label });
    }
  }
  return pending.map(({ name }) => name);
}

/** Returns the names of migrations that have ended, and `NAME/n` for step n of one that has not. */
async function recordsOf(client: pg.ClientBase): Promise<string[]> {
  const { rows: found } = await client.query<{ there: boolean }>("select to_regclass('migrations') is not null as there");
  if (!found[0].there) return [];
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

/** Also those that the role or the database has as its defaults. A statement goes on when this program is killed: its work is not lost. */
async function removeTimeouts(client: pg.ClientBase): Promise<void> {
  await client.query(
    `select set_config(name, '0', false) from pg_settings where name in ('statement_timeout', 'lock_timeout', 'transaction_timeout',
       'idle_in_transaction_session_timeout', 'idle_session_timeout', 'client_connection_check_interval')`,
  );
  // A machine that is gone holds the lock no longer than a minute.
  await client.query(`set application_name = '${MIGRATING}'; set tcp_keepalives_idle = 30; set tcp_keepalives_interval = 10;
    set tcp_keepalives_count = 3`);
}

/** Asks again and again: a statement that waits in PostgreSQL has a snapshot, which an index that is built concurrently waits for. */
async function takeLock(client: pg.ClientBase, report: (line: string) => void): Promise<void> {
  for (let first = true; ; first = false) {
    const { rows } = await client.query<{ taken: boolean }>('select pg_try_advisory_lock($1) as taken', [MIGRATION_LOCK]);
    if (rows[0].taken) return;
    if (first) report('Another process migrates the database; waiting until it has ended.');
    await sleep(POLL_MS);
  }
}

function failed(label: string, error: unknown): unknown {
  const { code, message } = error as NodeJS.ErrnoException;
  const remedy =
    code === '42501'
      ? 'Run `emailauth db migrate` with a DATABASE_URL of the role that owns the tables.'
      : 'The steps before it are kept. Remove the cause and start again: it goes on with this step.';
  return new MigrationFailed(`Migration ${label}: ${message || code}. ${remedy}`, { cause: error });
}
