import { createHmac } from 'node:crypto';
import type { Client, Grant, KoaContextWithOIDC, Provider } from 'oidc-provider';
import type pg from 'pg';
import { Fault } from '../../contract/errors.ts';
import type { Output } from '../../contract/routes.ts';
import { isLoopbackRedirectHost } from '../../contract/rules.ts';
import { APPLICATION_SCOPES } from '../../contract/scopes.ts';
import type { Database } from '../db/database.ts';
import { type Account, type Served, serve } from '../http/invoke.ts';
import { digest } from '../secrets.ts';
import { clientKindOf } from './clients.ts';
import type { RecordsStore } from './store.ts';

/** The scopes that a registered website gets without consent: its visitor came to be identified by address. */
const WITHOUT_CONSENT = new Set(['openid', 'email']);

/** How long a consent is remembered without being given again, and a grant with offline access is kept. */
export const CONSENT_SECONDS = 400 * 86_400;

/**
 * Returns the grant of this browser's session for the client. A new session gets a grant of its own, so that its end does not end what
 * other devices use: with the scopes of the consent that the person gave before, or of a website that needs none. Undefined: consent
 * is needed.
 */
export async function existingGrant(ctx: KoaContextWithOIDC, store: RecordsStore): Promise<Grant | undefined> {
  const { session, result, provider, client } = ctx.oidc;
  if (!client || !session?.accountId) return undefined;
  const grantId = result?.consent?.grantId ?? session.grantIdFor(client.clientId);
  const known = grantId ? await provider.Grant.find(grantId) : undefined;
  const before = (session as WithLocale).locale;
  const locale = (result as WithLocale | undefined)?.locale ?? before;
  if (locale !== before) Object.assign(session, { locale });
  if (known?.accountId === session.accountId) return known;
  const consent = needsNoConsent(ctx, client)
    ? { openid: ['openid', 'email'].join(' '), resources: {} }
    : await consentOf(store, session.accountId, client);
  if (!consent) return undefined;
  const grant = Object.assign(new provider.Grant({ accountId: session.accountId, clientId: client.clientId }), { locale });
  if (consent.openid) grant.addOIDCScope(consent.openid);
  for (const [resource, scope] of Object.entries(consent.resources)) grant.addResourceScope(resource, scope);
  await grant.save();
  return grant;
}

function needsNoConsent(ctx: KoaContextWithOIDC, client: Client): boolean {
  const { requestParamScopes, resourceServers } = ctx.oidc;
  if (clientKindOf(client.clientId) !== 'website' || Object.keys(resourceServers ?? {}).length > 0) return false;
  return [...requestParamScopes].every((scope) => WITHOUT_CONSENT.has(scope));
}

/** An authorization request in which a person takes part. */
export type Interaction = InstanceType<Provider['Interaction']>;

/** What a person has allowed a client: scopes as text. */
type Consent = { openid: string | undefined; resources: Record<string, string> };

/** Returns the id of the record of a consent: one Grant for each person and client that no token belongs to. */
function consentIdOf(email: string, clientId: string): string {
  return digest(`consent\n${email}\n${clientId}`).toString('hex');
}

async function consentOf(
  store: RecordsStore,
  email: string,
  { clientId, clientIdIssuedAt = 0 }: Pick<Client, 'clientId' | 'clientIdIssuedAt'>,
): Promise<Consent | null> {
  const found = await store.find('Grant', consentIdOf(email, clientId));
  if (!found) return null;
  const { iat, openid, resources } = found.payload as { iat: number; openid?: { scope?: string }; resources?: Record<string, string> };
  if (iat < clientIdIssuedAt) return null;
  return { openid: openid?.scope, resources: resources ?? {} };
}

/**
 * Grants what an interaction asks for, and remembers it as the person's consent to the client.
 * @returns the id of the grant, which has the scopes of this request
 */
export async function grantConsent(provider: Provider, store: RecordsStore, interaction: Interaction, email: string): Promise<string> {
  const clientId = String(interaction.params.client_id);
  const known = interaction.grantId ? await provider.Grant.find(interaction.grantId) : undefined;
  const grant = Object.assign(known ?? new provider.Grant({ accountId: email, clientId }), {
    locale: (interaction.lastSubmission as WithLocale | undefined)?.locale,
  });
  const details = interaction.prompt.details as {
    missingOIDCScope?: string[];
    missingOIDCClaims?: string[];
    missingResourceScopes?: Record<string, string[]>;
  };
  if (details.missingOIDCScope) grant.addOIDCScope(details.missingOIDCScope);
  if (details.missingOIDCClaims) grant.addOIDCClaims(details.missingOIDCClaims);
  for (const [resource, scopes] of Object.entries(details.missingResourceScopes ?? {})) grant.addResourceScope(resource, scopes);
  const grantId = await grant.save();
  const consent = new provider.Grant({ accountId: email, clientId });
  const client = await provider.Client.find(clientId);
  const before = client ? await consentOf(store, email, client) : null;
  for (const scope of [before?.openid, grant.openid?.scope]) if (scope) consent.addOIDCScope(scope);
  for (const resources of [before?.resources, grant.resources])
    for (const [resource, scope] of Object.entries(resources ?? {})) consent.addResourceScope(resource, scope);
  Object.assign(consent, { jti: consentIdOf(email, clientId), expiresIn: CONSENT_SECONDS });
  await consent.save();
  return grantId;
}

