import type { Entry } from './clients.ts';

/** What says who calls. The file that variables come from and the names of those handed on may hold a key, too. */
const CREDENTIALS = /header|token|auth|secret|credential|api_?key|^env_?(?:file|vars)$/i;
/** A reference to a value that lies elsewhere, such as `Bearer ${env:EMAILAUTH_TOKEN}`. */
const REFERENCE = /^(?:Bearer )?\$\{(?:env:|input:)?[\w.-]+\}$/;

/** Whether a value is an object of JSON or a table of TOML. */
export const isTable = (value: unknown): value is Record<string, unknown> =>
  value !== null && typeof value === 'object' && !Array.isArray(value) && !(value instanceof Date);

/**
 * An entry as it is to be: what somebody added to the one before stays, also in its `env`, as long as it is one of the same
 * kind. Where it was for another service, or does not say which, no key of it goes to the new one.
 * @returns isKeyLeftOut whether something was left out because of that
 */
export function mergedEntry(before: Entry | null, entry: Entry): { after: Entry; isKeyLeftOut: boolean } {
  if (!before || 'command' in before !== 'command' in entry) return { after: entry, isKeyLeftOut: false };
  const kept = isSameService(before, entry) ? before : withoutCredentials(before);
  const env = { ...tableOf(kept.env), ...tableOf(entry.env) };
  const isWithEnv = isTable(entry.env) || (isTable(kept.env) && Object.keys(env).length > 0);
  const { env: _, ...rest } = kept;
  const after = { ...(isTable(kept.env) ? rest : kept), ...entry, ...(isWithEnv && { env }) };
  return { after, isKeyLeftOut: countOf(kept) < countOf(before) };
}

/**
 * An entry to show. Somebody may have put a key into it by hand.
 * @param own what we write ourselves, which holds none
 */
export function withoutSecrets(entry: Entry, own: Entry): Entry {
  const shown = ([name, value]: [string, unknown]): [string, unknown] => {
    const isSecret = CREDENTIALS.test(name);
    if (!isTable(value)) return [name, isSecret && value !== own[name] ? '…' : masked(value)];
    if (!isSecret && name !== 'env') return [name, masked(value)];
    const ours = tableOf(own[name]);
    const isPlain = (key: string, each: unknown) => each === ours[key] || (typeof each === 'string' && REFERENCE.test(each));
    return [name, Object.fromEntries(Object.entries(value).map(([key, each]) => [key, isPlain(key, each) ? each : '…']))];
  };
  return Object.fromEntries(Object.entries(entry).map(shown));
}

/** Keys by their looks, wherever they stand. */
function masked(value: unknown): unknown {
  if (typeof value === 'string') {
    return value
      .replace(/\bBearer [\w.~+/=-]{8,}/g, 'Bearer …')
      .replace(/\bea_(live|test)_\w+/g, 'ea_$1_…')
      .replace(/\b(EMAILAUTH_TOKEN=)\S+/g, '$1…');
  }
  if (Array.isArray(value)) return value.map(masked);
  return isTable(value) ? Object.fromEntries(Object.entries(value).map(([name, each]) => [name, masked(each)])) : value;
}

/** Without EMAILAUTH_HOST and EMAILAUTH_PROFILE, too, which say whose key it was, and without what VS Code asks for. */
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

/** Origins of every service that an entry names, or what stands in their place. */
function addressesOf({ url, httpUrl, serverUrl, args, env }: Entry): string[] {
  const words = Array.isArray(args) ? args.map(String) : [];
  const flags = words.flatMap((word, i) => (word === '--host' ? [words[i + 1]] : word.startsWith('--host=') ? [word.slice(7)] : []));
  const named = [url, httpUrl, serverUrl, ...flags, tableOf(env).EMAILAUTH_HOST].filter((each) => each !== undefined).map(String);
  return named.map((each) => (URL.canParse(each) ? new URL(each).origin : each));
}

const tableOf = (value: unknown): Record<string, unknown> => (isTable(value) ? value : {});
