import type { Database, Query } from '../db/database.ts';

// An icon that was uploaded within the last day may still be assigned to a website. As a subquery with a limit, the websites are found
// by their index one by one, whatever number of them the planner estimates.
const UNNEEDED = `(stored_at is null and expires_at < now() - interval '1 day')
  or (stored_at < now() - interval '1 day' and (select w.id from websites w where w.icon = u.id limit 1) is null)`;
const BATCH = 1_000;

/**
 * Reads the next uploads after the id `after`, on a connection of the timed jobs.
 * @returns the ids of those that are not needed, and the last id that was read; null after the last upload
 */
export async function findUnneeded(query: Query, after: string): Promise<{ unneeded: string[]; last: string | null }> {
  const { rows } = await query(
    `with slice as materialized (select id, stored_at, expires_at from uploads where id > $1 order by id limit ${BATCH})
     select array(select id from slice u where ${UNNEEDED} order by id) as unneeded, (select id from slice order by id desc limit 1) as last`,
    [after],
  );
  return rows[0] as { unneeded: string[]; last: string | null };
}

/**
 * Removes an upload after `removeBytes`. Its row is locked meanwhile, so that no website can be given the icon.
 * @returns false when it is needed, or locked by another process
 */
export async function removeUnneeded(database: Pick<Database, 'orm'>, id: string, removeBytes: () => Promise<void>): Promise<boolean> {
  const { sequelize, Upload } = await database.orm();
  return sequelize.transaction(async (transaction) => {
    const sql = `select id from uploads u where id = $1 and (${UNNEEDED}) for update skip locked`;
    const [rows] = await sequelize.query(sql, { bind: [id], transaction });
    if (rows.length === 0) return false;
    await removeBytes();
    await Upload.destroy({ where: { id }, transaction });
    return true;
  });
}
