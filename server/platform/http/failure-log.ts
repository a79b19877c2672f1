import { LRUCache } from 'lru-cache';
import { codeOf, type Log } from '../log.ts';
import { newRequestId } from './request-record.ts';

/** Minimum time between two logged stacks of the same kind of error. */
const STACK_INTERVAL_MS = 60_000;
/** Interval at which the number of errors without a line of their own is logged. */
const COUNT_INTERVAL_MS = 10_000;
const MAX_KINDS = 500;
/** Interval at which an unavailable database is polled. */
const PING_INTERVAL_MS = 1_000;
/** An outage is over when the database responds and no request has failed for this long. */
const RECOVERY_MS = 3_000;

type Outage = { reference: string; startedAt: number; lastFailureAt: number; lastCountedAt: number; requests: number };

/**
 * Logs the responses with status 500 and 503 in a bounded number of lines. Every method returns the reference number of the response: the
 * id of the request that is logged.
 */
export class FailureLog {
  readonly #log: Log;
  readonly #ping: () => Promise<unknown>;
  /** The kinds of errors whose stack was logged within STACK_INTERVAL_MS. */
  readonly #stackLogged = new LRUCache<string, true>({ max: MAX_KINDS, ttl: STACK_INTERVAL_MS });
  /** By kind of `unavailable`: the reference of the logged error, and the number of those that followed. */
  readonly #suppressed = new Map<string, { reference: string; requests: number }>();
  #outage: Outage | null = null;

  /** @param ping resolves when the database executes a statement */
  constructor(log: Log, ping: () => Promise<unknown>) {
    this.#log = log;
    this.#ping = ping;
  }

  /** Logs an internal error: one line each, and the stack once per kind and minute. */
  logInternal(error: unknown, route: string, request = newRequestId()): string {
    const { name, message } = error instanceof Error ? error : new Error(String(error));
    const code = codeOf(error);
    const kind = `${route} ${name} ${code}`;
    if (this.#stackLogged.has(kind)) {
      this.#log.error({ request, route, error: name, code, reason: message }, 'internal');
      return request;
    }
    this.#stackLogged.set(kind, true);
    this.#log.error({ err: error, request, route }, 'internal');
    return request;
  }

  /** Logs that something other than the database is unavailable: the first error of a kind with its stack, then the number of errors. */
  logUnavailable(error: unknown, route: string, request = newRequestId()): string {
    const kind = `unavailable: ${route}`;
    const same = this.#suppressed.get(kind);
    if (same) {
      same.requests += 1;
      return same.reference;
    }
    const reference = request;
    this.#suppressed.set(kind, { reference, requests: 0 });
    this.#log.warn({ err: error, reference, request, route }, 'unavailable');
    this.#countLater(kind);
    return reference;
  }

  /** Logs that the database failed to execute a statement: the first error with its stack, then the number of errors, and the recovery. */
  logDatabaseUnavailable(error: unknown, request = newRequestId()): string {
    const now = Date.now();
    if (!this.#outage) {
      this.#outage = { reference: request, startedAt: now, lastFailureAt: now, lastCountedAt: now, requests: 0 };
      const message = 'database: a statement failed; requests get 503 until the database is available again';
      this.#log.error({ err: error, reference: request, request }, message);
      this.#watchOutage();
    }
    this.#outage.lastFailureAt = now;
    this.#outage.requests += 1;
    return this.#outage.reference;
  }

  #countLater(kind: string): void {
    setTimeout(() => {
      const same = this.#suppressed.get(kind);
      if (!same?.requests) {
        this.#suppressed.delete(kind);
        return;
      }
      this.#log.warn(same, `${kind}: more of the same`);
      same.requests = 0;
      this.#countLater(kind);
    }, COUNT_INTERVAL_MS).unref();
  }

  #watchOutage(): void {
    setTimeout(async () => {
      const isAvailable = await this.#ping().then(
        () => true,
        () => false,
      );
      const outage = this.#outage;
      if (!outage) return;
      const now = Date.now();
      const { reference, requests, startedAt, lastFailureAt } = outage;
      if (isAvailable && now - lastFailureAt >= RECOVERY_MS) {
        this.#outage = null;
        this.#log.warn({ reference, requests, seconds: Math.round((lastFailureAt - startedAt) / 1000) }, 'database: available again');
        return;
      }
      if (now - outage.lastCountedAt >= COUNT_INTERVAL_MS) {
        outage.lastCountedAt = now;
        this.#log.warn({ reference, requests }, 'database: still unavailable; requests get 503');
      }
      this.#watchOutage();
    }, PING_INTERVAL_MS).unref();
  }
}
