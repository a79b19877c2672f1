import { join } from 'node:path';
import { pathToFileURL } from 'node:url';

const repository = join(import.meta.dirname, '../..');

/** The built command. */
export const entry = join(repository, 'dist/cli/main.js');

const mutation = process.env.EMAILAUTH_MUTATION;
const url = (path: string) => pathToFileURL(join(repository, path)).href;

/**
 * The arguments with which Node.js runs `emailauth`: as it was built, or in a run of mutations from its source, of which one text is
 * replaced as its module is loaded.
 */
export const program: readonly string[] = mutation
  ? [
      `--import=${url('test/nightly/mutate.mjs')}?mutation=${encodeURIComponent(mutation)}`,
      `--import=${url('node_modules/tsx/dist/loader.mjs')}`,
      join(repository, 'cli/main.ts'),
    ]
  : [entry];
