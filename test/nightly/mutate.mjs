// Replaces one text of a source as its module is loaded: in a process by `--import=mutate.mjs?mutation=…`, and in vitest by a plugin.
import { readFileSync } from 'node:fs';
import { register } from 'node:module';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { isMainThread } from 'node:worker_threads';

const given = new URL(import.meta.url).searchParams.get('mutation');
/** `{ file, text, becomes }` as JSON, or undefined without a mutation. */
const json = given ?? process.env.EMAILAUTH_MUTATION;
const mutation = json ? JSON.parse(json) : null;
/** Without a file, the program runs from its sources as they are. */
const path = mutation?.file && join(import.meta.dirname, '../..', mutation.file);

/** @throws Error when the text is not in the source exactly once */
function mutate(source) {
  if (source.split(mutation.text).length !== 2) throw new Error(`${mutation.file} must contain this once: ${mutation.text}`);
  return source.replace(mutation.text, () => mutation.becomes);
}

/**
 * A hook below those of tsx, which compile what it returns.
 * @public
 */
export async function load(url, context, next) {
  const loaded = await next(url, context);
  return path && url.split('?')[0] === pathToFileURL(path).href ? { ...loaded, source: mutate(String(loaded.source)) } : loaded;
}
if (given && isMainThread) register(import.meta.url);

/** The plugins of vitest. */
export const plugins = path
  ? [{ name: 'mutate', enforce: 'pre', transform: (_, id) => (id.split('?')[0] === path ? mutate(readFileSync(path, 'utf8')) : null) }]
  : [];
