import { setTimeout as sleep } from 'node:timers/promises';
import { newestRow, type Query, stillWriting, sumUp } from './store.ts';

const BATCH = 5_000;
/** The core's statements end after 2.5 s; who writes for longer makes the sums wait for the next run. */
const PATIENCE_MS = 3_000;
const LOOK_AGAIN_MS = 20;

/**
 * Brings the sums up to the newest row of the audit log. Any number of instances may do so at once, and each row counts once.
 * Figures do not depend on it: what is not summed up is counted when it is asked for.
 * @param options.over ends it between two batches
 * @param options.mostMs how long it may take
 * @returns whether nobody was writing for so long that the sums had to wait
 */
export async function rollUp(query: Query, options: { over: AbortSignal; mostMs: number }): Promise<boolean> {
  const { over, mostMs } = options;
  const end = Date.now() + mostMs;
  const { newest, writers } = await newestRow(query);
  if (newest === null) return true;
  for (const patience = Date.now() + PATIENCE_MS; writers.length > 0 && (await stillWriting(query, writers)) > 0; ) {
    if (over.aborted || Date.now() > patience) return false;
    await sleep(LOOK_AGAIN_MS);
  }
  for (let upTo: string | null = ''; upTo !== null && upTo !== newest && !over.aborted && Date.now() < end; )
    upTo = await sumUp(query, newest, BATCH);
  return true;
}
