import type { Task } from 'graphile-worker';
import {
  type RemoveBatch,
  removeEndedAdminSessions,
  removeEndedAttempts,
  removeEndedKeys,
  removeEndedLimits,
  removeEndedSessions,
  removeExpiredTokens,
  removeOldClaims,
  removeOldProbes,
  removeOldRecipients,
  removeOldTimes,
} from './store.ts';

/** What one run may take; the next one goes on. */
const RUN_MS = 20_000;

/** Removes what visitors leave behind by the thousand; each kind is found by an index. @param over ends it between two batches */
export function cleanUpSignIns(over: AbortSignal): Task {
  return (_, { query }) => removeAll(query, [removeEndedAttempts(), removeExpiredTokens, removeEndedLimits], over);
}

const accountLeavings = [
  removeEndedSessions,
  removeEndedKeys,
  removeEndedAdminSessions,
  removeOldRecipients,
  removeOldClaims,
  removeOldProbes,
  removeOldTimes,
];

/** Removes what browsers, sites and the service's own probes leave behind: few rows, for which no index is kept. @param over ends it between two batches */
export function cleanUpAccounts(over: AbortSignal): Task {
  return (_, { query }) => removeAll(query, accountLeavings, over);
}

async function removeAll(query: Parameters<RemoveBatch>[0], kinds: RemoveBatch[], over: AbortSignal): Promise<void> {
  const end = Date.now() + RUN_MS;
  for (const removeBatch of kinds) while (!over.aborted && Date.now() < end && (await removeBatch(query)));
}
