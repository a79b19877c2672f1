import type pg from 'pg';
import type { Environment } from './store.ts';

/** An active key and whose it is. */
export type KnownKey = { keyId: string; environment: Environment; id: string; email: string; name: string | null };
/** Calls with a key since the last count. */
export type Calls = { keyId: string; calls: number; refused: number };

const FIND = `
select k.id as "keyId", k.environment, u.id, u.email, u.name from api_keys k join users u on u.id = k.user_id
where k.hash = $1 and k.revoked_at is null and (k.expires_at is null or k.expires_at > now())`;

// The keys are locked in one order, so that two processes never wait for each other in a circle.
const COUNT = `
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

/** The SQL of requests that come with a key. */
export function createApiKeyUseStore(core: pg.Pool) {
  return {
    /** @param hash SHA-256 of the key @returns null for a key that is unknown or has ended */
    async find(hash: Buffer): Promise<KnownKey | null> {
      return (await core.query<KnownKey>({ name: 'api-key-find', text: FIND, values: [hash] })).rows[0] ?? null;
    },

    /** Adds to the figures of the current UTC day. */
    async count(given: Calls[]): Promise<void> {
      const values = [given.map(({ keyId }) => keyId), given.map(({ calls }) => calls), given.map(({ refused }) => refused)];
      await core.query({ name: 'api-key-count', text: COUNT, values });
    },
  };
}
