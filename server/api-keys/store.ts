import type { Transaction } from 'sequelize';
import type { Database } from '../db/database.ts';

export type Environment = 'live' | 'test';

/** An API key as the database holds it: never the key itself. */
export type ApiKey = {
  id: string;
  name: string;
  environment: Environment;
  keyId: string;
  isActive: boolean;
  createdAt: Date;
  usedAt: Date | null;
  expiresAt: Date | null;
};
export type NewKey = { id: string; keyId: string; hash: Buffer };
export type UsageDay = { date: string; calls: number; refused: number };

/** Whose key it is; `email` is for the owner's trail. */
type Owner = { userId: string; email: string };

const ACTIVE = '(revoked_at is null and (expires_at is null or expires_at > now()))';
const KEY = `id, name, environment, key_id as "keyId", ${ACTIVE} as "isActive", created_at as "createdAt", used_at as "usedAt",
  expires_at as "expiresAt"`;

/** A statement on `api_keys` that returns the row, with its audit row. $1 is the owner's address. @param before a part of the statement that comes first */
const audited = (sql: string, action: string, before = '') =>
  `with ${before} key as (${sql}), audit as (insert into audit_log (action, email) select '${action}', $1 from key) select ${KEY} from key`;

const ADD = `insert into api_keys (id, user_id, name, environment, key_id, hash)
  select $2, $3, $4, $5, $6, $7 where (select count(*) from api_keys where user_id = $3 and ${ACTIVE}) < $8 returning *`;

// A key is replaced once. Without hours it ends at this moment and makes room for its successor.
const END_OLD = `old as (
  update api_keys set expires_at = now() + make_interval(hours => $6) where id = $4 and user_id = $3 and expires_at is null and ${ACTIVE}
    and ($6 = 0 or (select count(*) from api_keys where user_id = $3 and ${ACTIVE}) < $8)
  returning name, environment
),`;
const ADD_SUCCESSOR = `insert into api_keys (id, user_id, name, environment, key_id, hash)
  select $2, $3, name, environment, $5, $7 from old returning *`;

const REVOKE = `update api_keys set revoked_at = now() where id = $2 and user_id = $3 and ${ACTIVE} returning *`;

const USAGE = `
select to_char(g.at, 'YYYY-MM-DD') as date, coalesce(d.calls, 0)::int as calls, coalesce(d.refused, 0)::int as refused
from generate_series((now() at time zone 'utc')::date - 29, (now() at time zone 'utc')::date, interval '1 day') g (at)
left join api_key_days d on d.api_key = $1 and d.day = g.at::date
order by g.at`;

/** The SQL behind the list of API keys. A change and its audit row are one statement. */
export function createApiKeyStore(database: Database) {
  const ask = async <Row>(sql: string, bind: unknown[], transaction?: Transaction): Promise<Row[]> =>
    (await (await database.orm()).query(sql, { bind, transaction }))[0] as Row[];

  /** One at a time for each owner, so that the count of keys is exact. */
  const alone = async (userId: string, sql: string, bind: unknown[]): Promise<ApiKey | null> =>
    (await database.orm()).transaction(async (transaction) => {
      await ask('select from users where id = $1 for no key update', [userId], transaction);
      return (await ask<ApiKey>(sql, bind, transaction))[0] ?? null;
    });

  const find = async (userId: string, id: string): Promise<ApiKey | null> =>
    (await ask<ApiKey>(`select ${KEY} from api_keys where id = $1 and user_id = $2`, [id, userId]))[0] ?? null;

  return {
    find,

    /** Active keys, and those that ended within the last 30 days, newest first. */
    ofOwner: (userId: string) =>
      ask<ApiKey>(
        `select ${KEY} from api_keys where user_id = $1
           and (${ACTIVE} or least(coalesce(revoked_at, expires_at), coalesce(expires_at, revoked_at)) > now() - interval '30 days')
         order by created_at desc, id desc`,
        [userId],
      ),

    /** @returns null when the owner has `most` active ones already */
    add: (owner: Owner, { id, keyId, hash }: NewKey, { name, environment }: Pick<ApiKey, 'name' | 'environment'>, most: number) =>
      alone(owner.userId, audited(ADD, 'api_key_created'), [owner.email, id, owner.userId, name, environment, keyId, hash, most]),

    /** Adds the successor of an active key, which then ends. @returns null when there is no such key, or no room */
    rotate: (owner: Owner, oldId: string, { id, keyId, hash }: NewKey, graceHours: number, most: number) =>
      alone(owner.userId, audited(ADD_SUCCESSOR, 'api_key_rotated', END_OLD), [
        owner.email,
        id,
        owner.userId,
        oldId,
        keyId,
        graceHours,
        hash,
        most,
      ]),

    /** @returns false when there is no such key, or it has ended */
    revoke: async (owner: Owner, id: string): Promise<boolean> =>
      (await ask(audited(REVOKE, 'api_key_revoked'), [owner.email, id, owner.userId])).length === 1,

    /** 30 UTC days, oldest first. */
    usage: (id: string) => ask<UsageDay>(USAGE, [id]),
  };
}
