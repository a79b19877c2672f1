import { readFile } from 'node:fs/promises';
import type { Framework } from './framework.ts';
import type { Sources } from './render.ts';

/** Reads the files of a framework, and those of its new project, from its folder. Node.js only; web/ui/integration.tsx does the same in the browser. */
export async function readSources({ id, files, newProject }: Framework): Promise<Sources> {
  const read = async ({ source }: { source: string }) =>
    // The same path from templates/ and from the bundles in dist/cli/ and dist/server/.
    [source, await readFile(new URL(`../templates/${id}/${source}`, import.meta.url), 'utf8')] as const;
  return Object.fromEntries(await Promise.all([...files, ...(newProject?.files ?? [])].map(read)));
}
