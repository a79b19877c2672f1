import type pg from 'pg';
import type { ApiKey } from '../db/models.ts';

/** An active key and its account. */
export type KnownKey = Pick<ApiKey, 'environment' | 'scopes'> & { keyId: string; id: string; email: string; name: string | null };
/** Calls with a key since they were last written. */
export type Calls = { keyId: string; calls: number; refused: number };
type UsageDay = { date: string; calls: number; refused: number };

const FIND = `
select k.id as "keyId", k.environment, k.scopes, u.id, u.email, u.name from api_keys k join users u on u.id = k.user_id
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

const USAGE = `
select to_char(g.at, 'YYYY-MM-DD') as date, coalesce(d.calls, 0)::int as calls, coalesce(d.refused, 0)::int as refused
from generate_series((now() at time zone 'utc')::date - 29, (now() at time zone 'utc')::date, interval '1 day') g (at)
left join api_key_days d on d.api_key = $1 and d.day = g.at::date
order by g.at`;

/** Returns an active key by its SHA-256, or null. */
export async function findKey(core: pg.Pool, hash: Buffer): Promise<KnownKey | null> {
  return (await core.query<KnownKey>({ name: 'api-key-find', text: FIND, values: [hash] })).rows[0] ?? null;
}

/** Adds calls to the statistics of the current UTC day. */
export async function addCalls(core: pg.Pool, given: Calls[]): Promise<void> {
  const values = [given.map(({ keyId }) => keyId), given.map(({ calls }) => calls), given.map(({ refused }) => refused)];
  await core.query({ name: 'api-key-count', text: ADD_CALLS, values });
}

/** Returns the calls of a key in the last 30 UTC days, oldest first. */
export async function readUsage(core: pg.Pool, id: string): Promise<UsageDay[]> {
  return (await core.query<UsageDay>({ name: 'api-key-usage', text: USAGE, values: [id] })).rows;
}
