import type { Task } from 'graphile-worker';
import type { Query } from './store.ts';

/**
 * Removes icons that were never sent or that no site shows, with their bytes.
 * @param remove resolves to their number; rejects when the disk or the bucket failed, and a later run tries again
 */
export function cleanUpUploads(remove: (query: Query) => Promise<number>): Task {
  return async (_, { query, logger }) => {
    const removed = await remove(query);
    if (removed > 0) logger.info(`${removed} uploads removed`);
  };
}
