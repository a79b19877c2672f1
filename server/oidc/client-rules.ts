import type { IncomingMessage } from 'node:http';
import type { Client, Configuration, errors, KoaContextWithOIDC, Provider } from 'oidc-provider';
import { Fault } from '../../contract/errors.ts';
import { MAX_CLIENT_URI, MAX_CLIENT_URIS } from '../../contract/limits.ts';
import { hasOwnScheme, redirectUriFault } from '../../contract/redirect-uris.ts';
import { IDENTITY_SCOPES, RESOURCE_SCOPES, type ResourceScope } from '../../contract/scopes.ts';
import { oneLine } from '../../diagnostics/check.ts';
import { isRedirectOf } from '../signin/destination.ts';
import { clientKindOf, isSecretOf, newRegisteredId, OWN_METADATA, type OwnMetadata } from './clients.ts';
import { endpointAt } from './endpoints.ts';

const MAX_NAME_LENGTH = 60;
/** Of the metadata of a client that describes itself, as JSON. */
const MAX_METADATA_LENGTH = 16_384;

/**
 * Returns whether a redirect URI belongs to a client: any address on the host of a website, else one of its own (RFC 8252 §7.3), as
 * long as its scheme is allowed.
 */
function isRedirectAllowed(clientId: string, redirectUris: readonly string[] | undefined, uri: string): boolean {
  if (clientKindOf(clientId) === 'website') return isBelow(clientId, uri);
  if (hasOwnScheme(uri) && redirectUriFault(uri)) return false;
  return isRedirectOf({ id: clientId, redirectUris: redirectUris ?? [], kind: 'application' }, uri);
}

