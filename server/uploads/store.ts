import type { Transaction } from 'sequelize';
import type { Database } from '../db/database.ts';

type UploadStore = {
  /** Expects one file of a user. @returns when that ends, in Unix seconds by the database's clock */
  expect(upload: { id: string; userId: string; seconds: number }): Promise<number>;
  /** @returns whose file is still expected under this id, or null */
  expectedFrom(id: string): Promise<string | null>;
  /** Marks an upload as stored, once, while `write` puts its bytes away. @returns false when it is not expected (any more); nothing is written then */
  storeOnce(id: string, write: () => Promise<void>): Promise<boolean>;
  /** Expects no file under this id any more. */
  forget(id: string): Promise<void>;
  /** @param userId only an upload of this user's */
  isStored(id: string, userId?: string): Promise<boolean>;
  /**
   * Removes the first upload after `after` that nobody needs, once `removeBytes` did its part; until then nobody can begin to need it.
   * @returns its id, or null when there is none
   */
  removeUnneeded(after: string, removeBytes: (id: string) => Promise<void>): Promise<string | null>;
};

// An icon that was chosen a while ago may still wait for its form to be sent.
const UNNEEDED = `(stored_at is null and expires_at < now() - interval '1 day')
  or (stored_at < now() - interval '1 day' and not exists (select from websites w where w.icon = u.id))`;

/** The SQL of uploads. */
export function createUploadStore(database: Database): UploadStore {
  async function ask<Row>(sql: string, bind: unknown[], transaction?: Transaction): Promise<Row[]> {
    const [rows] = await (await database.orm()).query(sql, { bind, transaction });
    return rows as Row[];
  }

  return {
    expect: async ({ id, userId, seconds }) => {
      const [{ expires }] = await ask<{ expires: number }>(
        `insert into uploads (id, user_id, expires_at) values ($1, $2, now() + make_interval(secs => $3))
         returning ceil(extract(epoch from expires_at))::float as expires`,
        [id, userId, seconds],
      );
      return expires;
    },

    expectedFrom: async (id) => {
      const sql = 'select user_id as "userId" from uploads where id = $1 and stored_at is null and expires_at > now()';
      return (await ask<{ userId: string }>(sql, [id]))[0]?.userId ?? null;
    },

    storeOnce: async (id, write) =>
      (await database.orm()).transaction(async (transaction) => {
        // The row stays locked until the bytes are there: a second writer waits, and then finds it stored.
        const sql = 'update uploads set stored_at = now() where id = $1 and stored_at is null and expires_at > now() returning id';
        if ((await ask(sql, [id], transaction)).length === 0) return false;
        await write();
        return true;
      }),

    forget: async (id) => {
      await ask('delete from uploads where id = $1 and stored_at is null', [id]);
    },

    isStored: async (id, userId) => {
      const sql = 'select from uploads where id = $1 and stored_at is not null and ($2::uuid is null or user_id = $2)';
      return (await ask(sql, [id, userId ?? null])).length === 1;
    },

    removeUnneeded: async (after, removeBytes) =>
      (await database.orm()).transaction(async (transaction) => {
        const sql = `select id from uploads u where id > $1 and (${UNNEEDED}) order by id limit 1 for update skip locked`;
        const [unneeded] = await ask<{ id: string }>(sql, [after], transaction);
        if (!unneeded) return null;
        await removeBytes(unneeded.id);
        await ask('delete from uploads where id = $1', [unneeded.id], transaction);
        return unneeded.id;
      }),
  };
}
