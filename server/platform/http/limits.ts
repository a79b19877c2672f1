import { LRUCache } from 'lru-cache';
import { Fault } from '../../../contract/errors.ts';
import { RATE_LIMITS } from '../../../contract/rate-limits.ts';
import type { Database } from '../db/database.ts';
import { addHits } from '../db/rate-limits.ts';

/** The limits that this module counts. Those of emails and codes are part of the statements of signing in. */
export type LimitName = Exclude<keyof typeof RATE_LIMITS, `mails_${string}` | `wrong_codes${string}`>;

/** Keys of which this process keeps a counter or the end of a refusal. */
const MAX_KEYS = 10_000;

/** $1 counter, $2 seconds of its window. */
const HIT = `
with hit as (${addHits({ key: '$1', windowEnd: 'now() + make_interval(secs => $2)' })})
select hits, extract(epoch from resets_at - now())::float8 * 1000 as "remainingMs" from hit`;

const GIVE_BACK = 'update rate_limits set hits = hits - 1 where key = $1 and hits > 0 and resets_at > now()';

/** Returns the key of a counter. */
const counterKey = (limit: LimitName, key: string) => `${limit} ${key}`;

/** Rate limits, counted in PostgreSQL for all instances together. */
export class Limits {
  readonly #pool: Database['core'];
  readonly #factor: number;
  /** By counter: when this process may try again, in Unix milliseconds. */
  readonly #blockedUntil = new LRUCache<string, number>({ max: MAX_KEYS });
  /** By counter: what only this process counts. */
  readonly #ownCounters = new LRUCache<string, { hits: number; resetsAt: number }>({ max: MAX_KEYS });

  /** @param factor multiplies every limit (100 in local mode, where no email leaves the machine) */
  constructor(pool: Database['core'], factor: number) {
    this.#pool = pool;
    this.#factor = factor;
  }

  /** Counts one use. @throws Fault rate_limited */
  async hit(limit: LimitName, key: string): Promise<void> {
    const { duration } = RATE_LIMITS[limit];
    const counter = counterKey(limit, key);
    const { rows } = await this.#pool.query<{ hits: number; remainingMs: number }>({
      name: 'rate-limit-hit',
      text: HIT,
      values: [counter, duration],
    });
    const [{ hits, remainingMs }] = rows;
    if (hits <= this.#maxOf(limit)) return;
    this.#blockedUntil.set(counter, Date.now() + remainingMs);
    throw refusal(limit, remainingMs);
  }

  /** Counts one use in this process only, without a query, for a limit that protects no more than the storage. @throws Fault rate_limited */
  hitHere(limit: LimitName, key: string): void {
    const now = Date.now();
    const ownKey = counterKey(limit, key);
    let counter = this.#ownCounters.get(ownKey);
    if (!counter || counter.resetsAt <= now) {
      counter = { hits: 0, resetsAt: now + RATE_LIMITS[limit].duration * 1000 };
      this.#ownCounters.set(ownKey, counter);
    }
    counter.hits++;
    if (counter.hits > this.#maxOf(limit)) throw refusal(limit, counter.resetsAt - now);
  }

  /** Takes back one use that `hit` counted. */
  async giveBack(limit: LimitName, key: string): Promise<void> {
    await this.#pool.query({ name: 'rate-limit-give-back', text: GIVE_BACK, values: [counterKey(limit, key)] });
  }

  /** Refuses a key that this process has seen above the limit, without a query. @throws Fault rate_limited */
  refuseBlocked(limit: LimitName, key: string): void {
    const counter = counterKey(limit, key);
    const until = this.#blockedUntil.get(counter);
    if (until === undefined) return;
    const remainingMs = until - Date.now();
    if (remainingMs > 0) throw refusal(limit, remainingMs);
    this.#blockedUntil.delete(counter);
  }

  #maxOf(limit: LimitName): number {
    return RATE_LIMITS[limit].points * this.#factor;
  }
}

function refusal(limit: LimitName, waitMs: number): Fault {
  return new Fault('rate_limited', { message: RATE_LIMITS[limit].message, retryAfter: Math.max(1, Math.ceil(waitMs / 1000)) });
}
