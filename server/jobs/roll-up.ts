import type { Task } from 'graphile-worker';
import { rollUp as bringUpToDate } from '../stats/roll-up.ts';

/** What one run may take; the next one goes on. */
const RUN_MS = 20_000;

/** Sums the audit log up for the figures. @param over ends it between two batches */
export function rollUp(over: AbortSignal): Task {
  return async (_, { query, logger }) => {
    const upToDate = await bringUpToDate(query, { signal: over, maxMs: RUN_MS });
    if (!upToDate && !over.aborted) logger.warn('a transaction has been writing to audit_log for seconds; its figures are summed up later');
  };
}
