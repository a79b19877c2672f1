import { LRUCache } from 'lru-cache';
import { Fault } from '../../contract/errors.ts';
import type { Database } from '../db/database.ts';
import type { Identity } from '../http/serve.ts';
import { digest } from '../secrets.ts';
import { type Calls, createApiKeyUseStore, type KnownKey } from './use-store.ts';

/** Whatever is meant as a key, so that a mistyped one is refused rather than overlooked. */
const MEANT_AS_KEY = /^(?:Bearer\s+)?ea_/i;
const KEY = /^Bearer (ea_(?:live|test)_[\w-]{43})$/i;

/** A revoked key may live so long in a process; with the time of the request that is under the promised second. */
const REMEMBER_MS = 500;
const MAX_REMEMBERED = 10_000;
const COUNT_MS = 1_000;

export type ApiKeyBearers = ReturnType<typeof createApiKeyBearers>;

/** Who calls with an API key, and how often. */
export function createApiKeyBearers(database: Database) {
  const store = createApiKeyUseStore(database.core);
  const remembered = new LRUCache<string, Promise<KnownKey | null>>({ max: MAX_REMEMBERED, ttl: REMEMBER_MS });
  let calls = new Map<string, Calls>();
  let counting: Promise<void> = Promise.resolve();
  let timer: NodeJS.Timeout | undefined;

  function find(key: string): Promise<KnownKey | null> {
    const hash = digest(key);
    const name = hash.toString('base64url');
    const known = remembered.get(name);
    if (known) return known;
    const found = store.find(hash);
    found.catch(() => remembered.delete(name));
    remembered.set(name, found);
    return found;
  }

  /** @returns undefined for an Authorization header that holds no key. @throws Fault bad_api_key */
  async function keyOf(authorization: string): Promise<KnownKey | undefined> {
    if (!MEANT_AS_KEY.test(authorization)) return undefined;
    const key = KEY.exec(authorization)?.[1];
    const known = key === undefined ? null : await find(key);
    if (!known) throw new Fault('bad_api_key');
    return known;
  }

  async function flush(): Promise<void> {
    if (calls.size === 0) return;
    const counted = calls;
    calls = new Map();
    try {
      await store.count([...counted.values()]);
    } catch {
      // The database is away; they are counted with the next ones.
      for (const each of counted.values()) add(each);
    }
  }

  function add({ keyId, calls: more, refused }: Calls): void {
    const sum = calls.get(keyId) ?? { keyId, calls: 0, refused: 0 };
    calls.set(keyId, { keyId, calls: sum.calls + more, refused: sum.refused + refused });
  }

  return {
    /** Who makes a request with this Authorization header; undefined when it holds no key. @throws Fault bad_api_key */
    async identityOf(authorization: string): Promise<Identity | undefined> {
      const key = await keyOf(authorization);
      return key && { id: key.id, email: key.email, name: key.name, by: key.environment === 'live' ? 'live_key' : 'test_key' };
    },

    /**
     * The address of the owner of a key that is to verify a token, which uses the token up; undefined when the header holds none.
     * @throws Fault bad_api_key, test_key
     */
    async ownerOf(authorization: string): Promise<string | undefined> {
      const key = await keyOf(authorization);
      if (key?.environment === 'test') throw new Fault('test_key');
      return key?.email;
    },

    /** Counts a request that was answered; the sums are written every second. */
    answered(authorization: string, status: number): void {
      keyOf(authorization).then(
        (key) => key && add({ keyId: key.keyId, calls: 1, refused: status >= 400 ? 1 : 0 }),
        // Nobody's key, or a database that is away: there is nobody to count for.
        () => {},
      );
    },

    start(): void {
      timer = setInterval(() => {
        counting = counting.then(flush);
      }, COUNT_MS).unref();
    },

    /** Writes what is not counted yet. */
    async stop(): Promise<void> {
      clearInterval(timer);
      counting = counting.then(flush);
      await counting;
    },
  };
}
