import type pg from 'pg';
import { readSchemaState } from '../db/migrate.ts';
import { StartError } from '../start-error.ts';

/**
 * Clears the counters of wrong admin passwords, with an audit row. Instances do not cache them, so all of them accept the next attempt.
 * @param place of the database, for messages
 * @returns how many counters were cleared
 * @throws StartError when the database does not belong to Email Auth
 */
export async function clearAdminLimits(client: pg.ClientBase, place: string): Promise<number> {
  if ((await readSchemaState(client)).migrations.length === 0)
    throw new StartError(`There is no Email Auth database at ${place}. Check DATABASE_URL and DATA_DIR.`);
  const { rows } = await client.query<{ cleared: number }>(
    `with cleared as (delete from rate_limits where starts_with(key, 'admin_password') returning 1),
          audit as (insert into audit_log (action) values ('admin_unlocked'))
     select count(*)::int as cleared from cleared`,
  );
  return rows[0].cleared;
}
