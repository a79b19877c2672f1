import { setTimeout as sleep } from 'node:timers/promises';
import type pg from 'pg';
import { fingerprintOf } from '../secrets.ts';
import { StartError } from '../start-error.ts';
import { DATABASE_WAIT_MS, DatabaseClient, READ_ONLY_CAUSE, SESSION_SETTINGS } from './client.ts';
import { LOCKS } from './locks.ts';
import { MIGRATION_NAME } from './migration-steps.ts';

const RETRY_MS = 500;
/** How long PostgreSQL may take to close the connections of a service that has just stopped. */
const DISCONNECT_MS = 3_000;
/** How often the connection is checked, since it may break without an error. */
const CHECK_MS = 10_000;

/** The application_name of the service's connections. */
const SERVICE_NAMES = ['emailauth-core', 'emailauth', 'emailauth-jobs', 'emailauth-serving', MIGRATION_NAME];

/** A backup is being restored into the database. */
class BeingRestored extends StartError {
  override name = 'BeingRestored';
  override readonly exitCode = 6;

  constructor() {
    super('The database is being restored from a backup. Start the service when that has finished.');
  }
}

/**
 * Marks the database as in use while this process serves, by a shared advisory lock on a separate connection, which is taken again
 * when the connection is lost. Any number of instances can hold it; a restore takes it exclusively.
 * @param url a direct connection, since the lock belongs to a session
 * @param secretKey of this instance, by whose own lock instances with another one see that this one is running
 * @throws BeingRestored
 */
export async function holdServingLock(url: string, secretKey: Buffer): Promise<ServingLock> {
  const lock = new ServingLock(url, secretKey);
  await lock.start();
  return lock;
}

class ServingLock {
  readonly #url: string;
  readonly #secretKey: Buffer;
  /** The connection that holds the lock; null while it is being taken. */
  #client: pg.Client | null = null;
  #timer: NodeJS.Timeout | undefined;
  #isReleased = false;

  constructor(url: string, secretKey: Buffer) {
    this.#url = url;
    this.#secretKey = secretKey;
  }

  /** @throws BeingRestored */
  async start(): Promise<void> {
    const isHeld = await this.#take().catch(() => null);
    if (isHeld === false) throw new BeingRestored();
    // Without a database connection, a restore is not possible either. The lock is taken once there is one.
    if (isHeld === null) void this.#keepTaking();
    this.#timer = setInterval(() => this.#check(), CHECK_MS).unref();
  }

  /** Takes the lock again on a new connection, which may reach a different server. */
  reconnect(): void {
    const client = this.#client;
    // Without a connection the lock is being taken already.
    if (!client) return;
    this.#takeAgain();
    void client.end().catch(() => {});
  }

  async release(): Promise<void> {
    this.#isReleased = true;
    clearInterval(this.#timer);
    await this.#client?.end();
  }

  /** @returns false when a restore holds the lock @throws Error when the database is not available or read-only */
  async #take(): Promise<boolean> {
    const client = new DatabaseClient({
      connectionString: this.#url,
      connectionTimeoutMillis: DATABASE_WAIT_MS,
      query_timeout: DATABASE_WAIT_MS,
      keepAlive: true,
      application_name: 'emailauth-serving',
    });
    try {
      await client.connect();
      await client.query(SESSION_SETTINGS);
      const { rows } = await client.query<{ held: boolean; cause: string | null }>(
        `select pg_try_advisory_lock_shared($1) as held, pg_try_advisory_lock_shared($2, $3), ${READ_ONLY_CAUSE} as cause`,
        [LOCKS.serving, LOCKS.secretKey, lockOf(this.#secretKey)],
      );
      // A lock on a demoted server would not prevent a restore into the new primary.
      if (rows[0].cause) throw new Error(`The server is read-only: ${rows[0].cause}`);
      if (rows[0].held && !this.#isReleased) {
        this.#client = client;
        client.once('end', () => {
          if (this.#client === client) this.#takeAgain();
        });
        return true;
      }
    } catch (error) {
      void client.end().catch(() => {});
      throw error;
    }
    void client.end().catch(() => {});
    return false;
  }

  #takeAgain(): void {
    this.#client = null;
    if (!this.#isReleased) void this.#keepTaking();
  }

  async #keepTaking(): Promise<void> {
    while (!this.#isReleased && !(await this.#take().catch(() => false))) await sleep(RETRY_MS, null, { ref: false });
  }

  #check(): void {
    const client = this.#client;
    client?.query(`select ${READ_ONLY_CAUSE} as cause`).then(
      ({ rows }) => rows[0].cause && client === this.#client && this.reconnect(),
      () => client === this.#client && this.reconnect(),
    );
  }
}

/** Returns whether an instance with this SECRET_KEY is running. */
export async function isServingWith(database: pg.Pool | pg.ClientBase, secretKey: Buffer): Promise<boolean> {
  const { rows } = await database.query<{ held: boolean }>(
    `select exists (select from pg_locks where locktype = 'advisory' and classid = $1::int and objid::bigint = $2::bigint and objsubid = 2
       and database = (select oid from pg_database where datname = current_database())) as held`,
    [LOCKS.secretKey, lockOf(secretKey) >>> 0],
  );
  return rows[0].held;
}

/** Returns the number of the lock, a part of the key's fingerprint as a signed integer of 32 bits. */
const lockOf = (secretKey: Buffer) => fingerprintOf(secretKey).readInt32BE(0);

/** Locks the database for the transaction of `client` only. @returns false while the service is using it */
export async function lockOutService(client: pg.ClientBase): Promise<boolean> {
  const { rows } = await client.query<{ taken: boolean }>('select pg_try_advisory_xact_lock($1) as taken', [LOCKS.serving]);
  return rows[0].taken && !(await isInUse(client));
}

/** Whether the service has connections to this database, including one whose lock is lost for a moment. */
async function isInUse(client: pg.ClientBase): Promise<boolean> {
  const { rows } = await client.query<{ in_use: boolean }>(
    `select exists (select from pg_locks where locktype = 'advisory' and classid = 0 and objid = $1 and objsubid = 1 and mode = 'ShareLock'
         and database = (select oid from pg_database where datname = current_database()))
       or exists (select from pg_stat_activity where datname = current_database() and application_name = any($2)) as in_use`,
    [LOCKS.serving, SERVICE_NAMES],
  );
  return rows[0].in_use;
}

/** Waits for the connections of a service that has just stopped. @returns false when the service still uses this database */
export async function waitUntilUnused(client: pg.ClientBase): Promise<boolean> {
  for (const end = Date.now() + DISCONNECT_MS; await isInUse(client); await sleep(100)) if (Date.now() > end) return false;
  return true;
}
