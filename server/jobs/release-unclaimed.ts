import type { Task } from 'graphile-worker';
import type { Query } from './store.ts';

/**
 * Gives back the domains that were registered and then neither claimed nor proven within 7 days.
 * @param release removes them together with writing their audit rows; resolves to their number
 */
export function releaseUnclaimed(release: (query: Query) => Promise<number>): Task {
  return async (_, { query, logger }) => {
    const released = await release(query);
    if (released > 0) logger.warn(`${released} unclaimed websites released`);
  };
}
