import { chmod, mkdir, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';

/** Where the bytes of uploads lie, under their ids. */
export type Storage = {
  put(id: string, bytes: Buffer): Promise<void>;
  /** @returns null when there are none */
  get(id: string): Promise<Buffer | null>;
  /** Succeeds also when there are none. */
  remove(id: string): Promise<void>;
};

/** Files in `directory`, readable by this user alone. A file appears whole or not at all. */
export function diskStorage(directory: string): Storage {
  const file = (id: string) => join(directory, id);
  const part = (id: string) => join(directory, `${id}.part`);
  return {
    put: async (id, bytes) => {
      await mkdir(directory, { recursive: true, mode: 0o700 });
      await writeFile(part(id), bytes, { mode: 0o600, flush: true });
      // The mode above is for a new file; one that a crash left keeps its own.
      await chmod(part(id), 0o600);
      await rename(part(id), file(id));
    },
    get: async (id) => {
      try {
        return await readFile(file(id));
      } catch (error) {
        if ((error as NodeJS.ErrnoException).code === 'ENOENT') return null;
        throw error;
      }
    },
    remove: async (id) => {
      await rm(file(id), { force: true });
      await rm(part(id), { force: true });
    },
  };
}
