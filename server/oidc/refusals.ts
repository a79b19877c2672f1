import { LRUCache } from 'lru-cache';
import type { errors, KoaContextWithOIDC, Provider } from 'oidc-provider';
import { oneLine } from '../../diagnostics/check.ts';
import type { Database } from '../db/database.ts';
import { requestIdOf } from '../http/request-record.ts';
import type { Log } from '../log.ts';
import { clientKindOf } from './client-ids.ts';
import { addRefusal } from './refusals-store.ts';

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

type Parts = { core: Database['core']; log: Pick<Log, 'warn'> };

/** Records the rejected requests of applications for their owners (server/applications/), within bounds that no sender can exceed. */
export class RefusalRecorder {
  readonly #parts: Parts;
  readonly #recent = new LRUCache<string, true>({ max: 5_000, ttl: INTERVAL_MS });
  readonly #counts = new LRUCache<string, { recorded: number }>({ max: 5_000, ttl: INTERVAL_MS });

  constructor(parts: Parts) {
    this.#parts = parts;
  }

  /** Records what a provider rejects from now on. */
  observe(provider: Provider): void {
    // Its types have an overload for each event, and none for several.
    for (const event of EVENTS) provider.on(event as 'grant.error', (ctx, error) => this.#record(ctx, error));
  }

  #record({ oidc, req }: KoaContextWithOIDC, refused: Error): void {
    const { message: error, error_description, error_detail } = refused as errors.OIDCProviderError;
    // A client_id that does not exist, or that nobody here owns, is not recorded.
    const clientId = oidc.client?.clientId;
    if (!clientId || clientKindOf(clientId) !== 'application' || EXPECTED.has(error)) return;
    const description = oneLine([error_description, error_detail].filter(Boolean).join(': '), MAX_DESCRIPTION_LENGTH);
    if (!this.#isNew(clientId, `${clientId} ${error} ${description}`)) return;
    addRefusal(this.#parts.core, clientId, error, description).catch((cause) => {
      this.#parts.log.warn({ err: cause, request: requestIdOf(req) }, 'a rejected request of an application was not recorded');
    });
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
