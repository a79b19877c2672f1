import { LRUCache } from 'lru-cache';
import type pg from 'pg';
import { Fault } from '../../contract/errors.ts';
import type { Database } from '../platform/db/database.ts';
import type { ApiKey } from '../platform/db/models.ts';
import type { Identity } from '../platform/http/endpoint.ts';
import { digest } from '../platform/secrets.ts';

/** An active key and its account. */
type KnownKey = {
  keyId: string;
  keyName: string;
  environment: ApiKey['environment'];
  scopes: ApiKey['scopes'];
  id: string;
  email: string;
  name: string | null;
};
/** Calls with a key since they were last written. */
type Calls = { keyId: string; calls: number; refused: number };

/** An Authorization header that is meant as a key, so that a mistyped key is refused rather than ignored. */
const MEANT_AS_KEY = /^(?:Bearer\s+)?ea_/i;
const KEY = /^Bearer (ea_(?:live|test)_[\w-]{43})$/i;

/** How long a process accepts a revoked key; together with the time of a request this is less than the promised second. */
const CACHE_MS = 500;
const MAX_CACHED_KEYS = 10_000;
const WRITE_INTERVAL_MS = 1_000;

const FIND = `
select k.id as "keyId", k.name as "keyName", k.environment, k.scopes, u.id, u.email, u.name from api_keys k join users u on u.id = k.user_id
where k.hash = $1 and k.revoked_at is null and (k.expires_at is null or k.expires_at > now())`;

// The keys are locked in one order, so that two processes cannot deadlock.
const ADD_CALLS = `
with given as (select * from unnest($1::uuid[], $2::bigint[], $3::bigint[]) as g (id, calls, refused)),
held as materialized (
  select k.id, g.calls, g.refused from api_keys k join given g on g.id = k.id order by k.id for no key update of k
),
counted as (
  insert into api_key_days as d (api_key, day, calls, refused)
  select id, (now() at time zone 'utc')::date, calls, refused from held
  on conflict (api_key, day) do update set calls = d.calls + excluded.calls, refused = d.refused + excluded.refused
)
update api_keys k set used_at = now() from held where k.id = held.id`;

/** Identifies callers by their API key, and counts their calls. */
export class ApiKeyBearers {
  readonly #core: Database['core'];
  readonly #cache = new LRUCache<string, Promise<KnownKey | null>>({ max: MAX_CACHED_KEYS, ttl: CACHE_MS });
  #calls = new Map<string, Calls>();
  #writing: Promise<void> = Promise.resolve();
  #timer: NodeJS.Timeout | undefined;

  constructor({ core }: Database) {
    this.#core = core;
  }

  /** Returns the account of an Authorization header, or undefined when it does not contain a key. @throws Fault bad_api_key */
  async identityOf(authorization: string): Promise<Identity | undefined> {
    const key = await this.#keyOf(authorization);
    if (!key) return undefined;
    const { id, email, name, scopes, keyName } = key;
    return { id, email, name, device: `API key ${keyName}`, scopes, credential: key.environment === 'live' ? 'live_key' : 'test_key' };
  }

  /**
   * Returns the address of the owner of a key that is used to verify a token, which consumes the token; undefined when the header
   * does not contain a key.
   * @throws Fault bad_api_key, test_key
   */
  async ownerOf(authorization: string): Promise<string | undefined> {
    const key = await this.#keyOf(authorization);
    if (key?.environment === 'test') throw new Fault('test_key');
    return key?.email;
  }

  /** Counts a completed request. The counts are written every second. */
  countCall(authorization: string, status: number): void {
    this.#keyOf(authorization).then(
      (key) => key && this.#add({ keyId: key.keyId, calls: 1, refused: status >= 400 ? 1 : 0 }),
      // The key is not valid, or the database is not available: there is no account to count for.
      () => {},
    );
  }

  start(): void {
    this.#timer = setInterval(() => {
      this.#writing = this.#writing.then(() => this.#write());
    }, WRITE_INTERVAL_MS).unref();
  }

  /** Writes the remaining counts. */
  async stop(): Promise<void> {
    clearInterval(this.#timer);
    this.#writing = this.#writing.then(() => this.#write());
    await this.#writing;
  }

  /** Returns undefined for an Authorization header that does not contain a key. @throws Fault bad_api_key */
  async #keyOf(authorization: string): Promise<KnownKey | undefined> {
    if (!MEANT_AS_KEY.test(authorization)) return undefined;
    const key = KEY.exec(authorization)?.[1];
    const known = key === undefined ? null : await this.#find(key);
    if (!known) throw new Fault('bad_api_key');
    return known;
  }

  #find(key: string): Promise<KnownKey | null> {
    const hash = digest(key);
    const name = hash.toString('base64url');
    const cached = this.#cache.get(name);
    if (cached) return cached;
    const found = findKey(this.#core, hash);
    found.catch(() => this.#cache.delete(name));
    this.#cache.set(name, found);
    return found;
  }

  async #write(): Promise<void> {
    if (this.#calls.size === 0) return;
    const counts = [...this.#calls.values()];
    this.#calls = new Map();
    try {
      await addCalls(this.#core, counts);
    } catch {
      // The database is not available; they are written with the next ones.
      for (const count of counts) this.#add(count);
    }
  }

  #add({ keyId, calls, refused }: Calls): void {
    const sum = this.#calls.get(keyId) ?? { keyId, calls: 0, refused: 0 };
    this.#calls.set(keyId, { keyId, calls: sum.calls + calls, refused: sum.refused + refused });
  }
}

/** Returns an active key by its SHA-256, or null. */
async function findKey(core: pg.Pool, hash: Buffer): Promise<KnownKey | null> {
  return (await core.query<KnownKey>({ name: 'api-key-find', text: FIND, values: [hash] })).rows[0] ?? null;
}

/** Adds calls to the statistics of the current UTC day. */
async function addCalls(core: pg.Pool, given: Calls[]): Promise<void> {
  const values = [given.map(({ keyId }) => keyId), given.map(({ calls }) => calls), given.map(({ refused }) => refused)];
  await core.query({ name: 'api-key-count', text: ADD_CALLS, values });
}