/** The claims of each scope. Those of `openid` are in every ID token. */
export const CLAIMS = {
  openid: ['sub', 'auth_time', 'acr', 'amr'],
  email: ['email', 'email_verified'],
  profile: ['name', 'preferred_username', 'locale'],
};

/**
 * Returns the subject identifier of an address at a client (OpenID Connect Core §8.1): different at clients of different hosts, and the
 * same for all clients of one host.
 * @param salt of the service
 */
export function pairwiseSubject(salt: Buffer, sector: string, email: string): string {
  return createHmac('sha256', salt).update(`${sector}\n${email}`).digest('base64url');
}

/**
 * Returns the host whose clients see the same subjects: that of the first redirect URI, or the client itself when it is a native one
 * or described itself, because it could name a host of others.
 */
export function sectorOf({ clientId, redirectUris }: Pick<Client, 'clientId' | 'redirectUris'>): string {
  const kind = clientKindOf(clientId);
  if (kind === 'registered' || kind === 'metadata_document') return clientId;
  const [first] = redirectUris ?? [];
  const url = first !== undefined && URL.canParse(first) ? new URL(first) : null;
  return url?.protocol.startsWith('http') && !isLoopbackRedirectHost(url.hostname) ? url.host : clientId;
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

  constructor({ core }: Pick<Database, 'core'>) {
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

function present({ id, clientId, client, grants, createdAt, lastUsed }: ConnectionRecord): Output<'listConnections'>[number] {
  const granted = new Set(grants.flatMap(scopesOf));
  const host = hostOf(client?.redirectUris[0] ?? clientId);
  return {
    id,
    clientId,
    name: client?.name || host || clientId,
    host,
    kind: clientKindOf(clientId) ?? 'registered',
    scopes: APPLICATION_SCOPES.filter((scope) => granted.has(scope)),
    createdAt: createdAt.toISOString(),
    lastUsed: lastUsed.toISOString(),
  };
}

const scopesOf = ({ openid, resources = {} }: ConnectionRecord['grants'][number]) =>
  [openid?.scope ?? '', ...Object.values(resources)].flatMap((scope) => scope.split(' '));

/** Returns the host of a URL, or the scheme of a native program's; null for a text that is not a URL. */
function hostOf(uri: string): string | null {
  if (!URL.canParse(uri)) return null;
  const { hostname, protocol } = new URL(uri);
  return hostname || protocol.slice(0, -1);
}

/** Binds the calls of connections. */
export function connectionRoutes(connections: Connections): Served[] {
  return [
    serve('listConnections', (_, { account }) => connections.list(account)),
    serve('revokeConnection', ({ id }, { account }) => connections.revoke(account, id)),
  ];
}

/** The id of a connection, derived from its client_id, as SQL. */
const ID = "encode(substring(sha256(convert_to(g.client_id, 'UTF8')) from 1 for 16), 'hex')";

const LIST = `
select ${ID} as id, g.client_id as "clientId", min(g.created_at) as "createdAt",
  max(greatest(g.created_at, (select max(t.created_at) from oidc_records t where t.grant_id = g.id))) as "lastUsed",
  array_agg(g.payload) as grants,
  (select row_to_json(a) from (
    select name, redirect_uris as "redirectUris" from applications where client_id = g.client_id
    union all
    select payload->>'client_name', array(select jsonb_array_elements_text(payload->'redirect_uris')) from oidc_records
    where kind = 'Client' and id = sha256(convert_to(g.client_id, 'UTF8'))
  ) a limit 1) as client
from oidc_records g
where g.email = $1 and g.kind = 'Grant' and (g.expires_at is null or g.expires_at > now())
group by g.client_id
order by "lastUsed" desc, g.client_id`;

// A token that a concurrent request issues with an ended grant is invalid too, because its grant is not found.
const REVOKE = `
with ended as (delete from oidc_records g where g.email = $1 and g.kind = 'Grant' and ${ID} = $2 returning g.id),
tokens as (delete from oidc_records where grant_id in (select id from ended)),
audit as (insert into audit_log (action, email) select 'connection_revoked', $1 from ended limit 1)
select 1 from ended limit 1`;

/** What a person granted to one client: the payloads of oidc-provider, and what is known about the client. */
type ConnectionRecord = {
  id: string;
  clientId: string;
  createdAt: Date;
  lastUsed: Date;
  grants: { openid?: { scope?: string }; resources?: Record<string, string> }[];
  /** Null: a website, or a client whose metadata are not stored here. */
  client: { name: string | null; redirectUris: string[] } | null;
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
