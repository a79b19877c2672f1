import pg from 'pg';
import { isRememberedKeyAlive } from '../permissions/conditions.ts';
import { notBeingSignedOut } from '../permissions/sign-outs.ts';
import { batched } from '../platform/db/batch.ts';
import type { Database } from '../platform/db/database.ts';
import { LOCKS } from '../platform/db/locks.ts';
import { digest } from '../platform/secrets.ts';

/** What the columns of a record hold besides its payload. Ids are stored as SHA-256. */
export type RecordColumns = {
  email: string | null;
  clientId: string | null;
  grantId: string | null;
  uid: string | null;
  userCode: string | null;
};

/** A stored record that has not expired. */
export type StoredRecord = { payload: Record<string, unknown>; consumed: number | null };

// One array per column. A user code is known at the first write only; later ones keep it. What names a person is issued for a grant, and a
// grant needs a browser that remembers the account: a request that was under way during a sign-out or an erasure must not bring it back.
const UPSERT = `
insert into oidc_records as r (kind, id, payload, email, client_id, grant_id, uid, user_code, expires_at)
select kind, id, payload::jsonb, email, client_id, grant_id, uid, user_code, now() + make_interval(secs => seconds)
from unnest($1::text[], $2::bytea[], $3::text[], $4::text[], $5::text[], $6::bytea[], $7::bytea[], $8::bytea[], $9::float8[])
  as w (kind, id, payload, email, client_id, grant_id, uid, user_code, seconds)
where w.email is null or ${notBeingSignedOut('w.email')} and case when w.kind = 'Grant'
  then exists (select from remembered_keys k where k.email = w.email and ${isRememberedKeyAlive('k')})
  else exists (select from oidc_records g where g.kind = 'Grant' and g.id = w.grant_id) end
on conflict (kind, id) do update set payload = excluded.payload, email = excluded.email, client_id = excluded.client_id,
  grant_id = excluded.grant_id, uid = excluded.uid, user_code = coalesce(excluded.user_code, r.user_code), expires_at = excluded.expires_at`;

// A session belongs to the device on which the account is remembered, and is not stored again once that has ended: a request that was
// under way during a sign-out must not bring it back.
const UPSERT_SESSION = `
insert into oidc_records as r (kind, id, payload, email, uid, expires_at)
select 'Session', $1, $2, $3, $4, now() + make_interval(secs => $5)
where $3::text is null or ${notBeingSignedOut('$3::text')} and exists (select from remembered_keys k
  where k.device = $6 and k.email = $3 and ${isRememberedKeyAlive('k')})
on conflict (kind, id) do update set payload = excluded.payload, email = excluded.email, uid = excluded.uid, expires_at = excluded.expires_at`;

// One array per column: kinds and hashes.
const find = (column: 'id' | 'uid' | 'user_code') => `
select w.n::integer as n, r.payload, floor(extract(epoch from r.consumed_at))::float8 as consumed
from unnest($1::text[], $2::bytea[]) with ordinality as w (kind, hash, n)
join oidc_records r on r.kind = w.kind and r.${column} = w.hash
where r.expires_at is null or r.expires_at > now()`;

// One of several concurrent statements updates the row. A second use means that a code or token leaked, so that everything that was
// issued for its grant ends (RFC 6749 §4.1.2, RFC 9700 §4.14.2).
const CONSUME = `
update oidc_records set consumed_at = now() where kind = $1 and id = $2 and consumed_at is null and (expires_at is null or expires_at > now())
returning true as consumed`;

const REVOKE_REUSED = `
with reused as (select grant_id from oidc_records where kind = $1 and id = $2 and consumed_at is not null),
ended as (delete from oidc_records r using reused where r.grant_id = reused.grant_id and r.kind <> $1)
delete from oidc_records r using reused where r.kind = 'Grant' and r.id = reused.grant_id`;

const REVOKE_GRANT = 'delete from oidc_records where kind = $1 and grant_id = $2';
const DESTROY = 'delete from oidc_records r using unnest($1::text[], $2::bytea[]) as w (kind, id) where r.kind = w.kind and r.id = w.id';

const hashOf = (id: string | null) => (id === null ? null : digest(id));

type Row = { kind: string; id: Buffer; payload: string; columns: RecordColumns; seconds: number | null };
type Key = { kind: string; hash: Buffer };
type Column = 'id' | 'uid' | 'user_code';

const columnsOf = (keys: Key[]) => [keys.map(({ kind }) => kind), keys.map(({ hash }) => hash)];

/** The table of all models of oidc-provider. A code flow has many small statements, which concurrent requests share. */
export class RecordsStore {
  readonly #core: Database['core'];
  readonly #upsert: (row: Row) => Promise<undefined>;
  readonly #destroy: (key: Key) => Promise<undefined>;
  readonly #find: Record<Column, (key: Key) => Promise<StoredRecord | null>>;

