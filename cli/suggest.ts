import { type Candidate, type Suggestion, suggestionFor } from './completion.ts';
import type { Context, GlobalFlags } from './context.ts';

/** How long a person waits at most for the service after Tab. */
const PATIENCE_MS = 250;

/**
 * What the scripts call at Tab. Answers lines `value<Tab>about`, and `:4` at the end, or `:0` where the shell is to offer
 * files: the protocol of @bomb.sh/tab and of Go's cobra. Where the service does not know the caller or is away, there is
 * nothing to offer.
 * @param words those behind the program's name, the last one being typed
 * @param open the context of a command with these flags
 */
export async function suggest(words: readonly string[], open: (flags: GlobalFlags) => Context): Promise<string> {
  const { candidates, from, typed, given } = suggestionFor(words);
  const more = from && from !== 'files' ? await valuesFrom(from, () => open({ ...given, quiet: true })).catch(() => []) : [];
  // A shell puts the word in as it is: nothing that means more to it than a word does, whatever the service says.
  const safe = more.filter(([value]) => value.startsWith(typed) && /^[a-z0-9][\w.-]*$/i.test(value));
  const lines = [...candidates, ...safe].map(([value, about]) => `${value}\t${about}\n`);
  return `${lines.join('')}${from === 'files' ? ':0' : ':4'}\n`;
}

async function valuesFrom(from: Exclude<Suggestion['from'], 'files' | undefined>, open: () => Context): Promise<Candidate[]> {
  if (from === 'frameworks') {
    const { frameworks } = await import('../templates/catalog.ts');
    return frameworks.map(({ id, name }) => [id, name]);
  }
  const { client } = await open().signedIn();
  const websites = await client.listWebsites({}, { signal: AbortSignal.timeout(PATIENCE_MS) });
  return websites.map(({ domain }) => [domain, '']);
}
