import { createHmac } from 'node:crypto';
import type { Client, Grant, KoaContextWithOIDC, Provider } from 'oidc-provider';
import type pg from 'pg';
import type { Output } from '../../contract/calls.ts';
import { Fault } from '../../contract/errors.ts';
import { hasOwnScheme } from '../../contract/redirect-uris.ts';
import { APPLICATION_SCOPES } from '../../contract/scopes.ts';
import { isThisMachine } from '../../contract/urls.ts';
import { addActivity } from '../platform/db/activity-rows.ts';
import type { Database } from '../platform/db/database.ts';
import { type Account, type Endpoint, handle } from '../platform/http/endpoint.ts';
import { digest } from '../platform/secrets.ts';
import { clientNameOf } from './client-names.ts';
import { clientKindOf, type OwnMetadata } from './clients.ts';
import type { RecordsStore } from './store.ts';

/** The scopes that a sign-in at a registered website allows: its visitor came to be identified by address. */
const OF_A_SIGN_IN = ['openid', 'email'];

/** How long a consent is remembered without being given again, and a grant with offline access is kept. */
export const CONSENT_SECONDS = 400 * 86_400;

/** An authorization request in which a person takes part. */
export type Interaction = InstanceType<Provider['Interaction']>;

/** Scopes as text, by resource, and those of OpenID Connect. */
type Scopes = { openid: string | undefined; resources: Record<string, string> };

/** A client as oidc-provider reads it, with what this service adds to its metadata. */
type KnownClient = Client & OwnMetadata;

/** What a person has allowed a client at one place: no token belongs to it, and nothing else of the client has a `host`. */
type Consent = { host: string; openid?: { scope: string }; resources: Record<string, string>; registration: string | null };

const NOTHING: Scopes = { openid: undefined, resources: {} };

/**
 * Returns the grant of this browser's session for the client, as far as the person has allowed it at the place of the redirect URI.
 * A session has a grant of its own, so that its end does not end what other devices use. Undefined: consent is needed.
 */
export async function existingGrant(ctx: KoaContextWithOIDC, store: RecordsStore): Promise<Grant | undefined> {
  const { session, result, provider, client } = ctx.oidc;
  if (!client || !session?.accountId) return undefined;
  const before = (session as WithLocale).locale;
  const locale = (result as WithLocale | undefined)?.locale ?? before;
  if (locale !== before) Object.assign(session, { locale });
  const { accountId } = session;
  const { clientId } = client;
  const grantId = result?.consent?.grantId ?? session.grantIdFor(clientId);
  const found = grantId ? await provider.Grant.find(grantId) : undefined;
  const known = found?.accountId === accountId ? found : undefined;
  if (known && result?.consent) return known;
  const allowed = await allowedScopes(ctx, client, accountId, store);
  const newGrant = () => Object.assign(new provider.Grant({ accountId, clientId }), { locale });
  if (allowed) {
    const grant = known ?? newGrant();
    if (addScopes(grant, allowed) || !known) await grant.save();
    if (!known) return grant;
  }
  // The grant of the session may have more scopes, which were allowed at another place.
  const restricted = known && Object.assign(newGrant(), { jti: known.jti });
  if (restricted) addScopes(restricted, allowed ?? NOTHING);
  return restricted;
}

/** Adds scopes to a grant. Returns whether it had not all of them. */
function addScopes(grant: Grant, { openid = '', resources }: Scopes): boolean {
  const before = JSON.stringify([grant.openid, grant.resources]);
  if (openid) grant.addOIDCScope(openid);
  for (const [resource, scope] of Object.entries(resources)) grant.addResourceScope(resource, scope);
  return JSON.stringify([grant.openid, grant.resources]) !== before;
}

/** Returns what counts as allowed in an authorization request without a page, or null. */
async function allowedScopes(
  { oidc }: KoaContextWithOIDC,
  client: KnownClient,
  email: string,
  store: RecordsStore,
): Promise<Scopes | null> {
  const { result, params } = oidc;
  const host = placeOf(params?.redirect_uri);
  if (host === null || isUnverified(client, params?.redirect_uri)) return null;
  const isWebsite = clientKindOf(client.clientId) === 'website';
  // A sign-in counts for the client at which it was made.
  if (isWebsite && result?.login && !oidc.promptPending('consent') && needsOnlySignIn(oidc))
    return addConsent(store, email, client, host, { openid: [...oidc.requestParamScopes].join(' '), resources: {} });
  if (isWebsite && !client.proven && !result?.login) return null;
  return consentOf(store, email, client, host);
}

