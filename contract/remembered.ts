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
