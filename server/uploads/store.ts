import type { Transaction } from 'sequelize';
import type { Database, Query } from '../db/database.ts';

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
   * Reads the next uploads after the id `after`, by a connection of the timed jobs.
   * @returns those of them that nobody needs, and the last one read; null: there are no more
   */
  findUnneeded(query: Query, after: string): Promise<{ unneeded: string[]; last: string | null }>;
  /** Removes an upload, once `removeBytes` did its part; until then nobody can begin to need it. @returns false when somebody needs it */
  removeUnneeded(id: string, removeBytes: () => Promise<void>): Promise<boolean>;
};

// An icon that was chosen a while ago may still wait for its form to be sent. Written as a subquery with a limit, the websites
// are looked up by their index, one by one, whatever the planner takes for their number.
const UNNEEDED = `(stored_at is null and expires_at < now() - interval '1 day')
  or (stored_at < now() - interval '1 day' and (select w.id from websites w where w.icon = u.id limit 1) is null)`;
const SLICE = 1_000;

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

    findUnneeded: async (query, after) => {
      const { rows } = await query(
        `with slice as materialized (select id, stored_at, expires_at from uploads where id > $1 order by id limit ${SLICE})
         select array(select id from slice u where ${UNNEEDED} order by id) as unneeded, (select id from slice order by id desc limit 1) as last`,
        [after],
      );
      return rows[0] as { unneeded: string[]; last: string | null };
    },

    removeUnneeded: async (id, removeBytes) =>
      (await database.orm()).transaction(async (transaction) => {
        const sql = `select from uploads u where id = $1 and (${UNNEEDED}) for update skip locked`;
        if ((await ask(sql, [id], transaction)).length === 0) return false;
        await removeBytes();
        await ask('delete from uploads where id = $1', [id], transaction);
        return true;
      }),
  };
}
