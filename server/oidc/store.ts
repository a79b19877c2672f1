import { AsyncLocalStorage } from 'node:async_hooks';
import pg from 'pg';
import { isRememberedKeyAlive } from '../permissions/conditions.ts';
import { notBeingSignedOut } from '../permissions/sign-outs.ts';
import { addActivity } from '../platform/db/activity-rows.ts';
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
  /** SHA-256 of the device cookie of the browser that has a session. */
  device?: Buffer | null;
};

type Payload = Record<string, unknown>;

/** A stored record that has not expired. */
export type StoredRecord = { payload: Payload; consumed: number | null };

/** A record with those that it depends on; null: it names none, or the one that it names has ended. */
type FoundRecord = StoredRecord & { grant: Payload | null; session: Payload | null };

// One array per column. A user code is known at the first write only; later ones keep it. What names a person is issued for a grant, which
// may come with it. A grant needs a browser that remembers the account, and a session needs the one of its device: a request that was
// under way during a sign-out or an erasure must not bring them back.
const write = (more: string) => `
with ${more}destroyed as (delete from oidc_records r using unnest($1::text[], $2::bytea[]) as d (kind, id) where r.kind = d.kind and r.id = d.id)
insert into oidc_records as r (kind, id, payload, email, client_id, grant_id, uid, user_code, expires_at)
select kind, id, payload::jsonb, email, client_id, grant_id, uid, user_code, now() + make_interval(secs => seconds)
from unnest($3::text[], $4::bytea[], $5::text[], $6::text[], $7::text[], $8::bytea[], $9::bytea[], $10::bytea[], $11::float8[], $12::bytea[], $13::bool[])
  as w (kind, id, payload, email, client_id, grant_id, uid, user_code, seconds, device, has_grant)
where w.email is null or ${notBeingSignedOut('w.email')} and case when w.kind in ('Grant', 'Session') or w.has_grant
  then exists (select from remembered_keys k where k.email = w.email and (w.kind <> 'Session' or k.device = w.device) and ${isRememberedKeyAlive('k')})
  else exists (select from oidc_records g where g.kind = 'Grant' and g.id = w.grant_id) end
on conflict (kind, id) do update set payload = excluded.payload, email = excluded.email, client_id = excluded.client_id,
  grant_id = excluded.grant_id, uid = excluded.uid, user_code = coalesce(excluded.user_code, r.user_code), expires_at = excluded.expires_at`;

const WRITE = write('');

// Exchanges have one array per column too.
const EXCHANGED = addActivity(
  { action: "'code_exchanged'", email: 'e.email', clientId: 'e.client_id' },
  'unnest($14::text[], $15::text[]) as e (client_id, email)',
);
const WRITE_EXCHANGED = write(`exchanged as (${EXCHANGED}), `);

const isAlive = (row: string) => `(${row}.expires_at is null or ${row}.expires_at > now())`;

// One array per column: kinds and hashes. What was issued for a grant is found with the grant and the session that it is bound to.
const find = (column: 'id' | 'uid' | 'user_code') => `
select w.n::integer as n, r.payload, floor(extract(epoch from r.consumed_at))::float8 as consumed,
  (select g.payload from oidc_records g where g.kind = 'Grant' and g.id = r.grant_id and ${isAlive('g')}) as "grant",
  (select s.payload from oidc_records s
    where s.kind = 'Session' and s.uid = sha256(convert_to(r.payload->>'sessionUid', 'UTF8')) and ${isAlive('s')} limit 1) as session
from unnest($1::text[], $2::bytea[]) with ordinality as w (kind, hash, n)
join oidc_records r on r.kind = w.kind and r.${column} = w.hash
where ${isAlive('r')}`;

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

const hashOf = (id: string | null) => (id === null ? null : digest(id));

type Row = { kind: string; id: Buffer; payload: string; columns: RecordColumns; seconds: number | null };
type Key = { kind: string; id: Buffer };
type Column = 'id' | 'uid' | 'user_code';

/** A person's sign-in for which a client got tokens. */
type Exchange = { clientId: string; email: string };

/** Records by their keys, of which one without a payload is destroyed, and the exchanges that are added to the audit log. */
type Changes = { records: Map<string, Row | (Key & { payload: null })>; exchanges: Exchange[] };

/** What one request has read, and what it will change. */
type Request = { found: Map<string, StoredRecord | null>; changes: Changes };

const noChanges = (): Changes => ({ records: new Map(), exchanges: [] });

const keyOf = ({ kind, id }: Key) => `${kind} ${id.toString('latin1')}`;

const nameOf = (key: Key, by: Column) => `${by} ${keyOf(key)}`;

/** The table of all models of oidc-provider. A code flow has many small statements, which concurrent requests share. */
export class RecordsStore {
  readonly #core: Database['core'];
  readonly #request = new AsyncLocalStorage<Request>();
  readonly #write: (changes: Changes) => Promise<undefined>;
  readonly #find: Record<Column, (key: Key) => Promise<FoundRecord | null>>;

  constructor(core: Database['core']) {
    this.#core = core;
    const findBy = (column: Column) => batched(`oidc-find-${column}`, (keys: Key[]) => findAll(core, column, keys));
    this.#write = batched('oidc-write', (changes: Changes[]) => writeAll(core, changes));
    this.#find = { id: findBy('id'), uid: findBy('uid'), user_code: findBy('user_code') };
  }

