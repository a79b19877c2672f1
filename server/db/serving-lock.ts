import { setTimeout as sleep } from 'node:timers/promises';
import pg from 'pg';
import { StartError } from '../start-error.ts';
import { MIGRATING } from './online-steps.ts';
import { READ_ONLY_CAUSE } from './read-only.ts';

// Any number will do, as long as every process takes the same one.
const SERVING_LOCK = 4_127_002;
const CONNECT_MS = 2_500;
const AGAIN_MS = 500;
/** Connections of a service that has just ended take a moment to go. */
const LEAVING_MS = 3_000;
/** How often a connection that may have gone silent is tried. */
const CHECK_MS = 10_000;

/** What processes of the service call their connections. */
const SERVICE_NAMES = ['emailauth-core', 'emailauth', 'emailauth-jobs', 'emailauth-serving', MIGRATING];

/** The database is being replaced by a backup. */
class BeingRestored extends StartError {
  override name = 'BeingRestored';
  override readonly exitCode = 6;

  constructor() {
    super('The database is being restored from a backup. Start the service once that is done.');
  }
}

/** @property reconnect takes the lock again on a new connection, for when another server may answer */
export type ServingLock = { reconnect(): void; release(): Promise<void> };

/**
 * Shows, for as long as this process serves, that the database is in use: a shared advisory lock on a connection of its own,
 * taken again when that is lost. Any number of instances hold it; a restore, which takes it alone, finds none of them.
 * @param url a direct connection: the lock belongs to a session
 * @throws BeingRestored
 */
export async function holdServingLock(url: string): Promise<ServingLock> {
  const over = new AbortController();
  let held: pg.Client | null = null;

  /** @returns whether the lock is held; false when a restore has it */
  const take = async (): Promise<boolean> => {
    const client = new pg.Client({
      connectionString: url,
      connectionTimeoutMillis: CONNECT_MS,
      query_timeout: CONNECT_MS,
      keepAlive: true,
      application_name: 'emailauth-serving',
    });
    client.on('error', () => {});
    try {
      await client.connect();
      const { rows } = await client.query<{ held: boolean; cause: string | null }>(
        `select pg_try_advisory_lock_shared($1) as held, ${READ_ONLY_CAUSE} as cause`,
        [SERVING_LOCK],
      );
      // A lock on a server that was demoted keeps nobody from restoring into the new primary.
      if (rows[0].cause) throw new Error(`The server is read-only: ${rows[0].cause}`);
      if (rows[0].held && !over.signal.aborted) {
        held = client;
        client.once('end', () => {
          if (held === client) takeAgain();
        });
        return true;
      }
    } catch (error) {
      void client.end().catch(() => {});
      throw error;
    }
    void client.end().catch(() => {});
    return false;
  };

  const keepTaking = async () => {
    while (!over.signal.aborted && !(await take().catch(() => false))) await sleep(AGAIN_MS, null, { ref: false });
  };
  const takeAgain = () => {
    held = null;
    if (!over.signal.aborted) void keepTaking();
  };

  const reconnect = () => {
    const client = held;
    // Without one it is being taken already.
    if (!client) return;
    takeAgain();
    void client.end().catch(() => {});
  };
  const checking = setInterval(() => {
    const client = held;
    client?.query(`select ${READ_ONLY_CAUSE} as cause`).then(
      ({ rows }) => rows[0].cause && client === held && reconnect(),
      () => client === held && reconnect(),
    );
  }, CHECK_MS).unref();

  const first = await take().catch(() => null);
  if (first === false) {
    clearInterval(checking);
    throw new BeingRestored();
  }
  // Without a database nobody can restore it; it is taken as soon as there is one.
  if (first === null) void keepTaking();
  return {
    reconnect,
    release: async () => {
      over.abort();
      clearInterval(checking);
      await held?.end();
    },
  };
}

/** Takes the database for the transaction of `client` alone. @returns false while a process serves from it */
export async function takeFromServing(client: pg.ClientBase): Promise<boolean> {
  const { rows } = await client.query<{ taken: boolean }>('select pg_try_advisory_xact_lock($1) as taken', [SERVING_LOCK]);
  return rows[0].taken && !(await isServed(client));
}

/** Whether a process of the service, also one that has lost its lock for a moment, has connections to this database. */
async function isServed(client: pg.ClientBase): Promise<boolean> {
  const { rows } = await client.query<{ served: boolean }>(
    `select exists (select from pg_locks where locktype = 'advisory' and classid = 0 and objid = $1 and objsubid = 1 and mode = 'ShareLock'
         and database = (select oid from pg_database where datname = current_database()))
       or exists (select from pg_stat_activity where datname = current_database() and application_name = any($2)) as served`,
    [SERVING_LOCK, SERVICE_NAMES],
  );
  return rows[0].served;
}

/** Waits a moment for the connections of a service that has just ended. @returns whether nobody serves from this database */
export async function waitUntilUnserved(client: pg.ClientBase): Promise<boolean> {
  for (const end = Date.now() + LEAVING_MS; await isServed(client); await sleep(100)) if (Date.now() > end) return false;
  return true;
}
