import { HINT_COOKIE_SECONDS } from '../../contract/limits.ts';

// A browser may refuse its storage (private windows, blocked cookies); the pages then work without it.

export const local = () => window.localStorage;
export const session = () => window.sessionStorage;

/** Returns a stored text, or null when it is missing or the storage is refused. */
export function readStored(storage: () => Storage, key: string): string | null {
  try {
    return storage().getItem(key);
  } catch {
    return null;
  }
}

/** Stores `value`, or deletes the key when it is null. */
export function writeStored(storage: () => Storage, key: string, value: string | null) {
  try {
    if (value === null) storage().removeItem(key);
    else storage().setItem(key, value);
  } catch {
    // Nothing to do: see above.
  }
}

/** Returns the keys of the local storage. */
export function localKeys(): string[] {
  try {
    return Object.keys(window.localStorage);
  } catch {
    return [];
  }
}

/** Returns a cookie that scripts may read, decoded, or null. */
export function readCookie(name: string): string | null {
  for (const pair of document.cookie.split('; ')) {
    const separator = pair.indexOf('=');
    if (separator < 0 || pair.slice(0, separator) !== name) continue;
    try {
      return decodeURIComponent(pair.slice(separator + 1));
    } catch {
      return null;
    }
  }
  return null;
}

/** Sets a cookie that scripts may read, or deletes it when `value` is null. */
export function writeCookie(name: string, value: string | null, seconds = HINT_COOKIE_SECONDS) {
  const secure = location.protocol === 'https:' ? '; Secure' : '';
  const maxAge = value === null ? 0 : seconds;
  // biome-ignore lint/suspicious/noDocumentCookie: the Cookie Store API is missing in browsers that are still in use
  document.cookie = `${name}=${encodeURIComponent(value ?? '')}; Path=/; Max-Age=${maxAge}; SameSite=Lax${secure}`;
}
