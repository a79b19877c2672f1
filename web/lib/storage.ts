import { normalEmail } from '../../contract/emails.ts';
import { ATTEMPT_SECONDS, HINT_COOKIE_SECONDS } from '../../contract/limits.ts';
import { hintCookies, mergeAccounts, type RememberedAccount, readRememberedAccounts } from '../../contract/remembered.ts';
import { paths } from '../pages.ts';

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
function localKeys(): string[] {
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

const REMEMBERED_KEY = 'rememberedAuth';

/** Returns the accounts of all three stores, newest first, each address once, at most five. */
export function rememberedAccounts(): RememberedAccount[] {
  return mergeAccounts([
    ...readRememberedAccounts(readCookie(hintCookies.remembered)),
    ...readRememberedAccounts(readCookie(hintCookies.previous)),
    ...readRememberedAccounts(readStored(local, REMEMBERED_KEY)),
  ]);
}

/** Adds an account to the local storage. The service sets the cookies. */
export function remember(email: string, key: string) {
  const others = readRememberedAccounts(readStored(local, REMEMBERED_KEY)).filter((account) => account.email !== email);
  storeRemembered([{ email, key, timestamp: Date.now() }, ...others]);
}

/** Removes an account from all three stores. */
export function forget(email: string) {
  changeRemembered((accounts) => accounts.filter((account) => account.email !== email));
  if (readCookie(hintCookies.account) === email) forgetLatest();
}

/** Deletes the key of one address, or of all, and keeps the addresses. Signing in with them needs an email again. */
export function deleteKeys(email?: string) {
  changeRemembered((accounts) =>
    accounts.map((account) => (email === undefined || account.email === email ? { ...account, key: '' } : account)),
  );
}

/** Returns the address of the latest sign-in, for display only; null when the cookie does not hold an email address. */
export function latestAddress(): string | null {
  const email = readCookie(hintCookies.account);
  return email && normalEmail(email) === email ? email : null;
}

/** Deletes the cookies that name the latest sign-in. */
export function forgetLatest() {
  writeCookie(hintCookies.account, null);
  writeCookie(hintCookies.key, null);
}

function changeRemembered(edit: (accounts: RememberedAccount[]) => RememberedAccount[]) {
  for (const name of [hintCookies.remembered, hintCookies.previous]) {
    const accounts = edit(readRememberedAccounts(readCookie(name)));
    writeCookie(name, accounts.length > 0 ? JSON.stringify(accounts) : null);
  }
  storeRemembered(edit(readRememberedAccounts(readStored(local, REMEMBERED_KEY))));
}

function storeRemembered(accounts: RememberedAccount[]) {
  const rows = mergeAccounts(accounts).map(({ email, key, timestamp }) => ({ email, authKey: key, timestamp }));
  writeStored(local, REMEMBERED_KEY, rows.length > 0 ? JSON.stringify(rows) : null);
}

/** What a PKCE sign-in needs when its link is opened. */
export type PkceBundle = { codeVerifier: string; state: string; redirectUri: string; email: string };

type PkceResult = PkceBundle | 'missing' | 'wrong_state';

const PKCE_PREFIX = 'pkce.';
const PKCE_KEYS = { codeVerifier: 'code_verifier', state: 'state', redirectUri: 'redirect_uri', email: 'sign_in_email' } as const;
const pkceFields = Object.keys(PKCE_KEYS) as (keyof typeof PKCE_KEYS)[];

/**
 * Stores the bundle for this tab, and under its state for every tab of the browser until the link expires. An emailed link opens in a
 * new tab.
 */
export function storePkce(bundle: PkceBundle) {
  deleteExpired();
  for (const field of pkceFields) writeStored(session, PKCE_KEYS[field], bundle[field]);
  storeForAttempt(PKCE_PREFIX + bundle.state, bundle);
}

/** Returns the bundle with this state. `missing`: this browser began no sign-in; `wrong_state`: it began another one. */
export function readPkce(state: string): PkceResult {
  deleteExpired();
  const inTab = Object.fromEntries(pkceFields.map((field) => [field, readStored(session, PKCE_KEYS[field])]));
  if (inTab.state === state && inTab.codeVerifier && inTab.redirectUri) return { ...inTab, email: inTab.email ?? '' } as PkceBundle;
  const inBrowser = parseStored<PkceBundle>(readStored(local, PKCE_PREFIX + state));
  if (inBrowser) return inBrowser;
  return inTab.state || localKeys().some((key) => key.startsWith(PKCE_PREFIX)) ? 'wrong_state' : 'missing';
}

/** Deletes a bundle that was used, in every tab. */
export function deletePkce(state: string) {
  writeStored(local, PKCE_PREFIX + state, null);
  deletePkceOfTab();
}

/** Deletes the bundle of this tab. */
export function deletePkceOfTab() {
  for (const field of pkceFields) writeStored(session, PKCE_KEYS[field], null);
}

function deleteExpired() {
  for (const key of localKeys()) if (key.startsWith(PKCE_PREFIX) && !parseStored(readStored(local, key))) writeStored(local, key, null);
}

const RETURN_PATH_KEY = 'returnPath';

/**
 * Stores the page to return to after the sign-in, which always ends at the home page of the portal. It is kept in the local storage while
 * the emailed link is valid, which opens in a new tab.
 */
export const storeReturnPath = (path: string) => storeForAttempt(RETURN_PATH_KEY, { path });

/** Returns the stored page, which markHomeOpened removes; null when there is none. */
export function readReturnPath(): string | null {
  const stored = parseStored<{ path: string }>(readStored(local, RETURN_PATH_KEY));
  return stored && safePath(location.origin + stored.path, paths.developer);
}

const HOME_KEY = 'homeOf';

/** Returns whether this browser has not opened the home page of the portal since its last sign-in. */
export const isFirstHome = () => signInOf() !== null && signInOf() !== readStored(local, HOME_KEY);

/** Stores that this browser has opened the home page since its last sign-in, and removes the page to return to. */
export function markHomeOpened() {
  writeStored(local, HOME_KEY, signInOf());
  writeStored(local, RETURN_PATH_KEY, null);
}

/** Returns a part of the key that a sign-in sets: it tells two sign-ins apart, and opens nothing. */
const signInOf = () => readCookie(hintCookies.key)?.slice(-8) ?? null;

const DRAFT_PREFIX = 'draft.';

/** Keeps what was typed into a form during a sign-in that comes back to it, while its link is valid. It must not be a secret. */
export const storeDraft = (form: string, values: object) => storeForAttempt(DRAFT_PREFIX + form, values);

/** Returns what was typed into a form before a sign-in, once; null when there is nothing. */
export const takeDraft = <Values extends object>(form: string) => takeStored<Partial<Values>>(DRAFT_PREFIX + form);

/** Stores values for as long as an emailed link is valid. */
const storeForAttempt = (key: string, values: object) =>
  writeStored(local, key, JSON.stringify({ ...values, expiresAt: Date.now() + ATTEMPT_SECONDS * 1000 }));

/** Returns values that have not expired, or null. */
function parseStored<Values>(text: string | null): Values | null {
  try {
    const { expiresAt, ...values } = JSON.parse(text ?? 'null');
    return expiresAt > Date.now() ? values : null;
  } catch {
    return null;
  }
}

function takeStored<Values>(key: string): Values | null {
  const stored = readStored(local, key);
  writeStored(local, key, null);
  return parseStored<Values>(stored);
}

/**
 * Returns the path to go to after a sign-in. It is always of this origin, which `//host` and `/\host` would leave.
 * @param target a path, or an absolute URL of this origin
 */
export function safePath(target: string, fallback: string, origin: string = location.origin): string {
  try {
    const url = new URL(target, origin);
    // /.//host parses as a path of this origin, but a browser would follow it to another host.
    if (url.origin !== origin || /^\/[/\\]/.test(url.pathname)) return fallback;
    return `${url.pathname}${url.search}${url.hash}`;
  } catch {
    return fallback;
  }
}
