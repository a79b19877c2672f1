import { setTimeout as sleep } from 'node:timers/promises';
import type { JobQuery } from './database.ts';

/** The core's statements end after 2.5 s; a transaction that writes for longer is not waited for. */
const TIMEOUT_MS = 3_000;
const POLL_MS = 20;

/**
 * Returns the SQL expression of the transactions that may still add a row before the newest ones of some tables, as an array.
 *
 * Identity columns number rows in the order of their inserts, but transactions commit in another order. An inserting transaction holds
 * RowExclusiveLock on the table from before the number is drawn until its end. So when all transactions that held it after the newest
 * row was read have ended, no row up to that one can appear any more, however long a transaction takes.
 */
export const writersOf = (...tables: string[]) => `array(
  select virtualtransaction from pg_locks
  where relation in (${tables.map((table) => `'${table}'::regclass`).join(', ')}) and mode = 'RowExclusiveLock' and granted
    and database = (select oid from pg_database where datname = current_database()))`;

// Until its end, a transaction holds a lock on its own number.
const STILL_WRITING = 'select exists (select from pg_locks where virtualtransaction = any($1::text[])) as writing';

/** Waits until transactions have ended. @returns false when one still writes after some seconds, or when `signal` aborts */
export async function waitForWriters(query: JobQuery, writers: string[], signal?: AbortSignal): Promise<boolean> {
  const end = Date.now() + TIMEOUT_MS;
  while (writers.length > 0 && (await query<{ writing: boolean }>(STILL_WRITING, [writers])).rows[0].writing) {
    if (signal?.aborted || Date.now() > end) return false;
    await sleep(POLL_MS);
  }
  return true;
}

/**
 * Returns a statement that finds the number before the first row at or after a time, by bisection: the times of the
 * activity log rise with their numbers, and have no index, to which each sign-in would write.
 * @param time an SQL expression
 */
export const startOf = (table: string, time = 'now() - make_interval(secs => $1)') => `
with recursive span (low, high) as (
  select coalesce(min(id), 0), coalesce(max(id), 0) + 1 from ${table}
  union all
  select case when older then middle + 1 else low end, case when older then high else middle end
  from (select low, high, (low + high) / 2 as middle from span where low < high) step cross join lateral (
    select coalesce((select at < ${time} from ${table} where id >= middle order by id limit 1), false) as older
  ) probe
)
select greatest(low - 1, 0)::float8 as start from span where low >= high`;