  /** Runs the work of one request, which reads a record once and stores what it changes in one statement at its end. */
  inRequest<Result>(work: () => Promise<Result>): Promise<Result> {
    return this.#request.run({ found: new Map(), changes: noChanges() }, async () => {
      const result = await work();
      await this.flush();
      return result;
    });
  }

  /** Stores what the current request has changed until now. A response that depends on it comes afterwards. */
  async flush(): Promise<void> {
    const request = this.#request.getStore();
    if (!request || request.changes.records.size + request.changes.exchanges.length === 0) return;
    const { changes } = request;
    request.changes = noChanges();
    await this.#write(changes);
  }

  /** Inserts or replaces a record. @param seconds until it expires; null: never */
  upsert(kind: string, id: string, payload: object, columns: RecordColumns, seconds: number | null): Promise<void> {
    return this.#change({ kind, id: digest(id), payload: JSON.stringify(payload), columns, seconds });
  }

  destroy(kind: string, id: string): Promise<void> {
    return this.#change({ kind, id: digest(id), payload: null });
  }

  async #change(change: Row | (Key & { payload: null })): Promise<void> {
    const request = this.#request.getStore();
    // A concurrent request must find that a proof was used.
    if (!request || change.kind === 'ReplayDetection') return this.#write({ records: new Map([[keyOf(change), change]]), exchanges: [] });
    request.found.clear();
    request.changes.records.set(keyOf(change), change);
  }

  /** Adds to the audit log that a client got the tokens of a person, when those of the current request are stored. */
  addExchange(exchange: Exchange): void {
    this.#request.getStore()?.changes.exchanges.push(exchange);
  }

  /** Returns a record by its id, the uid of a session or the user code of a device, or null. */
  async find(kind: string, id: string, by: Column = 'id'): Promise<StoredRecord | null> {
    const key = { kind, id: digest(id) };
    const request = this.#request.getStore();
    if (!request) return this.#find[by](key);
    if (by !== 'id' || request.changes.records.has(keyOf(key))) await this.flush();
    const known = request.found.get(nameOf(key, by));
    if (known !== undefined) return known;
    const found = await this.#find[by](key);
    request.found.set(nameOf(key, by), found);
    const { grantId, sessionUid } = found?.payload ?? {};
    const keep = (kind: string, id: unknown, by: Column, payload: Payload | null) => {
      if (typeof id === 'string') request.found.set(nameOf({ kind, id: digest(id) }, by), payload && { payload, consumed: null });
    };
    keep('Grant', grantId, 'id', found?.grant ?? null);
    keep('Session', sessionUid, 'uid', found?.session ?? null);
    return found;
  }

  /** Consumes a record. Returns false when it was consumed before, here or in another process, after ending everything of its grant. */
  async consume(kind: string, id: string): Promise<boolean> {
    await this.#settle();
    const values = [kind, digest(id)];
    const { rowCount } = await this.#core.query({ name: 'oidc-consume', text: CONSUME, values });
    if (rowCount === 1) return true;
    await this.#core.query({ name: 'oidc-revoke-reused', text: REVOKE_REUSED, values });
    return false;
  }

  /** Deletes the records of a kind that were issued for a grant. */
  async revokeByGrant(kind: string, grantId: string): Promise<void> {
    await this.#settle();
    await this.#core.query({ name: 'oidc-revoke-grant', text: REVOKE_GRANT, values: [kind, digest(grantId)] });
  }

  /** Prepares a statement that changes records which the request may have changed or read. */
  async #settle(): Promise<void> {
    this.#request.getStore()?.found.clear();
    await this.flush();
  }
}

async function findAll(core: Database['core'], column: Column, keys: Key[]): Promise<(FoundRecord | null)[]> {
  const query = { name: `oidc-find-${column}`, text: find(column), values: keyColumnsOf(keys) };
  const { rows } = await core.query<FoundRecord & { n: number }>(query);
  const found = new Map(rows.map(({ n, ...record }) => [n - 1, record]));
  return keys.map((_, index) => found.get(index) ?? null);
}

async function writeAll(core: Database['core'], given: Changes[]): Promise<undefined[]> {
  // A statement cannot change a row twice: the last change wins. All instances lock rows in the same order.
  const changes = [...new Map(given.flatMap(({ records }) => [...records])).values()].sort((a, b) => Buffer.compare(a.id, b.id));
  const rows = changes.filter((change): change is Row => change.payload !== null);
  const grants = new Set(rows.filter(({ kind }) => kind === 'Grant').map(({ id }) => id.toString('latin1')));
  const grantIds = rows.map(({ columns }) => hashOf(columns.grantId));
  const values = [
    ...keyColumnsOf(changes.filter(({ payload }) => payload === null)),
    ...keyColumnsOf(rows),
    rows.map(({ payload }) => payload),
    rows.map(({ columns }) => columns.email),
    rows.map(({ columns }) => columns.clientId),
    grantIds,
    rows.map(({ columns }) => hashOf(columns.uid)),
    rows.map(({ columns }) => hashOf(columns.userCode)),
    rows.map(({ seconds }) => seconds),
    rows.map(({ columns }) => columns.device ?? null),
    grantIds.map((id) => id !== null && grants.has(id.toString('latin1'))),
  ];
  const exchanges = given.flatMap((each) => each.exchanges);
  if (exchanges.length === 0) await core.query({ name: 'oidc-write', text: WRITE, values });
  else {
    values.push(
      exchanges.map(({ clientId }) => clientId),
      exchanges.map(({ email }) => email),
    );
    await core.query({ name: 'oidc-write-exchanged', text: WRITE_EXCHANGED, values });
  }
  return given.map(() => undefined);
}

const keyColumnsOf = (keys: readonly Key[]) => [keys.map(({ kind }) => kind), keys.map(({ id }) => id)];

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
    if (missing.length > 0) await client.query(ADD, [...signingColumnsOf(missing), 0]);
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
    await client.query(ADD, [...signingColumnsOf(rows), publishedAheadSeconds]);
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

const signingColumnsOf = (rows: readonly KeyRow[]) => [
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
