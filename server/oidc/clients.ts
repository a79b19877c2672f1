import { randomBytes } from 'node:crypto';
import type { ClientMetadata } from 'oidc-provider';
import { isLoopbackRedirectHost, normalHost } from '../../contract/rules.ts';
import { IDENTITY_SCOPES, RESOURCE_SCOPES } from '../../contract/scopes.ts';
import { batched } from '../db/batch.ts';
import type { Database } from '../db/database.ts';
import { digest } from '../secrets.ts';
import { registrableOf } from '../websites/domains.ts';
import { clientKindOf } from './client-ids.ts';
import { type ApplicationRecord, addRegistered, findApplications, findRegistered, registeredSince } from './clients-store.ts';

/** Grants that every client may use. */
const GRANT_TYPES = ['authorization_code', 'refresh_token', 'urn:ietf:params:oauth:grant-type:device_code'];

/** The clients of the provider: applications, registered websites, and programs that registered themselves. */
export class OpenIdClients {
  readonly #core: Database['core'];
  readonly #local: boolean;
  /** Concurrent requests share the statements, which read the clients at every request. */
  readonly #applicationOf: (clientId: string) => Promise<ApplicationRecord | null>;
  readonly #registeredSince: (domain: string) => Promise<number | null>;

  /** @param parts.local local mode: websites on this machine are clients too */
  constructor({ core, local }: { core: Database['core']; local: boolean }) {
    this.#core = core;
    this.#local = local;
    this.#applicationOf = batched('oidc-applications', (clientIds: string[]) => findApplications(core, clientIds));
    this.#registeredSince = batched('oidc-websites', (domains: string[]) => registeredSince(core, domains));
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
    if (isLoopbackRedirectHost(hostname)) return this.#local ? websiteMetadata(origin, 0) : undefined;
    const domain = normalHost(hostname) === hostname ? registrableOf(hostname) : null;
    const since = domain !== null && protocol === 'https:' && port === '' ? await this.#registeredSince(domain) : null;
    return since === null ? undefined : websiteMetadata(origin, since);
  }
}

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
    subject_type: 'public',
  };
}

/**
 * The redirect URIs of a website are all those on its host; see `isRedirectAllowed`.
 * @param since of the registration, in Unix seconds: grants from before it belong to a former registration
 */
function websiteMetadata(origin: string, since: number): ClientMetadata {
  return {
    client_id: origin,
    client_id_issued_at: since,
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