function needsOnlySignIn({ requestParamScopes, resourceServers }: KoaContextWithOIDC['oidc']): boolean {
  return Object.keys(resourceServers ?? {}).length === 0 && [...requestParamScopes].every((scope) => OF_A_SIGN_IN.includes(scope));
}

/**
 * Whether any program on the device could have begun the request in the client's name, so that a remembered consent does not count: a
 * public client without a redirect URI on the web (RFC 8252 §8.6).
 */
function isUnverified({ clientId, clientAuthMethod }: KnownClient, redirectUri: unknown): boolean {
  return clientAuthMethod === 'none' && clientKindOf(clientId) !== 'website' && !String(redirectUri).startsWith('https://');
}

/**
 * Returns whether a request without a page tells the client nothing but what it knows: the person has acted at the client and place
 * before, and the domain of a website is proven.
 */
export async function isKnownAt({ oidc }: KoaContextWithOIDC, store: RecordsStore): Promise<boolean> {
  const { client, session, params } = oidc;
  const host = placeOf(params?.redirect_uri);
  if (!client || !session?.accountId || host === null) return false;
  if (clientKindOf(client.clientId) === 'website' && !(client as OwnMetadata).proven) return false;
  return (await consentOf(store, session.accountId, client, host)) !== null;
}

/**
 * Returns whether the person has to be asked, also where no scope is missing: nothing was allowed yet, a device began the request
 * (RFC 8628), or any program on the person's device could have.
 */
export function needsConsent({ oidc: { client, grant, params, result } }: KoaContextWithOIDC): boolean {
  if (!client || result?.consent) return false;
  const isEmpty = !grant?.getOIDCScope() && Object.keys(grant?.resources ?? {}).length === 0;
  return isEmpty || placeOf(params?.redirect_uri) === null || isUnverified(client, params?.redirect_uri);
}

/**
 * Returns for what a consent to a client is remembered, which is what the page shows: the host of a redirect URI, `localhost` for all
 * loopback hosts, or the scheme of a program with its colon. Null: a device, which has no redirect URI.
 */
export function placeOf(redirectUri: unknown): string | null {
  if (typeof redirectUri !== 'string' || !URL.canParse(redirectUri)) return null;
  const { protocol, host, hostname } = new URL(redirectUri);
  if (hasOwnScheme(redirectUri)) return protocol;
  return isThisMachine(hostname) && !hostname.endsWith('.localhost') ? 'localhost' : host;
}

/** Returns the id of the record of a consent. */
function consentIdOf(email: string, clientId: string, host: string): string {
  return digest(`consent\n${email}\n${clientId}\n${host}`).toString('hex');
}

async function consentOf(
  store: RecordsStore,
  email: string,
  { clientId, registration }: KnownClient,
  host: string,
): Promise<Scopes | null> {
  const found = await store.find('Grant', consentIdOf(email, clientId, host));
  const consent = found?.payload as Consent | undefined;
  // The client may have been registered or activated again, perhaps by someone else.
  if (!consent || consent.registration !== (registration ?? null)) return null;
  return { openid: consent.openid?.scope, resources: consent.resources };
}

/** Remembers what a person allows a client, with what was allowed before. Returns all of it. */
async function addConsent(store: RecordsStore, email: string, client: KnownClient, host: string, allowed: Scopes): Promise<Scopes> {
  const { clientId, registration = null } = client;
  const before = (await consentOf(store, email, client, host)) ?? NOTHING;
  const resources = { ...before.resources };
  for (const [resource, scope] of Object.entries(allowed.resources)) resources[resource] = joined(resources[resource], scope);
  const scope = joined(before.openid, allowed.openid);
  const consent: Consent = { host, ...(scope && { openid: { scope } }), resources, registration };
  const columns = { email, clientId, grantId: null, uid: null, userCode: null };
  await store.upsert('Grant', consentIdOf(email, clientId, host), consent, columns, CONSENT_SECONDS);
  return { openid: scope, resources };
}

