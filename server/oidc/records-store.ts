import type { Database } from '../db/database.ts';
import { digest } from '../secrets.ts';

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

// A user code is known at the first write only; later ones keep it.
const UPSERT = `
insert into oidc_records as r (kind, id, payload, email, client_id, grant_id, uid, user_code, expires_at)
values ($1, $2, $3, $4, $5, $6, $7, $8, now() + make_interval(secs => $9))
on conflict (kind, id) do update set payload = excluded.payload, email = excluded.email, client_id = excluded.client_id,
  grant_id = excluded.grant_id, uid = excluded.uid, user_code = coalesce(excluded.user_code, r.user_code), expires_at = excluded.expires_at`;

// A session belongs to the device on which the account is remembered, and is not stored again once that has ended: a request that was
// under way during a sign-out must not bring it back.
const UPSERT_SESSION = `
insert into oidc_records as r (kind, id, payload, email, uid, expires_at)
select 'Session', $1, $2, $3, $4, now() + make_interval(secs => $5)
where $3::text is null or exists (select from remembered_keys k
  where k.device = $6 and k.email = $3 and k.verifier <> '' and k.used_at > now() - interval '90 days' and k.expires_at > now())
on conflict (kind, id) do update set payload = excluded.payload, email = excluded.email, uid = excluded.uid, expires_at = excluded.expires_at`;

const find = (column: 'id' | 'uid' | 'user_code') => `
select payload, floor(extract(epoch from consumed_at))::float8 as consumed from oidc_records
where kind = $1 and ${column} = $2 and (expires_at is null or expires_at > now())`;

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
const DESTROY = 'delete from oidc_records where kind = $1 and id = $2';

const hashOf = (id: string | null) => (id === null ? null : digest(id));

/** The table of all models of oidc-provider. */
export class RecordsStore {
  readonly #core: Database['core'];

  constructor(core: Database['core']) {
    this.#core = core;
  }

  /** Inserts or replaces a record. @param seconds until it expires; null: never */
  async upsert(kind: string, id: string, payload: object, columns: RecordColumns, seconds: number | null): Promise<void> {
    const { email, clientId, grantId, uid, userCode } = columns;
    const values = [kind, digest(id), JSON.stringify(payload), email, clientId, hashOf(grantId), hashOf(uid), hashOf(userCode), seconds];
    await this.#core.query({ name: 'oidc-upsert', text: UPSERT, values });
  }

  /** Inserts or replaces a session. @param device SHA-256 of the browser's device cookie; null when it has none */
  async upsertSession(id: string, payload: object, columns: RecordColumns, seconds: number | null, device: Buffer | null): Promise<void> {
    const values = [digest(id), JSON.stringify(payload), columns.email, hashOf(columns.uid), seconds, device];
    await this.#core.query({ name: 'oidc-upsert-session', text: UPSERT_SESSION, values });
  }

  /** Returns a record by its id, the uid of a session or the user code of a device, or null. */
  async find(kind: string, id: string, by: 'id' | 'uid' | 'user_code' = 'id'): Promise<StoredRecord | null> {
    const { rows } = await this.#core.query<StoredRecord>({ name: `oidc-find-${by}`, text: find(by), values: [kind, digest(id)] });
    return rows[0] ?? null;
  }

  /** Consumes a record. Returns false when it was consumed before, here or in another process, after ending everything of its grant. */
  async consume(kind: string, id: string): Promise<boolean> {
    const values = [kind, digest(id)];
    const { rowCount } = await this.#core.query({ name: 'oidc-consume', text: CONSUME, values });
    if (rowCount === 1) return true;
    await this.#core.query({ name: 'oidc-revoke-reused', text: REVOKE_REUSED, values });
    return false;
  }

  async destroy(kind: string, id: string): Promise<void> {
    await this.#core.query({ name: 'oidc-destroy', text: DESTROY, values: [kind, digest(id)] });
  }

  /** Deletes the records of a kind that were issued for a grant. */
  async revokeByGrant(kind: string, grantId: string): Promise<void> {
    await this.#core.query({ name: 'oidc-revoke-grant', text: REVOKE_GRANT, values: [kind, digest(grantId)] });
  }
}
