import type { IncomingMessage } from 'node:http';
import type { Configuration, errors, KoaContextWithOIDC, Provider } from 'oidc-provider';
import { Fault } from '../../contract/errors.ts';
import { clientKindOf } from './client-ids.ts';
import { createMetadataCheck } from './client-rules.ts';
import { newRegisteredId } from './clients.ts';

/** What clients that describe themselves need from the service: by a document at their client_id, or by registration (RFC 7591). */
export type RegistrationParts = {
  /** Counts a registration, or the fetch of a document, for the network of a request. @throws Fault rate_limited */
  count(limit: 'client_registrations' | 'client_documents', request: IncomingMessage): Promise<void>;
  /** Local mode: documents may be on any port. */
  local: boolean;
  /** A fetch that reaches the public internet only. */
  fetch: NonNullable<Configuration['fetch']>;
};

const REGISTER_PATH = '/oauth/register';
/** How long a client ID metadata document is kept, in seconds, whatever its headers say. */
const DOCUMENT_SECONDS = { min: 60, max: 86_400 };

/** Returns the part of the configuration of oidc-provider for clients that describe themselves. */
export function registrationConfiguration({ count, local, fetch }: RegistrationParts, library: typeof errors) {
  return {
    fetch,
    fetchResponseBodyLimits: { 'client_id metadata document': 5_120, jwks_uri: 65_536, sector_identifier_uri: 5_120 },
    extraClientMetadata: { properties: ['resource_scopes'], validator: createMetadataCheck(library) },
    features: {
      clientIdMetadataDocument: {
        enabled: true,
        ack: 'draft-02',
        cacheDuration: DOCUMENT_SECONDS,
        allowFetch: async (context: KoaContextWithOIDC | undefined, clientId) => {
          if (clientKindOf(clientId) !== 'metadata_document' || (!local && new URL(clientId).port !== '')) return false;
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

/** Refuses registrations above the limit of their network with 429. */
export function limitRegistrations(provider: Provider, { count }: RegistrationParts): void {
  provider.use(async (context, next) => {
    const { method, path } = context;
    if (method !== 'POST' || path !== REGISTER_PATH) return next();
    try {
      await count('client_registrations', context.req);
    } catch (error) {
      if (!(error instanceof Fault)) throw error;
      context.status = error.status;
      context.set('Retry-After', String(error.retryAfter));
      context.body = { error: 'temporarily_unavailable', error_description: error.message };
      return;
    }
    return next();
  });
}
