import type pg from 'pg';
import type { Authentication } from '../../contract/rules.ts';
import { digest } from '../secrets.ts';

/** A client that registered itself is removed when it was not used for so long. */
const UNUSED_DAYS = 30;

// The former secret is left out when it has expired, by the clock of the database.
const APPLICATION = `
select name, redirect_uris as "redirectUris", authentication, logout_uris as "logoutUris", backchannel_logout_uri as "backchannelLogoutUri",
  jwks, jwks_uri as "jwksUri", scopes,
  array_remove(array[secret_hash, case when previous_secret_until > now() then previous_secret_hash end], null) as "secretHashes"
from applications where client_id = $1 and is_active`;

const REGISTERED_SINCE = `
select floor(extract(epoch from coalesce(moved_at, created_at)))::float8 as since from websites where domain = $1`;

const ADD = `
insert into oidc_records (kind, id, payload, client_id, expires_at)
values ('Client', $1, $2, $3, now() + interval '${UNUSED_DAYS} days')
on conflict (kind, id) do update set payload = excluded.payload`;

const REGISTERED = `
select payload, expires_at < now() + interval '${UNUSED_DAYS - 1} days' as renewable from oidc_records
where kind = 'Client' and id = $1 and expires_at > now()`;

// A client is in use while a person has granted something to it.
const RENEW = `
update oidc_records set expires_at = now() + interval '${UNUSED_DAYS} days' where kind = 'Client' and id = $1
  and exists (select from oidc_records g where g.kind = 'Grant' and g.client_id = $2)`;

/** An active application, with the SHA-256 of each client secret that is valid now. */
export type ApplicationRecord = {
  name: string;
  redirectUris: string[];
  authentication: Authentication;
  logoutUris: string[];
  backchannelLogoutUri: string | null;
  jwks: { keys: Record<string, unknown>[] } | null;
  jwksUri: string | null;
  scopes: string[];
  secretHashes: Buffer[];
};

/** Returns an application that is switched on, or null. */
export async function findApplication(core: pg.Pool, clientId: string): Promise<ApplicationRecord | null> {
  const { rows } = await core.query<ApplicationRecord>({ name: 'oidc-application', text: APPLICATION, values: [clientId] });
  return rows[0] ?? null;
}

/** Returns since when a registrable domain is registered, in Unix seconds, or null. */
export async function registeredSince(core: pg.Pool, domain: string): Promise<number | null> {
  const { rows } = await core.query<{ since: number }>({ name: 'oidc-website', text: REGISTERED_SINCE, values: [domain] });
  return rows[0]?.since ?? null;
}

/** Stores the metadata of a client that registered itself (RFC 7591). */
export async function addRegistered(core: pg.Pool, clientId: string, metadata: object): Promise<void> {
  await core.query({ name: 'oidc-client-add', text: ADD, values: [digest(clientId), JSON.stringify(metadata), clientId] });
}

/** Returns the metadata of a client that registered itself, or null. Its removal is put off, at most once a day, while it is in use. */
export async function findRegistered(core: pg.Pool, clientId: string): Promise<Record<string, unknown> | null> {
  const id = digest(clientId);
  const { rows } = await core.query<{ payload: Record<string, unknown>; renewable: boolean }>({
    name: 'oidc-client-find',
    text: REGISTERED,
    values: [id],
  });
  if (rows[0]?.renewable) await core.query({ name: 'oidc-client-renew', text: RENEW, values: [id, clientId] });
  return rows[0]?.payload ?? null;
}