  constructor(core: Database['core']) {
    this.#core = core;
    const findBy = (column: Column) => batched(`oidc-find-${column}`, (keys: Key[]) => findAll(core, column, keys));
    // All instances lock rows in the same order.
    this.#upsert = batched('oidc-upsert', (rows: Row[]) => upsertAll(core, rows), { order: (a, b) => Buffer.compare(a.id, b.id) });
    this.#destroy = batched('oidc-destroy', (keys: Key[]) => destroyAll(core, keys), { order: (a, b) => Buffer.compare(a.hash, b.hash) });
    this.#find = { id: findBy('id'), uid: findBy('uid'), user_code: findBy('user_code') };
  }

  /** Inserts or replaces a record. @param seconds until it expires; null: never */
  upsert(kind: string, id: string, payload: object, columns: RecordColumns, seconds: number | null): Promise<void> {
    return this.#upsert({ kind, id: digest(id), payload: JSON.stringify(payload), columns, seconds });
  }

  /** Inserts or replaces a session. @param device SHA-256 of the browser's device cookie; null when it has none */
  async upsertSession(id: string, payload: object, columns: RecordColumns, seconds: number | null, device: Buffer | null): Promise<void> {
    const values = [digest(id), JSON.stringify(payload), columns.email, hashOf(columns.uid), seconds, device];
    await this.#core.query({ name: 'oidc-upsert-session', text: UPSERT_SESSION, values });
  }

  /** Returns a record by its id, the uid of a session or the user code of a device, or null. */
  find(kind: string, id: string, by: Column = 'id'): Promise<StoredRecord | null> {
    return this.#find[by]({ kind, hash: digest(id) });
  }

  /** Consumes a record. Returns false when it was consumed before, here or in another process, after ending everything of its grant. */
  async consume(kind: string, id: string): Promise<boolean> {
    const values = [kind, digest(id)];
    const { rowCount } = await this.#core.query({ name: 'oidc-consume', text: CONSUME, values });
    if (rowCount === 1) return true;
    await this.#core.query({ name: 'oidc-revoke-reused', text: REVOKE_REUSED, values });
    return false;
  }

  destroy(kind: string, id: string): Promise<void> {
    return this.#destroy({ kind, hash: digest(id) });
  }

  /** Deletes the records of a kind that were issued for a grant. */
  async revokeByGrant(kind: string, grantId: string): Promise<void> {
    await this.#core.query({ name: 'oidc-revoke-grant', text: REVOKE_GRANT, values: [kind, digest(grantId)] });
  }
}

async function findAll(core: Database['core'], column: Column, keys: Key[]): Promise<(StoredRecord | null)[]> {
  const query = { name: `oidc-find-${column}`, text: find(column), values: columnsOf(keys) };
  const { rows } = await core.query<StoredRecord & { n: number }>(query);
  const found = new Map(rows.map(({ n, payload, consumed }) => [n - 1, { payload, consumed }]));
  return keys.map((_, index) => found.get(index) ?? null);
}

async function upsertAll(core: Database['core'], given: Row[]): Promise<undefined[]> {
  // A statement cannot change a row twice: the last one wins.
  const rows = [...new Map(given.map((row) => [`${row.kind} ${row.id.toString('latin1')}`, row])).values()];
  const values = [
    rows.map(({ kind }) => kind),
    rows.map(({ id }) => id),
    rows.map(({ payload }) => payload),
    rows.map(({ columns }) => columns.email),
    rows.map(({ columns }) => columns.clientId),
    rows.map(({ columns }) => hashOf(columns.grantId)),
    rows.map(({ columns }) => hashOf(columns.uid)),
    rows.map(({ columns }) => hashOf(columns.userCode)),
    rows.map(({ seconds }) => seconds),
  ];
  await core.query({ name: 'oidc-upsert', text: UPSERT, values });
  return given.map(() => undefined);
}

async function destroyAll(core: Database['core'], keys: Key[]): Promise<undefined[]> {
  await core.query({ name: 'oidc-destroy', text: DESTROY, values: columnsOf(keys) });
  return keys.map(() => undefined);
}

/** A row of `oidc_keys`: a signing key, or a salt, whose algorithm is null. */
export type KeyRow = { kid: string; algorithm: string | null; encrypted: Buffer };

/** A signing key that is published. */
export type StoredKey = KeyRow & {
  /** It signs, or has signed. */
  started: boolean;
};

/** How a rotation treats the keys that sign until then. */
type Rotation = {
  /** How long the new keys are published before they sign. */
  publishedAheadSeconds: number;
  /** How long the former keys stay published after they have stopped signing; null: they become invalid immediately. */
  keptSeconds: number | null;
};

// now() is when the transaction began, before it waited for the lock: another instance may have added keys since.
const READ = `
select kid, algorithm, encrypted, signs_from <= statement_timestamp() as started from oidc_keys
where published_until is null or published_until > statement_timestamp()
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
    if (missing.length > 0) await client.query(ADD, [...keyColumnsOf(missing), 0]);
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
    await client.query(ADD, [...keyColumnsOf(rows), publishedAheadSeconds]);
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

const keyColumnsOf = (rows: readonly KeyRow[]) => [
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
    await client.query('select pg_advisory_xact_lock($1)', [LOCKS.providerKeys]);
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
