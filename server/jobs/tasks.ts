import type { Task } from 'graphile-worker';
import { type Destination, exportAudit } from '../audit-export/audit-export.ts';
import { rollUp } from '../stats/stats.ts';
import {
  type Query,
  type Removal,
  removeEndedAdminSessions,
  removeEndedAttempts,
  removeEndedLimits,
  removeEndedRateLimits,
  removeEndedSessions,
  removeExpiredRecords,
  removeExpiredTokens,
  removeIdleKeys,
  removeOldClaims,
  removeOldEvents,
  removeOldInvitations,
  removeOldProbes,
  removeOldRecipients,
  removeOldTimes,
  removeOldVisitors,
  removeUsedChallenges,
  type Timetable,
} from './store.ts';

/** The task that exports the audit log to a destination. */
export const exportTask = ({ name }: Pick<Destination, 'name'>) => `export-audit-${name}`;

/** The time that one run of a job may take; the next run continues. */
const RUN_MS = 20_000;

export const TIMETABLE: Timetable = [
  { task: 'clean-up-sign-ins', minute: null },
  { task: 'roll-up', minute: null },
  { task: 'clean-up-accounts', minute: 23 },
  { task: 'release-unclaimed', minute: 7 },
  { task: 'clean-up-uploads', minute: 41 },
  { task: 'maintain-provider-keys', minute: 53 },
  { task: 'maintain-partitions', minute: 29 },
  { task: exportTask({ name: 'syslog' }), minute: null },
  { task: exportTask({ name: 'webhook' }), minute: null },
];

const SIGN_IN_REMOVALS = [
  removeEndedAttempts,
  removeExpiredTokens,
  removeExpiredRecords,
  removeOldEvents,
  removeEndedLimits,
  removeEndedRateLimits,
  removeUsedChallenges,
];
const ACCOUNT_REMOVALS = [
  removeEndedSessions,
  removeIdleKeys,
  removeEndedAdminSessions,
  removeOldRecipients,
  removeOldClaims,
  removeOldInvitations,
  removeOldProbes,
  removeOldTimes,
  removeOldVisitors,
];

/** Removes what visitors' sign-ins leave behind. @param signal ends it between two batches */
export function cleanUpSignIns(signal: AbortSignal): Task {
  return (_, { query }) => removeAll(query, SIGN_IN_REMOVALS, signal);
}

/** Removes what browsers, websites and the service's own probes leave behind. @param signal ends it between two batches */
export function cleanUpAccounts(signal: AbortSignal): Task {
  return (_, { query }) => removeAll(query, ACCOUNT_REMOVALS, signal);
}

/** Sums up the audit log for the statistics. @param signal ends it between two batches */
export function sumUpStatistics(signal: AbortSignal): Task {
  return async (_, { query, logger }) => {
    const upToDate = await rollUp(query, { signal, maxMs: RUN_MS });
    if (!upToDate && !signal.aborted)
      logger.warn('a transaction has been writing to audit_log for seconds; its statistics are summed up later');
  };
}

/** Sends new rows of the audit log to a destination. @param signal aborts it; the batch is sent again by the next run */
export function sendAuditLog(destination: Destination, signal: AbortSignal): Task {
  return (_, { query }) => exportAudit(query, destination, { signal, maxMs: RUN_MS });
}

/**
 * Releases the domains that were registered and neither claimed nor proven within 7 days.
 * @param release deletes them together with writing their audit rows; resolves to their number
 */
export function releaseUnclaimed(release: (query: Query) => Promise<number>): Task {
  return async (_, { query, logger }) => {
    const released = await release(query);
    if (released > 0) logger.warn(`${released} unclaimed websites released`);
  };
}

/**
 * Removes icons that were never uploaded or that no website shows, with their files.
 * @param remove resolves to their number; rejects when the disk or the bucket failed, and a later run tries again
 */
export function cleanUpUploads(remove: (query: Query) => Promise<number>): Task {
  return async (_, { query, logger }) => {
    const removed = await remove(query);
    if (removed > 0) logger.info(`${removed} uploads removed`);
  };
}

/** Removes one batch of each kind in turn, so that neither a large kind nor one that fails delays the others. */
async function removeAll(query: Query, removals: readonly Removal[], signal: AbortSignal): Promise<void> {
  const end = Date.now() + RUN_MS;
  const failures: unknown[] = [];
  let remaining = removals.map((begin) => begin());
  while (remaining.length > 0 && !signal.aborted && Date.now() < end) {
    const unfinished: typeof remaining = [];
    for (const removeBatch of remaining) {
      try {
        if (await removeBatch(query)) unfinished.push(removeBatch);
      } catch (error) {
        failures.push(error);
      }
    }
    remaining = unfinished;
  }
  if (failures.length > 0) throw failures[0];
}