/** Returns whether a URI has the origin, in the form in which browsers serialize it. */
function isBelow(origin: string, uri: string): boolean {
  if (uri.length > MAX_CLIENT_URI || !/^[\x21-\x7e]+$/.test(uri) || /["'<>\\^`{|}#]/.test(uri)) return false;
  return uri.startsWith(origin) && /^[/?]?$/.test(uri.charAt(origin.length));
}

/** Returns the scopes of the service's own resources that a client may request. */
export function resourceScopesOf(client: Client): readonly ResourceScope[] {
  const { resource_scopes: allowed } = client as OwnMetadata;
  return allowed ? RESOURCE_SCOPES.filter((scope) => allowed.includes(scope)) : RESOURCE_SCOPES;
}

/**
 * Makes oidc-provider compare redirect URIs and client secrets by the rules of this service, and derive pairwise subjects for every
 * client, also for those to which its checks do not permit that.
 */
export function applyClientRules({ Client: { prototype } }: Provider): void {
  Object.assign(prototype, {
    redirectUriAllowed(this: Client, uri: string) {
      return isRedirectAllowed(this.clientId, this.redirectUris, uri);
    },
    postLogoutRedirectUriAllowed(this: Client, uri: string) {
      return isRedirectAllowed(this.clientId, this.postLogoutRedirectUris, uri);
    },
    compareClientSecret(this: Client, secret: string) {
      return isSecretOf(this.clientSecret, secret);
    },
  });
  // The setter ignores what the metadata says.
  Object.defineProperty(prototype, 'subjectType', { get: () => 'pairwise', set: () => {} });
}

type Metadata = Record<string, unknown>;

/**
 * Returns the check of the metadata of clients that describe themselves, by a document or by registration: what is checked is the
 * configuration `extraClientMetadata` of oidc-provider, which calls it before its own checks and lets it change the metadata.
 */
function createMetadataCheck({ InvalidClientMetadata }: typeof errors) {
  return (_ctx: KoaContextWithOIDC | undefined, _key: string, _value: unknown, metadata: Metadata): void => {
    const kind = clientKindOf(String(metadata.client_id));
    if (kind !== 'registered' && kind !== 'metadata_document') return;
    const fault = faultOf(metadata);
    if (fault) throw new InvalidClientMetadata(fault);
    normalize(metadata);
  };
}

function faultOf(metadata: Metadata): string | null {
  if (JSON.stringify(metadata).length > MAX_METADATA_LENGTH) return `the metadata must have at most ${MAX_METADATA_LENGTH} characters`;
  for (const name of ['redirect_uris', 'post_logout_redirect_uris']) {
    const uris = metadata[name];
    // oidc-provider reports what is not a list of texts.
    if (!Array.isArray(uris) || !uris.every((uri) => typeof uri === 'string')) continue;
    if (uris.length > MAX_CLIENT_URIS) return `${name} must have at most ${MAX_CLIENT_URIS} members`;
    for (const uri of uris) {
      const fault = uri.length > MAX_CLIENT_URI ? 'is too long' : redirectUriFault(uri);
      if (fault) return `${name}: ${oneLine(uri)} ${fault}`;
    }
  }
  return null;
}

function normalize(metadata: Metadata): void {
  const { client_name: name, scope } = metadata;
  metadata.application_type = 'native';
  metadata.subject_type = 'public';
  // The hosts of redirect URIs are not a sector: `sub` is derived from the client itself, and nothing is fetched for it.
  delete metadata.sector_identifier_uri;
  for (const name of OWN_METADATA) delete metadata[name];
  if (typeof name === 'string') metadata.client_name = oneLine(name, MAX_NAME_LENGTH) || undefined;
  if (typeof scope !== 'string') return;
  // Clients list scopes of several services; a request for another one is rejected.
  const known = IDENTITY_SCOPES.filter((each) => scope.split(' ').includes(each));
  if (known.length > 0) metadata.scope = known.join(' ');
  else delete metadata.scope;
}

/** What clients that describe themselves need from the service: by a document at their client_id, or by registration (RFC 7591). */
export type RegistrationParts = {
  /** Counts a registration, or the fetch of a document, for the network of a request. @throws Fault rate_limited */
  count(limit: 'client_registrations' | 'client_documents', request: IncomingMessage): Promise<void>;
  /** Local mode: documents may be on any port. */
  isLocal: boolean;
  /** A fetch that reaches the public internet only. */
  fetch: NonNullable<Configuration['fetch']>;
};

/** How long a client ID metadata document is kept, in seconds, whatever its headers say. */
const DOCUMENT_SECONDS = { min: 60, max: 86_400 };

/** Returns the part of the configuration of oidc-provider for clients that describe themselves. */
export function registrationConfiguration({ count, isLocal, fetch }: RegistrationParts, library: typeof errors) {
  return {
    fetch,
    fetchResponseBodyLimits: { 'client_id metadata document': 5_120, jwks_uri: 65_536, sector_identifier_uri: 5_120 },
    extraClientMetadata: { properties: OWN_METADATA, validator: createMetadataCheck(library) },
    features: {
      clientIdMetadataDocument: {
        enabled: true,
        ack: 'draft-02',
        cacheDuration: DOCUMENT_SECONDS,
        allowFetch: async (context: KoaContextWithOIDC | undefined, clientId) => {
          if (clientKindOf(clientId) !== 'metadata_document' || (!isLocal && new URL(clientId).port !== '')) return false;
          // The page of an authorization request that was accepted before shows its client on any instance.
          if (!context) return true;
          await count('client_documents', context.req).catch((error) => {
            throw error instanceof Fault ? new library.TemporarilyUnavailable(error.message) : error;
          });
          return true;
        },
      },
      registration: { enabled: true, idFactory: newRegisteredId, issueRegistrationAccessToken: false },
    },
  } satisfies Configuration;
}

/** Refuses registrations above the limit of their network. */
export function limitRegistrations(provider: Provider, { count }: RegistrationParts): void {
  provider.use(async ({ method, path, req }, next) => {
    if (method === 'POST' && endpointAt(path)?.name === 'registration') await count('client_registrations', req);
    return next();
  });
}
