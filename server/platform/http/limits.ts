import { createHash } from 'node:crypto';
import { LRUCache } from 'lru-cache';
import { RateLimiterPostgres, RateLimiterRes } from 'rate-limiter-flexible';
import { Fault } from '../../../contract/errors.ts';
import { RATE_LIMITS } from '../../../contract/limits.ts';
import type { Database } from '../db/database.ts';

/** The limits that this module counts. Those of emails and codes are part of the statements of signing in. */
export type LimitName = Exclude<keyof typeof RATE_LIMITS, `mails_${string}` | `wrong_codes${string}` | 'authorization_requests'>;

const MAX_BLOCKED_ENTRIES = 10_000;

/** Rate limits, counted in PostgreSQL for all instances together. */
export class Limits {
  readonly #pool: Database['core'];
  readonly #factor: number;
  readonly #limiters = new Map<LimitName, RateLimiterPostgres>();
  /** By limit and key: when this process may try again, in Unix milliseconds. */
  readonly #blockedUntil = new LRUCache<string, number>({ max: MAX_BLOCKED_ENTRIES });

  /** @param factor multiplies every limit (100 in local mode, where no email leaves the machine) */
  constructor(pool: Database['core'], factor: number) {
    this.#pool = pool;
    this.#factor = factor;
  }

  /** Counts one use. @throws Fault rate_limited */
  async hit(limit: LimitName, key: string): Promise<void> {
    try {
      await this.#limiterOf(limit).consume(columnKey(key));
    } catch (refused) {
      if (!(refused instanceof RateLimiterRes)) throw refused;
      this.#blockedUntil.set(`${limit} ${key}`, Date.now() + refused.msBeforeNext);
      throw refusal(limit, refused.msBeforeNext);
    }
  }

  /** Takes back one use that `hit` counted. */
  async giveBack(limit: LimitName, key: string): Promise<void> {
    await this.#limiterOf(limit).reward(columnKey(key));
  }

  /** Refuses a key that this process has seen above the limit, without a query. @throws Fault rate_limited */
  refuseBlocked(limit: LimitName, key: string): void {
    const until = this.#blockedUntil.get(`${limit} ${key}`);
    if (until === undefined) return;
    const remainingMs = until - Date.now();
    if (remainingMs > 0) throw refusal(limit, remainingMs);
    this.#blockedUntil.delete(`${limit} ${key}`);
  }

  #limiterOf(limit: LimitName): RateLimiterPostgres {
    const known = this.#limiters.get(limit);
    if (known) return known;
    const { points, duration } = RATE_LIMITS[limit];
    const limiter = new RateLimiterPostgres({
      storeClient: this.#pool,
      storeType: 'pool',
      tableName: 'rate_limits',
      tableCreated: true,
      // Expired counters are removed by a scheduled job, in batches and by an index.
      clearExpiredByTimeout: false,
      keyPrefix: limit,
      points: points * this.#factor,
      duration,
    });
    this.#limiters.set(limit, limiter);
    return limiter;
  }
}

/** Returns a key that fits into the column: 255 characters, including the limit's name. An email address alone may have 254. */
function columnKey(key: string): string {
  return key.length <= 128 ? key : createHash('sha256').update(key).digest('base64url');
}

function refusal(limit: LimitName, waitMs: number): Fault {
  return new Fault('rate_limited', { message: RATE_LIMITS[limit].message, retryAfter: Math.max(1, Math.ceil(waitMs / 1000)) });
}
