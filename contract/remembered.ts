import { normalEmail } from './emails.ts';
import { MAX_REMEMBERED_ACCOUNTS } from './limits.ts';

/**
 * A remembered account: a hint for the page, useless without the browser's HttpOnly device cookie. Its `key` is empty after a logout.
 * `timestamp` is in Unix milliseconds.
 */
export type RememberedAccount = { email: string; key: string; timestamp: number };

/**
 * Cookies that page scripts may read; the service sets them at a sign-in and never trusts them. `account` and `key` are address and
 * key of the latest sign-in, the other two a URI-encoded JSON array of RememberedAccount, newest first.
 */
export const hintCookies = {
  account: 'auth_email',
  key: 'auth_key',
  remembered: 'remembered_accounts',
  previous: 'previous_auth',
} as const;

/** Cookie that pages set when the service has confirmed the session: their first calls need not wait for that. */
export const SESSION_SEEN_COOKIE = 'session_seen';
export const SESSION_SEEN_SECONDS = 600;

/**
 * Cookies that the pages of a sign-in set for the service, which renders the offer of a passkey: `ready` when the device can verify a
 * person, `later` for PASSKEY_LATER_SECONDS after a passkey was declined.
 */
export const passkeyCookies = { ready: 'passkey_ready', later: 'passkey_later' } as const;

/** Cookie with the language that a person chose on the page of an authorization request or of passkeys: the next such pages have it too. */
export const LANGUAGE_COOKIE = 'language';

// More than five accounts with the longest addresses and keys need.
const MAX_TEXT_LENGTH = 8192;
/** The latest time of a JavaScript date, in Unix milliseconds. */
const MAX_TIMESTAMP = 8.64e15;
const AUTH_KEY = /^[A-Za-z0-9_-]{22}\.[A-Za-z0-9_-]{43}$/;

/**
 * Returns the accounts in a cookie or storage item, whose content is not trusted. An entry whose `email` is not an address in
 * normal form is left out, because the page shows it; a key of another format becomes empty.
 * @param text a JSON array; the key of an entry may be in `key` or `authKey`
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

/** Returns the accounts of several stores, newest first, each address once, at most five. */
export function mergeAccounts(accounts: RememberedAccount[]): RememberedAccount[] {
  // Not toSorted(), which browsers that are still in use do not have.
  const newestFirst = [...accounts].sort((a, b) => b.timestamp - a.timestamp);
  return newestFirst
    .filter((account, index) => newestFirst.findIndex((other) => other.email === account.email) === index)
    .slice(0, MAX_REMEMBERED_ACCOUNTS);
}
