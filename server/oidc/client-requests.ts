import type { IncomingMessage } from 'node:http';
import { LRUCache } from 'lru-cache';
import type { errors, KoaContextWithOIDC, Provider } from 'oidc-provider';
import { oneLine } from '../../diagnostics/check.ts';
import type { Database } from '../db/database.ts';
import { refusalReason } from '../events/explanations.ts';
import type { EventRecorder } from '../events/recorder.ts';
import { subjectOf } from '../events/subjects.ts';
import { requestIdOf } from '../http/request-record.ts';
import type { Log } from '../log.ts';
import { clientKindOf } from './client-ids.ts';
import { addExchange, addRefusal } from './client-requests-store.ts';

/** The events of oidc-provider that report a rejected request. */
const EVENTS = [
  'authorization.error',
  'grant.error',
  'pushed_authorization_request.error',
  'device_authorization.error',
  'introspection.error',
  'revocation.error',
  'userinfo.error',
  'end_session.error',
] as const;

/** Answers that belong to the protocol and are no fault of the client. */
const EXPECTED = new Set([
  'authorization_pending',
  'slow_down',
  'login_required',
  'consent_required',
  'interaction_required',
  'account_selection_required',
]);

const MAX_DESCRIPTION_LENGTH = 300;
/** The same refusal of a client is recorded once in this time, and so many different ones of it by each process. */
const INTERVAL_MS = 10_000;
const MAX_IN_INTERVAL = 20;

/** Grants by which a person is signed in; a refresh token continues a sign-in. */
const SIGN_IN_GRANTS = new Set(['authorization_code', 'urn:ietf:params:oauth:grant-type:device_code']);

type Parts = { core: Database['core']; log: Pick<Log, 'warn'>; events: Pick<EventRecorder, 'record'> };

/**
 * Records the requests of clients that were rejected, for the owners of applications (server/applications/) and as events of
 * applications and websites, within bounds that no sender can exceed; and those that end a sign-in.
 */
export class ClientRequestRecorder {
  readonly #parts: Parts;
  readonly #recent = new LRUCache<string, true>({ max: 5_000, ttl: INTERVAL_MS });
  readonly #counts = new LRUCache<string, { recorded: number }>({ max: 5_000, ttl: INTERVAL_MS });

  constructor(parts: Parts) {
    this.#parts = parts;
  }

  /** Records what a provider rejects and grants from now on. */
  observe(provider: Provider): void {
    // Its types have an overload for each event, and none for several.
    for (const event of EVENTS) provider.on(event as 'grant.error', (ctx, error) => this.#recordRefusal(ctx, error));
    provider.on('grant.success', (ctx) => this.#recordExchange(ctx));
  }

  #recordRefusal({ oidc, req }: KoaContextWithOIDC, refused: Error): void {
    const { message: error, error_description, error_detail } = refused as errors.OIDCProviderError;
    // A client_id that does not exist, or that nobody here owns, is not recorded.
    const clientId = oidc.client?.clientId;
    const domain = clientId === undefined ? null : subjectOf({ domain: null, clientId });
    if (!clientId || !domain || EXPECTED.has(error)) return;
    const description = oneLine([error_description, error_detail].filter(Boolean).join(': '), MAX_DESCRIPTION_LENGTH);
    if (!this.#isNew(clientId, `${clientId} ${error} ${description}`)) return;
    void this.#parts.events.record({ domain, kind: 'client_refused', reason: refusalReason(error, description) });
    if (clientKindOf(clientId) === 'application') this.#keep(addRefusal(this.#parts.core, clientId, error, description), req);
  }

  #recordExchange({ oidc, req }: KoaContextWithOIDC): void {
    const { client, account, params } = oidc;
    if (!client || !account || !SIGN_IN_GRANTS.has(String(params?.grant_type))) return;
    if (subjectOf({ domain: null, clientId: client.clientId }))
      this.#keep(addExchange(this.#parts.core, client.clientId, account.accountId), req);
  }

  #keep(stored: Promise<void>, request: IncomingMessage): void {
    stored.catch((cause) =>
      this.#parts.log.warn({ err: cause, request: requestIdOf(request) }, 'a request of an OpenID Connect client was not recorded'),
    );
  }

  #isNew(clientId: string, refusal: string): boolean {
    if (this.#recent.has(refusal)) return false;
    const count = this.#counts.get(clientId) ?? { recorded: 0 };
    if (count.recorded >= MAX_IN_INTERVAL) return false;
    count.recorded += 1;
    if (count.recorded === 1) this.#counts.set(clientId, count);
    this.#recent.set(refusal, true);
    return true;
  }
}
