import type { Job, Platform } from '../platform/platform.ts';
import { eventEndpoints, WebsiteEvents } from './events.ts';
import { logEndpoints, WebsiteLog } from './log.ts';
import { rollUp, Stats, statsEndpoints } from './stats.ts';

/**
 * What happened at an account's websites and applications: events, log and statistics.
 * @param status for the uptime in the overview
 */
export function createActivity(platform: Platform, status: { uptimePercent(): Promise<number | null> }) {
  const stats = new Stats({ ...platform, uptime: () => status.uptimePercent() });
  const events = new WebsiteEvents(platform);
  return {
    stats,
    endpoints: [...statsEndpoints(stats), ...eventEndpoints(events), ...logEndpoints(new WebsiteLog(platform))],
    jobs: [
      {
        name: 'roll-up',
        minute: null,
        run: async (query, limits) => {
          const isUpToDate = await rollUp(query, limits);
          if (!isUpToDate && !limits.signal.aborted)
            platform.log.warn('a transaction has been writing to audit_log for seconds; its statistics are summed up later');
        },
      },
    ] satisfies Job[],
    /** Ends the requests that wait for an event. */
    endWaits: () => events.stop(),
  };
}
