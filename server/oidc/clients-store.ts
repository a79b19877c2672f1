import type pg from 'pg';
import type { Authentication } from '../../contract/rules.ts';
import { digest } from '../secrets.ts';

/** A client that registered itself is removed when it was not used for so long. */
const UNUSED_DAYS = 30;

// The former secret is left out when it has expired, by the clock of the database.
const APPLICATIONS = `
select client_id as "clientId", name, redirect_uris as "redirectUris", authentication, logout_uris as "logoutUris", backchannel_logout_uri as "backchannelLogoutUri",
  jwks, jwks_uri as "jwksUri", pkce_required as "pkceRequired", scopes,
  array_remove(array[secret_hash, case when previous_secret_until > now() then previous_secret_hash end], null) as "secretHashes"
from applications where client_id = any($1) and is_active`;

const REGISTERED_SINCE = `
select domain, floor(extract(epoch from coalesce(moved_at, created_at)))::float8 as since from websites where domain = any($1)`;

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
  pkceRequired: boolean;
  scopes: string[];
  secretHashes: Buffer[];
};

/** Returns for each client_id the application that is switched on, or null. */
export async function findApplications(core: pg.Pool, clientIds: string[]): Promise<(ApplicationRecord | null)[]> {
  type Row = ApplicationRecord & { clientId: string };
  const { rows } = await core.query<Row>({ name: 'oidc-applications', text: APPLICATIONS, values: [[...new Set(clientIds)]] });
  const found = new Map(rows.map((row) => [row.clientId, row]));
  return clientIds.map((clientId) => found.get(clientId) ?? null);
}

/** Returns for each registrable domain since when it is registered, in Unix seconds, or null. */
export async function registeredSince(core: pg.Pool, domains: string[]): Promise<(number | null)[]> {
  type Row = { domain: string; since: number };
  const { rows } = await core.query<Row>({ name: 'oidc-websites', text: REGISTERED_SINCE, values: [[...new Set(domains)]] });
  const found = new Map(rows.map(({ domain, since }) => [domain, since]));
  return domains.map((domain) => found.get(domain) ?? null);
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
