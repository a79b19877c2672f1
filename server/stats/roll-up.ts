import { setTimeout as sleep } from 'node:timers/promises';
import { addVisits } from '../visitors/roll-up.ts';
import { addToTotals, countWriters, findNewestRow, type JobQuery } from './store.ts';

const MAX_BATCH_ROWS = 5_000;
/** The core's statements end after 2.5 s. When a transaction writes for longer, the totals are updated by the next run. */
const WRITERS_TIMEOUT_MS = 3_000;
const POLL_MS = 20;

/**
 * Adds all rows of the audit log up to the newest one to the totals, then to the visitors of websites. Any number of instances may do so at once; each row counts once.
 * Statistics do not depend on it: rows that the totals do not include are counted when statistics are read.
 * @param options.signal stops it between two batches
 * @param options.maxMs how long it may take
 * @returns false when a transaction was writing for so long that the totals have to wait
 */
export async function rollUp(query: JobQuery, options: { signal: AbortSignal; maxMs: number }): Promise<boolean> {
  const { signal, maxMs } = options;
  const end = Date.now() + maxMs;
  const { newest, writers } = await findNewestRow(query);
  if (newest === null) return true;
  const waitEnd = Date.now() + WRITERS_TIMEOUT_MS;
  while (writers.length > 0 && (await countWriters(query, writers)) > 0) {
    if (signal.aborted || Date.now() > waitEnd) return false;
    await sleep(POLL_MS);
  }
  for (const add of [addToTotals, addVisits]) {
    let upTo: string | null = '';
    while (upTo !== null && upTo !== newest && !signal.aborted && Date.now() < end) upTo = await add(query, newest, MAX_BATCH_ROWS);
  }
  return true;
}
