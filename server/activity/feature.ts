import type { Outbox } from '../mail/outbox.ts';
import type { Job, Platform } from '../platform/platform.ts';
import { eventEndpoints, WebsiteEvents } from './events.ts';
import { logEndpoints, WebsiteLog } from './log.ts';
import { setupEndpoints, WebsiteSetup } from './setup.ts';
import { rollUp, Stats, statsEndpoints } from './stats.ts';
import { WebsiteList, websiteListEndpoints } from './website-list.ts';

type Needs = {
  /** For the uptime in the overview. */
  status: { uptimePercent(): Promise<number | null> };
  outbox: Pick<Outbox, 'failing'>;
};

/** What happened at an account's websites and applications: list, events, log and statistics, and how far the set-up of a website is. */
export function createActivity(platform: Platform, { status, outbox }: Needs) {
  const stats = new Stats({ ...platform, uptime: () => status.uptimePercent() });
  const setup = new WebsiteSetup({ ...platform, failingMail: () => outbox.failing() });
  const events = new WebsiteEvents(platform);
  return {
    endpoints: [
      ...statsEndpoints(stats),
      ...eventEndpoints(events),
      ...logEndpoints(new WebsiteLog(platform)),
      ...setupEndpoints(setup),
      ...websiteListEndpoints(new WebsiteList({ ...platform, setup })),
    ],
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
