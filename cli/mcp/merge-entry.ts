import type { Entry } from './clients.ts';

/** Names of properties that carry credentials, also by naming a file of variables or the variables that are passed on. */
const CREDENTIALS = /header|token|auth|secret|credential|api_?key|^env_?(?:file|vars)$/i;
/** A reference to a value that is stored elsewhere, such as `Bearer ${env:EMAILAUTH_TOKEN}`. */
const REFERENCE = /^(?:Bearer )?\$\{(?:env:|input:)?[\w.-]+\}$/;

/** Whether a value is an object of JSON or a table of TOML. */
export const isTable = (value: unknown): value is Record<string, unknown> =>
  value !== null && typeof value === 'object' && !Array.isArray(value) && !(value instanceof Date);

/**
 * Returns the new entry with what a person added to the previous one, also in its `env`, provided that both are of the same kind.
 * When the previous one was for another or an unknown service, its credentials are left out.
 * @returns isKeyLeftOut whether something was left out for that reason
 */
export function mergeEntry(before: Entry | null, entry: Entry): { after: Entry; isKeyLeftOut: boolean } {
  if (!before || 'command' in before !== 'command' in entry) return { after: entry, isKeyLeftOut: false };
  const kept = isSameService(before, entry) ? before : withoutCredentials(before);
  const env = { ...tableOf(kept.env), ...tableOf(entry.env) };
  const isWithEnv = isTable(entry.env) || (isTable(kept.env) && Object.keys(env).length > 0);
  const { env: _, ...rest } = kept;
  const after = { ...(isTable(kept.env) ? rest : kept), ...entry, ...(isWithEnv && { env }) };
  return { after, isKeyLeftOut: countOf(kept) < countOf(before) };
}

/**
 * Returns an entry with its secrets masked, since a person may have added a key by hand.
 * @param own the entry that we write, which contains none
 */
export function withoutSecrets(entry: Entry, own: Entry): Entry {
  const shown = ([name, value]: [string, unknown]): [string, unknown] => {
    const isSecret = CREDENTIALS.test(name);
    if (!isTable(value)) return [name, isSecret && value !== own[name] ? '…' : maskKeys(value)];
    if (!isSecret && name !== 'env') return [name, maskKeys(value)];
    const ownValues = tableOf(own[name]);
    const isPublic = (key: string, each: unknown) => each === ownValues[key] || (typeof each === 'string' && REFERENCE.test(each));
    return [name, Object.fromEntries(Object.entries(value).map(([key, each]) => [key, isPublic(key, each) ? each : '…']))];
  };
  return Object.fromEntries(Object.entries(entry).map(shown));
}

/** Masks what has the format of a key, in any property. */
function maskKeys(value: unknown): unknown {
  if (typeof value === 'string') {
    return value
      .replace(/\bBearer [\w.~+/=-]{8,}/g, 'Bearer …')
      .replace(/\bea_(live|test)_\w+/g, 'ea_$1_…')
      .replace(/\b(EMAILAUTH_TOKEN=)\S+/g, '$1…');
  }
  if (Array.isArray(value)) return value.map(maskKeys);
  return isTable(value) ? Object.fromEntries(Object.entries(value).map(([name, each]) => [name, maskKeys(each)])) : value;
}

/** Also removes EMAILAUTH_HOST and EMAILAUTH_PROFILE, which name the other service, and references to VS Code's inputs. */
function withoutCredentials({ env, ...others }: Entry): Entry {
  const rest = Object.fromEntries(Object.entries(others).filter(([name]) => !CREDENTIALS.test(name)));
  if (!isTable(env)) return rest;
  const isKept = ([name, value]: [string, unknown]) => !name.startsWith('EMAILAUTH_') && !/\$\{input:/.test(String(value));
  return { ...rest, env: Object.fromEntries(Object.entries(env).filter(isKept)) };
}

const countOf = (entry: Entry) => Object.keys(entry).length + Object.keys(tableOf(entry.env)).length;

function isSameService(before: Entry, entry: Entry): boolean {
  const [old, wanted] = [addressesOf(before), addressesOf(entry)];
  return old.length === 0 ? wanted.length === 0 : old.every((address) => wanted.includes(address));
}

/** Returns the origins of the services that an entry names, or the text in their place. */
function addressesOf({ url, httpUrl, serverUrl, args, env }: Entry): string[] {
  const words = Array.isArray(args) ? args.map(String) : [];
  const flags = words.flatMap((word, i) => (word === '--host' ? [words[i + 1]] : word.startsWith('--host=') ? [word.slice(7)] : []));
  const named = [url, httpUrl, serverUrl, ...flags, tableOf(env).EMAILAUTH_HOST].filter((each) => each !== undefined).map(String);
  return named.map((each) => (URL.canParse(each) ? new URL(each).origin : each));
}

const tableOf = (value: unknown): Record<string, unknown> => (isTable(value) ? value : {});
