import type { IncomingMessage } from 'node:http';
import type { Provider } from 'oidc-provider';
import { RateLimiterMemory } from 'rate-limiter-flexible';
import { Fault } from '../../contract/errors.ts';
import { RATE_LIMITS } from '../../contract/limits.ts';
import type { Context, ProviderPages } from './pages.ts';

type Parts = {
  pages: Pick<ProviderPages, 'showError' | 'isWrongUserCode'>;
  clientAddressOf(request: IncomingMessage): string;
  /** Counts a rejected token request for its network, in all instances together. @throws Fault rate_limited */
  countRejected(clientAddress: string): Promise<void>;
  /** @throws Fault rate_limited when this process has seen too many wrong user codes of a network */
  refuseUserCodes(clientAddress: string): void;
  /** Counts a wrong user code for its network, in all instances together. @throws Fault rate_limited */
  countWrongUserCode(clientAddress: string): Promise<void>;
  /** Multiplies the limits; 100 in local mode. */
  limitFactor: number;
};

/** The endpoints that store a record for every request of anybody. */
const STARTS = new Set(['/oauth/authorize', '/oauth/par', '/oauth/device/authorize']);
const TOKEN = '/oauth/token';
const DEVICE = '/oauth/device';
/** What a device that polls gets while its person has not decided. */
const WAITING = new Set(['authorization_pending', 'slow_down']);

/**
 * Limits the authorization requests of a network, its rejected token requests and its wrong user codes (RFC 8628 §5.1). A token
 * request that succeeds is never limited.
 */
export function limitRequests(provider: Provider, parts: Parts): void {
  const { pages, clientAddressOf, countRejected, limitFactor } = parts;
  const { points, duration } = RATE_LIMITS.authorization_requests;
  // Counted by each process, without a query, because the limit protects only the storage.
  const starts = new RateLimiterMemory({ points: points * limitFactor, duration });
  provider.use(async (ctx, next) => {
    if (!STARTS.has(ctx.path)) return next();
    const seconds = await starts.consume(clientAddressOf(ctx.req)).then(
      () => 0,
      ({ msBeforeNext }) => Math.max(1, Math.ceil(msBeforeNext / 1000)),
    );
    if (seconds === 0) return next();
    refuse(ctx, seconds, 'Too many authorization requests from your network. Please wait a little.');
    if (ctx.method === 'GET' && ctx.accepts('json', 'html') === 'html') pages.showError(ctx, 'temporarily_unavailable', 429);
  });
  provider.use(async (ctx, next) => {
    await next();
    if (ctx.path !== TOKEN || ctx.status < 400 || ctx.status >= 500 || WAITING.has(Object(ctx.body).error)) return;
    try {
      await countRejected(clientAddressOf(ctx.req));
    } catch (error) {
      if (!(error instanceof Fault) || error.code !== 'rate_limited') throw error;
      refuse(ctx, error.retryAfter ?? 1, error.message);
    }
  });
  limitUserCodes(provider, parts);
}

function limitUserCodes(provider: Provider, { pages, clientAddressOf, refuseUserCodes, countWrongUserCode }: Parts): void {
  provider.use(async (ctx, next) => {
    if (ctx.path !== DEVICE || ctx.method !== 'POST') return next();
    const address = clientAddressOf(ctx.req);
    try {
      refuseUserCodes(address);
      await next();
      if (pages.isWrongUserCode(ctx.req)) await countWrongUserCode(address);
    } catch (error) {
      if (!(error instanceof Fault) || error.code !== 'rate_limited') throw error;
      refuse(ctx, error.retryAfter ?? 1, error.message);
      pages.showError(ctx, 'temporarily_unavailable', 429);
    }
  });
}

function refuse(ctx: Context, seconds: number, message: string): void {
  ctx.status = 429;
  ctx.set('Retry-After', String(seconds));
  ctx.body = { error: 'temporarily_unavailable', error_description: message };
}
