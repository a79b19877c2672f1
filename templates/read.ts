import { readFile } from 'node:fs/promises';
import type { Framework } from './framework.ts';
import type { Sources } from './render.ts';

/** Reads a framework's files, from the repository and from dist alike. For Node.js; the web app has a loader of its own. */
export async function readSources({ id, files }: Framework): Promise<Sources> {
  const read = async ({ source }: { source: string }) =>
    [source, await readFile(new URL(`./${id}/${source}`, import.meta.url), 'utf8')] as const;
  return Object.fromEntries(await Promise.all(files.map(read)));
}
