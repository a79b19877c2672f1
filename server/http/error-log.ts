import { randomBytes } from 'node:crypto';
import { LRUCache } from 'lru-cache';
import { codeOf, type Log } from '../log.ts';

/** Of errors of one kind, one stack is logged in so long. */
const STACK_EVERY_MS = 60_000;
/** Of answers that have no line of their own, the number is logged so often. */
const COUNT_EVERY_MS = 10_000;
const MAX_KINDS = 500;
/** While the database is away: how often it is asked, and how long no request may have failed before that is over. */
const ASK_EVERY_MS = 1_000;
const QUIET_MS = 3_000;

/** What the log tells of answers with status 500 and 503, whatever their number. Each returns a reference number that the log has. */
export type ErrorLog = {
  /** A fault of ours: a line each, the first of a kind with its stack. */
  internal(error: unknown, route: string): string;
  /** Something beside the database is not available: the first of a kind with its stack, then their number. */
  unavailable(error: unknown, route: string): string;
  /** The database did not carry a statement out: the first one with its stack, then their number, and the end once it serves again. */
  databaseAway(error: unknown): string;
};

/** @param ping resolves when the database carries a statement out */
export function createErrorLog(log: Log, ping: () => Promise<unknown>): ErrorLog {
  /** When the stack of a kind was logged. */
  const stackLogged = new LRUCache<string, true>({ max: MAX_KINDS, ttl: STACK_EVERY_MS });
  /** By kind of `unavailable`: how many were not logged, and the reference of the one that was. */
  const suppressed = new Map<string, { reference: string; requests: number }>();
  let outage: { reference: string; begun: number; lastFailure: number; lastCounted: number; requests: number } | null = null;

  const countLater = (kind: string) => {
    setTimeout(() => {
      const same = suppressed.get(kind);
      if (!same?.requests) {
        suppressed.delete(kind);
        return;
      }
      log.warn(same, `${kind}: more of the same`);
      same.requests = 0;
      countLater(kind);
    }, COUNT_EVERY_MS).unref();
  };

  const watchOutage = () => {
    setTimeout(async () => {
      if (!outage) return;
      const serves = await ping().then(
        () => true,
        () => false,
      );
      const now = Date.now();
      const { reference, begun, lastFailure, lastCounted, requests } = outage;
      if (serves && now - lastFailure >= QUIET_MS) {
        outage = null;
        log.warn({ reference, requests, seconds: Math.round((lastFailure - begun) / 1000) }, 'database: requests are served again');
        return;
      }
      if (now - lastCounted >= COUNT_EVERY_MS) {
        outage.lastCounted = now;
        log.warn({ reference, requests }, 'database: requests are still answered with 503');
      }
      watchOutage();
    }, ASK_EVERY_MS).unref();
  };

  return {
    internal(error, route) {
      const reference = newReference();
      const { name, message } = error instanceof Error ? error : new Error(String(error));
      const code = codeOf(error);
      const kind = `${route} ${name} ${code}`;
      if (stackLogged.has(kind)) {
        log.error({ reference, route, error: name, code, reason: message }, 'internal');
        return reference;
      }
      stackLogged.set(kind, true);
      log.error({ err: error, reference, route }, 'internal');
      return reference;
    },

    unavailable(error, route) {
      const kind = `unavailable: ${route}`;
      const same = suppressed.get(kind);
      if (same) {
        same.requests += 1;
        return same.reference;
      }
      const reference = newReference();
      suppressed.set(kind, { reference, requests: 0 });
      log.warn({ err: error, reference, route }, 'unavailable');
      countLater(kind);
      return reference;
    },

    databaseAway(error) {
      const now = Date.now();
      if (!outage) {
        outage = { reference: newReference(), begun: now, lastFailure: now, lastCounted: now, requests: 0 };
        const what = 'database: a statement failed; requests are answered with 503 until it serves again';
        log.error({ err: error, reference: outage.reference }, what);
        watchOutage();
      }
      outage.lastFailure = now;
      outage.requests += 1;
      return outage.reference;
    },
  };
}

const newReference = () => randomBytes(6).toString('hex');
