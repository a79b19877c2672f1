import { createHash } from 'node:crypto';
import { LRUCache } from 'lru-cache';
import { RateLimiterPostgres, RateLimiterRes } from 'rate-limiter-flexible';
import { Fault } from '../../contract/errors.ts';
import { RATE_LIMITS } from '../../contract/rules.ts';
import type { Database } from '../db/database.ts';

/** What the 429 of each limit says. The mails' own limits are part of the sign-in core's request statement. */
const MESSAGES = {
  registrations: 'Too many registrations from your network. Please wait a little.',
  domain_claims: 'Too many domains to prove. Please wait a little.',
  domain_proofs: 'Too many checks of a proof. Please wait a little.',
  admin_password: 'Too many wrong passwords from your network. Please wait a little, or run `emailauth admin unlock` on the server.',
  admin_password_total: 'Too many wrong passwords. Please wait a little.',
  admin_password_spare: 'Too many wrong passwords. Please wait a little, or run `emailauth admin unlock` on the server.',
  admin_password_spare_total: 'Too many wrong passwords. Please wait a little, or run `emailauth admin unlock` on the server.',
  site_checks: 'Too many checks of your websites. Please wait a little.',
  uploads: 'Too many icons were uploaded. Please wait a little.',
  failed_verify: 'Too many tokens that are not valid. Please wait a minute.',
} as const;

export type LimitName = keyof typeof MESSAGES;

/** Limits that all instances share, in PostgreSQL. */
export type Limits = {
  /** Counts one. @throws Fault rate_limited */
  hit(limit: LimitName, key: string): Promise<void>;
  /** Takes one back that `hit` counted. */
  giveBack(limit: LimitName, key: string): Promise<void>;
  /** Refuses, without asking the database, whom this process saw over the limit. @throws Fault rate_limited */
  refuseBlocked(limit: LimitName, key: string): void;
};

/** The column holds 255 characters, the limit's name among them; an address alone may have 254. */
const shortened = (key: string) => (key.length <= 128 ? key : createHash('sha256').update(key).digest('base64url'));

/** @param factor multiplies every limit (100 in local mode, where no mail leaves the machine) */
export function createLimits(pool: Database['core'], factor: number): Limits {
  const limiters = new Map<LimitName, RateLimiterPostgres>();
  /** Each key with the time when it is let through again, in Unix milliseconds. */
  const blockedUntil = new LRUCache<string, number>({ max: 10_000 });

  const limiterOf = (limit: LimitName) => {
    const known = limiters.get(limit);
    if (known) return known;
    const { points, duration } = RATE_LIMITS[limit];
    const limiter = new RateLimiterPostgres({
      storeClient: pool,
      storeType: 'pool',
      tableName: 'rate_limits',
      tableCreated: true,
      // Expired counters are removed by a timed job, in batches and by an index.
      clearExpiredByTimeout: false,
      keyPrefix: limit,
      points: points * factor,
      duration,
    });
    limiters.set(limit, limiter);
    return limiter;
  };
  const refusal = (limit: LimitName, milliseconds: number) =>
    new Fault('rate_limited', { message: MESSAGES[limit], retryAfter: Math.max(1, Math.ceil(milliseconds / 1000)) });

  return {
    hit: async (limit, key) => {
      try {
        await limiterOf(limit).consume(shortened(key));
      } catch (refused) {
        if (!(refused instanceof RateLimiterRes)) throw refused;
        blockedUntil.set(`${limit} ${key}`, Date.now() + refused.msBeforeNext);
        throw refusal(limit, refused.msBeforeNext);
      }
    },
    giveBack: async (limit, key) => {
      await limiterOf(limit).reward(shortened(key));
    },
    refuseBlocked: (limit, key) => {
      const until = blockedUntil.get(`${limit} ${key}`);
      if (until === undefined) return;
      const left = until - Date.now();
      if (left > 0) throw refusal(limit, left);
      blockedUntil.delete(`${limit} ${key}`);
    },
  };
}
