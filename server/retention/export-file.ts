import { createWriteStream } from 'node:fs';
import { open, rename } from 'node:fs/promises';
import { join } from 'node:path';
import type { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { createGzip } from 'node:zlib';

/**
 * Writes lines to DIRECTORY/NAME.jsonl.gz. The file has this name only when all of it is on the disk; a former one is replaced.
 * @returns its path
 * @throws an error of the file system, or of the source
 */
export async function writeLines(directory: string, name: string, lines: Readable, signal: AbortSignal): Promise<string> {
  const path = join(directory, `${name}.jsonl.gz`);
  const unfinished = `${path}.unfinished`;
  await pipeline(lines, createGzip(), createWriteStream(unfinished, { mode: 0o600, flush: true }), { signal });
  await rename(unfinished, path);
  await syncDirectory(directory);
  return path;
}

/** Makes the names of a directory durable. */
async function syncDirectory(directory: string): Promise<void> {
  const handle = await open(directory, 'r');
  try {
    await handle.sync();
  } finally {
    await handle.close();
  }
}
