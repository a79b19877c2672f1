import type { Task } from 'graphile-worker';

/**
 * Removes icons that were never sent or that no site shows, with their bytes.
 * @param remove resolves to their number; rejects when the disk or the bucket failed, and the next run tries again
 */
export function cleanUpUploads(remove: () => Promise<number>): Task {
  return async (_, { logger }) => {
    const removed = await remove();
    if (removed > 0) logger.info(`${removed} uploads removed`);
  };
}