const joined = (...scopes: (string | undefined)[]) => [...new Set(scopes.flatMap((scope) => scope?.split(' ') ?? []))].join(' ');

/**
 * Grants what an interaction asks for, and remembers it as the person's consent to the client at the place of its redirect URI.
 * @returns the id of the grant, which has the scopes of this request
 */
export async function grantConsent(provider: Provider, store: RecordsStore, interaction: Interaction, email: string): Promise<string> {
  const { client_id, redirect_uri } = interaction.params;
  const clientId = String(client_id);
  const known = interaction.grantId ? await provider.Grant.find(interaction.grantId) : undefined;
  const grant = Object.assign(known ?? new provider.Grant({ accountId: email, clientId }), {
    locale: (interaction.lastSubmission as WithLocale | undefined)?.locale,
  });
  const { missingOIDCScope = [], missingResourceScopes = {} } = interaction.prompt.details as {
    missingOIDCScope?: string[];
    missingResourceScopes?: Record<string, string[]>;
  };
  const resources = Object.fromEntries(Object.entries(missingResourceScopes).map(([resource, scopes]) => [resource, scopes.join(' ')]));
  const allowed = { openid: missingOIDCScope.join(' '), resources };
  addScopes(grant, allowed);
  const grantId = await grant.save();
  const client = await provider.Client.find(clientId);
  const host = placeOf(redirect_uri);
  if (client && host !== null) await addConsent(store, email, client, host, allowed);
  return grantId;
}

/** The claims of each scope. Those of `openid` are in every ID token. */
export const CLAIMS = {
  openid: ['sub', 'auth_time', 'acr', 'amr'],
  email: ['email', 'email_verified'],
  profile: ['name', 'preferred_username', 'locale'],
};

/**
 * Returns the subject identifier of an address at a client (OpenID Connect Core §8.1).
 * @param salt of the service
 * @param sector of the client (OpenIdClients.sectorOf)
 */
export function pairwiseSubject(salt: Buffer, sector: string, email: string): string {
  return createHmac('sha256', salt).update(`${sector}\n${email}`).digest('base64url');
}

/**
 * Returns the claims of a person that the scopes permit.
 * @param core for the name of an account, which only the scope `profile` needs
 * @param person.subject at the client
 * @param person.locale the language of the sign-in
 */
export async function claimsOf(
  core: Database['core'],
  { email, subject, locale }: { email: string; subject: string; locale: string | undefined },
  scope: string,
): Promise<Record<string, unknown> & { sub: string }> {
  const scopes = scope.split(' ');
  const profile = scopes.includes('profile');
  const name = profile ? await nameOf(core, email) : null;
  return {
    sub: email,
    email,
    email_verified: true,
    ...(name && { name }),
    // Apps take it as the name of an account, so that it is unique; without `email` it shows no address.
    ...(profile && { preferred_username: scopes.includes('email') ? email : subject }),
    ...(profile && locale && { locale }),
  };
}

/** A session or grant of oidc-provider, which also keeps the language in which its person signed in. */
export type WithLocale = { locale?: string | undefined };

/** Makes oidc-provider store the language of sessions and grants. */
export function keepLocale({ Session, Grant }: Provider): void {
  for (const model of [Session, Grant] as unknown as { IN_PAYLOAD: string[] }[]) {
    const fields = [...model.IN_PAYLOAD, 'locale'];
    Object.defineProperty(model, 'IN_PAYLOAD', { get: () => fields });
  }
}

async function nameOf(core: Database['core'], email: string): Promise<string | null> {
  const text = 'select name from users where email = $1';
  const { rows } = await core.query<{ name: string | null }>({ name: 'oidc-name', text, values: [email] });
  return rows[0]?.name ?? null;
}

/** The clients of OpenID Connect that a person has signed in to. What is revoked here has ended on all instances. */
export class Connections {
  readonly #core: Database['core'];

  constructor({ core }: Database) {
    this.#core = core;
  }

