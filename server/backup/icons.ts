import { join } from 'node:path';
import type { StorageConfig } from '../config.ts';
import { bucketStorage } from '../uploads/bucket.ts';
import { diskStorage, type Storage } from '../uploads/storage.ts';

/** Where the bytes of icons lie by the settings. */
export function openIcons({ bucket, dataDir }: StorageConfig): Storage {
  return bucket ? bucketStorage(bucket) : diskStorage(join(dataDir, 'uploads'));
}
