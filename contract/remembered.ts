import { normalEmail } from './rules.ts';

/** An account that a browser remembers, `timestamp` in Unix milliseconds: a hint for the page, worthless without the browser's HttpOnly device cookie. */
export type RememberedAccount = { email: string; key: string; timestamp: number };

/**
 * Cookies that page scripts may read; the service sets them at a sign-in and never trusts them. `account` and `key` are the latest
 * sign-in's address and key, the other two a JSON array of RememberedAccount (URI-encoded), newest first.
 */
export const hintCookies = {
  account: 'auth_email',
  key: 'auth_key',
  remembered: 'remembered_accounts',
  previous: 'previous_auth',
} as const;

// More than five accounts with the longest addresses and keys take.
const MAX_TEXT_LENGTH = 8192;
/** The latest moment of a JavaScript date, in Unix milliseconds. */
const MAX_TIMESTAMP = 8.64e15;
const AUTH_KEY = /^[A-Za-z0-9_-]{22}\.[A-Za-z0-9_-]{43}$/;

/**
 * Reads accounts from a cookie or a storage that anybody may have written to. An entry whose `email` is not an address in its
 * normal form is left out, because the page shows it; a key that is none of ours is blanked.
 * @param text a JSON array; its entries may name the key `key` or `authKey`
 */
export function readRememberedAccounts(text: string | null | undefined): RememberedAccount[] {
  if (!text || text.length > MAX_TEXT_LENGTH) return [];
  try {
    const entries: unknown = JSON.parse(text);
    return Array.isArray(entries) ? entries.flatMap(readAccount) : [];
  } catch {
    return [];
  }
}

function readAccount(entry: unknown): RememberedAccount[] {
  const { email, key, authKey, timestamp } = (entry ?? {}) as Record<string, unknown>;
  const secret = key ?? authKey;
  if (typeof email !== 'string' || normalEmail(email) !== email) return [];
  const isTime = typeof timestamp === 'number' && timestamp >= 0 && timestamp <= MAX_TIMESTAMP;
  return [{ email, key: typeof secret === 'string' && AUTH_KEY.test(secret) ? secret : '', timestamp: isTime ? timestamp : 0 }];
}