  /** Returns the person's connections, the last used one first. */
  async list({ email }: Account): Promise<Output<'listConnections'>> {
    return (await readConnections(this.#core, email)).map(present);
  }

  /** Ends a connection with its codes and tokens. @throws Fault connection_not_found */
  async revoke({ email }: Account, id: string): Promise<Output<'revokeConnection'>> {
    if (!(await revokeConnection(this.#core, email, id))) throw new Fault('connection_not_found');
    return { success: true };
  }
}

function present({ id, clientId, name, hosts, grants, createdAt, lastUsed }: ConnectionRecord): Output<'listConnections'>[number] {
  const granted = new Set(grants.flatMap(scopesOf));
  return {
    id,
    clientId,
    name: clientNameOf(name ?? '', hosts) ?? (URL.canParse(clientId) ? new URL(clientId).hostname : clientId),
    hosts,
    kind: clientKindOf(clientId) ?? 'registered',
    scopes: APPLICATION_SCOPES.filter((scope) => granted.has(scope)),
    createdAt: createdAt.toISOString(),
    lastUsed: lastUsed.toISOString(),
  };
}

const scopesOf = ({ openid, resources = {} }: ConnectionRecord['grants'][number]) =>
  [openid?.scope ?? '', ...Object.values(resources)].flatMap((scope) => scope.split(' '));

/** Binds the calls of connections. */
export function connectionEndpoints(connections: Connections): Endpoint[] {
  return [
    handle('listConnections', (_, { account }) => connections.list(account)),
    handle('revokeConnection', ({ id }, { account }) => connections.revoke(account, id)),
  ];
}

/** The id of a connection, derived from its client_id, as SQL. */
const ID = "encode(substring(sha256(convert_to(g.client_id, 'UTF8')) from 1 for 16), 'hex')";

/** The name of the application, or that of a program which registered itself; null: a website. */
const NAME = `coalesce((select name from applications where client_id = g.client_id),
    (select payload->>'client_name' from oidc_records where kind = 'Client' and id = sha256(convert_to(g.client_id, 'UTF8'))))`;

const LIST = `
select ${ID} as id, g.client_id as "clientId", min(g.created_at) as "createdAt",
  max(greatest(g.created_at, (select max(t.created_at) from oidc_records t where t.grant_id = g.id))) as "lastUsed",
  array_agg(g.payload) as grants,
  coalesce(array_agg(distinct g.payload->>'host') filter (where g.payload ? 'host'), '{}') as hosts,
  ${NAME} as name
from oidc_records g
where g.email = $1 and g.kind = 'Grant' and (g.expires_at is null or g.expires_at > now())
group by g.client_id
order by "lastUsed" desc, g.client_id`;

// A token that a concurrent request issues with an ended grant is invalid too, because its grant is not found.
const REVOKE = `
with ended as (delete from oidc_records g where g.email = $1 and g.kind = 'Grant' and ${ID} = $2 returning g.id, g.client_id),
tokens as (delete from oidc_records where grant_id in (select id from ended)),
audit as (${addActivity({ action: "'connection_revoked'", email: '$1', object: NAME }, 'ended g limit 1')})
select 1 from ended limit 1`;

/** What a person granted to one client: the payloads of grants and consents, and what is known about the client. */
type ConnectionRecord = {
  id: string;
  clientId: string;
  createdAt: Date;
  lastUsed: Date;
  grants: { openid?: { scope?: string }; resources?: Record<string, string> }[];
  /** Where it was allowed (placeOf), in alphabetical order. */
  hosts: string[];
  /** Null: a website, or a client whose metadata are not stored here. */
  name: string | null;
};

/** Returns the clients that a person is connected to, the last used one first. */
async function readConnections(core: pg.Pool, email: string): Promise<ConnectionRecord[]> {
  const { rows } = await core.query<ConnectionRecord>({ name: 'oidc-connections', text: LIST, values: [email] });
  return rows;
}

/** Ends a person's grants to one client with their codes and tokens, and records it in the audit log. @returns false when there are none */
async function revokeConnection(core: pg.Pool, email: string, id: string): Promise<boolean> {
  const { rows } = await core.query({ name: 'oidc-connection-revoke', text: REVOKE, values: [email, id] });
  return rows.length > 0;
}
