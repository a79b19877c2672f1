import { randomBytes } from 'node:crypto';
import type { Client, ClientMetadata } from 'oidc-provider';
import type pg from 'pg';
import type { ClientKind } from '../../contract/account.ts';
import type { Authentication } from '../../contract/rules.ts';
import { IDENTITY_SCOPES, RESOURCE_SCOPES } from '../../contract/scopes.ts';
import { isLoopbackRedirectHost, normalHost } from '../../contract/urls.ts';
import { batched } from '../platform/db/batch.ts';
import type { Database } from '../platform/db/database.ts';
import { digest } from '../platform/secrets.ts';
import { registrableOf } from '../websites/domains.ts';

const APPLICATION_ID = /^app_[A-Za-z0-9_-]{22}$/;
const REGISTERED_ID = /^dcr_[A-Za-z0-9_-]{22}$/;
const MAX_LENGTH = 2048;

/** Returns what kind of client a client_id names, by its form alone; null for a text that no client can have. */
export function clientKindOf(clientId: string): ClientKind | null {
  if (APPLICATION_ID.test(clientId)) return 'application';
  if (REGISTERED_ID.test(clientId)) return 'registered';
  if (clientId.length > MAX_LENGTH || !/^https?:/.test(clientId) || !URL.canParse(clientId)) return null;
  const url = new URL(clientId);
  if (url.origin === clientId) return 'website';
  return url.protocol === 'https:' && url.pathname !== '/' ? 'metadata_document' : null;
}

/** Grants that every client may use. */
const GRANT_TYPES = ['authorization_code', 'refresh_token', 'urn:ietf:params:oauth:grant-type:device_code'];

/** The clients of the provider: applications, registered websites, and programs that registered themselves. */
export class OpenIdClients {
  readonly #core: Database['core'];
  readonly #isLocal: boolean;
  /** Concurrent requests share the statements, which read the clients at every request. */
  readonly #applicationOf: (clientId: string) => Promise<ApplicationRecord | null>;
  readonly #registrationOf: (domain: string) => Promise<Registration | null>;

  /** @param parts.isLocal local mode: websites on this machine are clients too */
  constructor({ core, isLocal }: { core: Database['core']; isLocal: boolean }) {
    this.#core = core;
    this.#isLocal = isLocal;
    this.#applicationOf = batched('oidc-applications', (clientIds: string[]) => findApplications(core, clientIds));
    this.#registrationOf = batched('oidc-websites', (domains: string[]) => findRegistrations(core, domains));
  }

