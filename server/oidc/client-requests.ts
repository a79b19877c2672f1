import type { IncomingMessage } from 'node:http';
import { LRUCache } from 'lru-cache';
import type { errors, KoaContextWithOIDC, Provider } from 'oidc-provider';
import { oneLine } from '../../diagnostics/check.ts';
import { type EventRecorder, subjectOf } from '../activity/recorder.ts';
import { refusalReason } from '../developers/refusals.ts';
import { siteOfNetwork } from '../platform/http/client-address.ts';
import type { Limits } from '../platform/http/limits.ts';
import { endpointAt, type OpenIdEndpoint } from './endpoints.ts';
import type { ProviderPages } from './pages.ts';
import type { RecordsStore } from './store.ts';

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

/** Error codes that are part of the protocol, and not a fault of the client. */
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

type Parts = { store: RecordsStore; events: EventRecorder };

/**
 * Records the requests of clients that were rejected, for the owners of applications and websites, within bounds that no sender can exceed;
 * and those that end a sign-in.
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

  #recordRefusal({ oidc }: KoaContextWithOIDC, refused: Error): void {
    const { message: error, error_description, error_detail } = refused as errors.OIDCProviderError;
    // A client_id that does not exist, or that no one here owns, is not recorded.
    const clientId = oidc.client?.clientId;
    const domain = clientId === undefined ? null : subjectOf({ domain: null, clientId });
    if (!clientId || !domain || EXPECTED.has(error)) return;
    const description = oneLine([error_description, error_detail].filter(Boolean).join(': '), MAX_DESCRIPTION_LENGTH);
    if (!this.#isNew(clientId, `${clientId} ${error} ${description}`)) return;
    void this.#parts.events.record({ domain, kind: 'client_refused', reason: refusalReason(error, description) });
  }

  #recordExchange({ oidc }: KoaContextWithOIDC): void {
    const { client, account, params } = oidc;
    if (!client || !account || !SIGN_IN_GRANTS.has(String(params?.grant_type))) return;
    const { clientId } = client;
    if (subjectOf({ domain: null, clientId })) this.#parts.store.addExchange({ clientId, email: account.accountId });
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

type LimitParts = {
  pages: Pick<ProviderPages, 'isWrongUserCode'>;
  limits: Limits;
  clientAddressOf(request: IncomingMessage): string;
};

/** The endpoints that store a record for each request, from anyone. */
const STARTS: ReadonlySet<unknown> = new Set<OpenIdEndpoint['name']>([
  'authorization',
  'pushed_authorization_request',
  'device_authorization',
  'code_verification',
  'end_session',
]);
/** The endpoints at which tokens and secrets of clients could be guessed. */
const CREDENTIALS: ReadonlySet<unknown> = new Set<OpenIdEndpoint['name']>(['token', 'introspection', 'revocation']);
/** What a device that polls gets while its person has not decided. */
const WAITING = new Set(['authorization_pending', 'slow_down']);

/**
 * Limits the authorization requests of a network, its rejected requests about tokens and its wrong user codes (RFC 8628 §5.1). A
 * request about a token that succeeds is never limited.
 */
export function limitRequests(provider: Provider, { pages, limits, clientAddressOf }: LimitParts): void {
  provider.use((ctx, next) => {
    if (ctx.method !== 'OPTIONS' && STARTS.has(endpointAt(ctx.path)?.name))
      limits.hitHere('authorization_requests', clientAddressOf(ctx.req));
    return next();
  });
  provider.use(async (ctx, next) => {
    await next();
    const isRejected = ctx.status >= 400 && ctx.status < 500 && !WAITING.has(Object(ctx.body).error);
    if (!isRejected || !CREDENTIALS.has(endpointAt(ctx.path)?.name)) return;
    const address = clientAddressOf(ctx.req);
    limits.refuseBlocked('rejected_tokens', address);
    await limits.hit('rejected_tokens', address);
  });
  provider.use(async (ctx, next) => {
    if (ctx.method !== 'POST' || endpointAt(ctx.path)?.name !== 'code_verification') return next();
    const network = siteOfNetwork(clientAddressOf(ctx.req));
    limits.refuseBlocked('wrong_user_codes', network);
    await next();
    if (pages.isWrongUserCode(ctx.req)) await limits.hit('wrong_user_codes', network);
  });
}
