import pg from 'pg';

/** A row of `oidc_keys`: a signing key, or a salt, whose algorithm is null. */
export type KeyRow = { kid: string; algorithm: string | null; encrypted: Buffer };

/** A signing key that is published. */
export type StoredKey = KeyRow & {
  /** It signs, or has signed. */
  started: boolean;
};

/** How a rotation treats the keys that sign until then. */
export type Rotation = {
  /** How long the new keys are published before they sign. */
  publishedAheadSeconds: number;
  /** How long the former keys stay published after they have stopped to sign; null: they become invalid immediately. */
  keptSeconds: number | null;
};

// An arbitrary number, the same in every process: one instance at a time changes the keys.
const LOCK = 4_127_005;

const READ = `
select kid, algorithm, encrypted, signs_from <= now() as started from oidc_keys
where published_until is null or published_until > now()
order by signs_from, kid`;

const ADD = `
insert into oidc_keys (kid, algorithm, encrypted, signs_from)
select kid, algorithm, encrypted, now() + $4 * interval '1 second'
from unnest($1::text[], $2::text[], $3::bytea[]) as given (kid, algorithm, encrypted)`;

const END_FORMER = `
update oidc_keys set signs_until = now() + $1 * interval '1 second', published_until = now() + ($1 + $2) * interval '1 second'
where algorithm is not null and signs_until is null`;

/** Returns the published keys and the salts, in the order in which they begin to be used. */
export async function readKeys(database: pg.Pool | pg.ClientBase): Promise<StoredKey[]> {
  return (await database.query<StoredKey>(READ)).rows;
}

/** Inserts keys of which no other of the same algorithm can be read by this instance; another instance may have inserted its own first. */
export async function addMissingKeys(pool: pg.Pool, rows: readonly KeyRow[], isReadable: (row: KeyRow) => boolean): Promise<void> {
  await withLock(pool, async (client) => {
    const stored = (await readKeys(client)).filter((row) => (row.started || row.algorithm === null) && isReadable(row));
    const missing = rows.filter(({ algorithm }) => !stored.some((row) => row.algorithm === algorithm));
    if (missing.length > 0) await client.query(ADD, [...columnsOf(missing), 0]);
  });
}

/**
 * Inserts new signing keys and ends the former ones.
 * @param newKeys makes them; called only when they are needed
 * @param minAgeSeconds nothing is changed when there is no key, or one that is younger
 * @returns whether the keys were changed
 */
export async function replaceKeys(
  database: pg.Pool | pg.Client,
  newKeys: () => Promise<KeyRow[]>,
  { publishedAheadSeconds, keptSeconds }: Rotation,
  minAgeSeconds: number,
): Promise<boolean> {
  if (minAgeSeconds > 0 && !(await areOld(database, minAgeSeconds))) return false;
  const rows = await newKeys();
  return withLock(database, async (client) => {
    // Another instance may have replaced them meanwhile.
    if (minAgeSeconds > 0 && !(await areOld(client, minAgeSeconds))) return false;
    if (keptSeconds === null) await client.query('delete from oidc_keys where algorithm is not null');
    else await client.query(END_FORMER, [publishedAheadSeconds, keptSeconds]);
    await client.query(ADD, [...columnsOf(rows), publishedAheadSeconds]);
    return true;
  });
}

/** Returns whether there are signing keys, all made this long ago. */
async function areOld(database: pg.Pool | pg.ClientBase, seconds: number): Promise<boolean> {
  const { rows } = await database.query<{ old: boolean | null }>(
    "select max(created_at) <= now() - $1 * interval '1 second' as old from oidc_keys where algorithm is not null",
    [seconds],
  );
  return rows[0].old === true;
}

/** Removes the keys that are published no longer. */
export async function removeEndedKeys(pool: pg.Pool): Promise<void> {
  await pool.query('delete from oidc_keys where published_until <= now()');
}

/** Replaces the encrypted form of every row for which `encryptAgain` returns a new one. */
export async function encryptRowsAgain(pool: pg.Pool, encryptAgain: (row: KeyRow) => Buffer | null): Promise<void> {
  await withLock(pool, async (client) => {
    const { rows } = await client.query<KeyRow>('select kid, algorithm, encrypted from oidc_keys');
    for (const row of rows) {
      const encrypted = encryptAgain(row);
      if (encrypted) await client.query('update oidc_keys set encrypted = $2 where kid = $1', [row.kid, encrypted]);
    }
  });
}

const columnsOf = (rows: readonly KeyRow[]) => [
  rows.map(({ kid }) => kid),
  rows.map(({ algorithm }) => algorithm),
  rows.map(({ encrypted }) => encrypted),
];

/** Runs `work` in a transaction of which there is one at a time in all instances. */
async function withLock<Result>(database: pg.Pool | pg.Client, work: (client: pg.ClientBase) => Promise<Result>): Promise<Result> {
  const client = database instanceof pg.Client ? database : await database.connect();
  const release = (error?: Error) => {
    if ('release' in client) (client as pg.PoolClient).release(error);
  };
  try {
    await client.query('begin');
    await client.query('select pg_advisory_xact_lock($1)', [LOCK]);
    const result = await work(client);
    await client.query('commit');
    release();
    return result;
  } catch (error) {
    await client.query('rollback').catch(() => {});
    release(error as Error);
    throw error;
  }
}
