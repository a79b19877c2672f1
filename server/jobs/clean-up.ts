import type { Task } from 'graphile-worker';
import {
  type Query,
  type Removal,
  removeEndedAdminSessions,
  removeEndedAttempts,
  removeEndedLimits,
  removeEndedRateLimits,
  removeEndedSessions,
  removeExpiredTokens,
  removeIdleKeys,
  removeOldClaims,
  removeOldProbes,
  removeOldRecipients,
  removeOldTimes,
} from './store.ts';

/** What one run may take; the next one goes on. */
const RUN_MS = 20_000;

const signInLeavings = [removeEndedAttempts, removeExpiredTokens, removeEndedLimits, removeEndedRateLimits];
const accountLeavings = [
  removeEndedSessions,
  removeIdleKeys,
  removeEndedAdminSessions,
  removeOldRecipients,
  removeOldClaims,
  removeOldProbes,
  removeOldTimes,
];

/** Removes what visitors leave behind by the thousand. @param over ends it between two batches */
export function cleanUpSignIns(over: AbortSignal): Task {
  return (_, { query }) => removeAll(query, signInLeavings, over);
}

/** Removes what browsers, sites and the service's own probes leave behind. @param over ends it between two batches */
export function cleanUpAccounts(over: AbortSignal): Task {
  return (_, { query }) => removeAll(query, accountLeavings, over);
}

/** Removes a batch of each kind in turn, so that neither a large kind nor one that fails holds up the others. */
async function removeAll(query: Query, kinds: readonly Removal[], over: AbortSignal): Promise<void> {
  const end = Date.now() + RUN_MS;
  const failures: unknown[] = [];
  let left = kinds.map((begin) => begin());
  while (left.length > 0 && !over.aborted && Date.now() < end) {
    const unfinished: typeof left = [];
    for (const removeBatch of left) {
      try {
        if (await removeBatch(query)) unfinished.push(removeBatch);
      } catch (error) {
        failures.push(error);
      }
    }
    left = unfinished;
  }
  if (failures.length > 0) throw failures[0];
}
