import type { Platform } from '../platform/platform.ts';
import { eventEndpoints, WebsiteEvents } from './events.ts';
import { logEndpoints, WebsiteLog } from './log.ts';
import { Stats, statsEndpoints } from './stats.ts';

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
    /** Ends the requests that wait for an event. */
    endWaits: () => events.stop(),
  };
}