  /**
   * Returns the metadata (RFC 7591 §2) of a client that may be used now, or undefined. It is read at every request, so that a client
   * that is switched off or deleted stops at once on all instances. Client ID metadata documents are read by oidc-provider itself.
   */
  async findClient(clientId: string): Promise<ClientMetadata | undefined> {
    switch (clientKindOf(clientId)) {
      case 'application': {
        const application = await this.#applicationOf(clientId);
        return application ? applicationMetadata(clientId, application) : undefined;
      }
      case 'website':
        return this.#website(clientId);
      case 'registered': {
        const metadata = await findRegistered(this.#core, clientId);
        return metadata ? { ...metadata, client_id: clientId } : undefined;
      }
      default:
        return undefined;
    }
  }

  /** Stores a client that registered itself (RFC 7591); of its secret only the SHA-256. */
  async addRegistered({ client_id: clientId, ...metadata }: ClientMetadata): Promise<void> {
    const { client_secret: secret } = metadata;
    await addRegistered(this.#core, clientId, secret ? { ...metadata, client_secret: hashOf(secret) } : metadata);
  }

  async #website(origin: string): Promise<ClientMetadata | undefined> {
    const { protocol, hostname, port } = new URL(origin);
    if (isLoopbackRedirectHost(hostname)) return this.#isLocal ? websiteMetadata(origin, THIS_MACHINE) : undefined;
    const domain = normalHost(hostname) === hostname ? registrableOf(hostname) : null;
    const found = domain !== null && protocol === 'https:' && port === '' ? await this.#registrationOf(domain) : null;
    return found ? websiteMetadata(origin, found) : undefined;
  }

  /**
   * Returns what the subject identifiers of a client are derived from, besides the address: the host of a website, what is stored with
   * an application, else the client itself. That of an application is fixed from now on.
   */
  async sectorOf(client: Client): Promise<string> {
    const { clientId } = client;
    switch (clientKindOf(clientId)) {
      case 'website': {
        const { host, hostname } = new URL(clientId);
        return isLoopbackRedirectHost(hostname) ? clientId : host;
      }
      case 'application': {
        const { sector, sector_fixed: isFixed } = client as OwnMetadata;
        return isFixed && sector ? sector : fixSector(this.#core, clientId);
      }
      default:
        return clientId;
    }
  }
}

/** What the metadata of a client have besides those of RFC 7591. A client that describes itself has none of it. */
export type OwnMetadata = {
  /** Scopes of the service's own resources that it may request; unset: all. */
  resource_scopes?: string[];
  pkce_optional?: boolean;
  sector?: string | null;
  sector_fixed?: boolean;
  /** Since when it exists, exactly: what was allowed to a former client of the same id does not count. */
  registration?: string;
  /** Of a website: its domain is proven. */
  proven?: boolean;
};

/** The names of OwnMetadata. */
export const OWN_METADATA = Object.keys({
  resource_scopes: 0,
  pkce_optional: 0,
  sector: 0,
  sector_fixed: 0,
  registration: 0,
  proven: 0,
} satisfies Record<keyof OwnMetadata, 0>);

/** Returns the client_id of a client that registers itself. */
export const newRegisteredId = () => `dcr_${randomBytes(16).toString('base64url')}`;

/**
 * Returns whether a secret is one of a client.
 * @param stored `client_secret` of the metadata: the SHA-256 of each valid secret in hexadecimal, separated by spaces
 */
export function isSecretOf(stored: string | undefined, secret: string): boolean {
  return stored?.split(' ').includes(hashOf(secret)) ?? false;
}

const hashOf = (secret: string) => digest(secret).toString('hex');

function applicationMetadata(clientId: string, application: ApplicationRecord): ClientMetadata {
  const { authentication, backchannelLogoutUri, jwks, jwksUri, scopes, secretHashes } = application;
  const identity = IDENTITY_SCOPES.filter((scope) => scopes.includes(scope));
  return {
    client_id: clientId,
    client_name: application.name,
    // Native clients may have loopback redirect URIs and schemes of their own, besides https (RFC 8252 §7).
    application_type: 'native',
    redirect_uris: application.redirectUris,
    post_logout_redirect_uris: application.logoutUris,
    token_endpoint_auth_method: authentication === 'secret' ? 'client_secret_basic' : authentication,
    ...(authentication === 'secret' && { client_secret: secretHashes.map((hash) => hash.toString('hex')).join(' ') }),
    ...(jwks && { jwks: jwks as ClientMetadata['jwks'] }),
    ...(jwksUri && { jwks_uri: jwksUri }),
    ...(backchannelLogoutUri && { backchannel_logout_uri: backchannelLogoutUri, backchannel_logout_session_required: true }),
    grant_types: GRANT_TYPES,
    scope: identity.join(' '),
    resource_scopes: RESOURCE_SCOPES.filter((scope) => scopes.includes(scope)),
    pkce_optional: !application.pkceRequired,
    sector: application.sector,
    sector_fixed: application.sectorFixed,
    registration: application.registration,
    subject_type: 'public',
  };
}

/** The registration of a website. `since`: in Unix seconds; grants from before it belong to a former one. */
type Registration = { since: number; registration: string; proven: boolean };

/** In local mode, websites on this machine need no registration and count as proven. */
const THIS_MACHINE: Registration = { since: 0, registration: '', proven: true };

/** The redirect URIs of a website are all those on its host; see `isRedirectAllowed`. */
function websiteMetadata(origin: string, { since, registration, proven }: Registration): ClientMetadata {
  return {
    client_id: origin,
    client_id_issued_at: since,
    registration,
    proven,
    client_name: new URL(origin).hostname,
    redirect_uris: [`${origin}/`],
    post_logout_redirect_uris: [`${origin}/`],
    token_endpoint_auth_method: 'none',
    grant_types: GRANT_TYPES,
    scope: IDENTITY_SCOPES.join(' '),
    resource_scopes: [],
    subject_type: 'public',
  };
}

/** A client that registered itself is removed when it was not used for so long. */
const UNUSED_DAYS = 30;

// The former secret is left out when it has expired, by the clock of the database.
const APPLICATIONS = `
select client_id as "clientId", name, redirect_uris as "redirectUris", authentication, logout_uris as "logoutUris", backchannel_logout_uri as "backchannelLogoutUri",
  jwks, jwks_uri as "jwksUri", pkce_required as "pkceRequired", scopes, sector, sector_fixed as "sectorFixed",
  extract(epoch from active_since)::text as registration,
  array_remove(array[secret_hash, case when previous_secret_until > now() then previous_secret_hash end], null) as "secretHashes"
from applications where client_id = any($1) and is_active`;

const REGISTRATIONS = `
select domain, floor(extract(epoch from domain_since))::float8 as since, extract(epoch from domain_since)::text as registration, proven_at is not null as proven
from websites where domain = any($1)`;

// A change of the redirect URIs, which may decide about the sector again, comes before or after it.
const FIX_SECTOR = `
update applications set sector = coalesce(sector, client_id), sector_fixed = true where client_id = $1 returning sector`;

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
type ApplicationRecord = {
  name: string;
  redirectUris: string[];
  authentication: Authentication;
  logoutUris: string[];
  backchannelLogoutUri: string | null;
  jwks: { keys: Record<string, unknown>[] } | null;
  jwksUri: string | null;
  pkceRequired: boolean;
  scopes: string[];
  sector: string | null;
  sectorFixed: boolean;
  registration: string;
  secretHashes: Buffer[];
};

/** Returns for each client_id the application that is switched on, or null. */
async function findApplications(core: pg.Pool, clientIds: string[]): Promise<(ApplicationRecord | null)[]> {
  type Row = ApplicationRecord & { clientId: string };
  const { rows } = await core.query<Row>({ name: 'oidc-applications', text: APPLICATIONS, values: [[...new Set(clientIds)]] });
  const found = new Map(rows.map((row) => [row.clientId, row]));
  return clientIds.map((clientId) => found.get(clientId) ?? null);
}

/** Returns for each registrable domain its registration, or null. */
async function findRegistrations(core: pg.Pool, domains: string[]): Promise<(Registration | null)[]> {
  type Row = Registration & { domain: string };
  const { rows } = await core.query<Row>({ name: 'oidc-websites', text: REGISTRATIONS, values: [[...new Set(domains)]] });
  const found = new Map(rows.map((row) => [row.domain, row]));
  return domains.map((domain) => found.get(domain) ?? null);
}

/** Fixes the sector of an application, and returns it; the client_id of one that was deleted. */
async function fixSector(core: pg.Pool, clientId: string): Promise<string> {
  const { rows } = await core.query<{ sector: string }>({ name: 'oidc-fix-sector', text: FIX_SECTOR, values: [clientId] });
  return rows[0]?.sector ?? clientId;
}

/** Stores the metadata of a client that registered itself (RFC 7591). */
async function addRegistered(core: pg.Pool, clientId: string, metadata: object): Promise<void> {
  await core.query({ name: 'oidc-client-add', text: ADD, values: [digest(clientId), JSON.stringify(metadata), clientId] });
}

/** Returns the metadata of a client that registered itself, or null. Its removal is put off, at most once a day, while it is in use. */
async function findRegistered(core: pg.Pool, clientId: string): Promise<Record<string, unknown> | null> {
  const id = digest(clientId);
  const { rows } = await core.query<{ payload: Record<string, unknown>; renewable: boolean }>({
    name: 'oidc-client-find',
    text: REGISTERED,
    values: [id],
  });
  if (rows[0]?.renewable) await core.query({ name: 'oidc-client-renew', text: RENEW, values: [id, clientId] });
  return rows[0]?.payload ?? null;
}
