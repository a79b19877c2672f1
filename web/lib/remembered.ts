import { MAX_REMEMBERED_ACCOUNTS } from '../../contract/limits.ts';
import { hintCookies, type RememberedAccount, readRememberedAccounts } from '../../contract/remembered.ts';
import { normalEmail } from '../../contract/rules.ts';
import { readCookie, writeCookie } from './cookies.ts';
import { local, readStored, writeStored } from './storage.ts';

/** An account this browser has signed in with; its `key` is empty once somebody logged out of it. `timestamp`: Unix milliseconds. */
export type Remembered = RememberedAccount;

const STORED = 'rememberedAuth';

/** The accounts of all three stores, newest first, each address once, at most five. */
export function rememberedAccounts(): Remembered[] {
  return merge([
    ...readRememberedAccounts(readCookie(hintCookies.remembered)),
    ...readRememberedAccounts(readCookie(hintCookies.previous)),
    ...readRememberedAccounts(readStored(local, STORED)),
  ]);
}

/** Puts an account first in the browser's own store; the cookies are the service's to set. */
export function remember(email: string, key: string) {
  const others = readRememberedAccounts(readStored(local, STORED)).filter((account) => account.email !== email);
  store([{ email, key, timestamp: Date.now() }, ...others]);
}

/** Removes an account from all three stores. */
export function forget(email: string) {
  change((accounts) => accounts.filter((account) => account.email !== email));
  if (readCookie(hintCookies.account) === email) forgetLatest();
}

/** Blanks the keys of one address, or of all, and keeps the addresses: they then need a mail again. */
export function blankKeys(email?: string) {
  change((accounts) => accounts.map((account) => (email === undefined || account.email === email ? { ...account, key: '' } : account)));
}

/** The address of the latest sign-in, for the eye alone; null when the cookie holds anything but an address. */
export function latestAddress(): string | null {
  const email = readCookie(hintCookies.account);
  return email && normalEmail(email) === email ? email : null;
}

/** Deletes the cookies that name the latest sign-in. */
export function forgetLatest() {
  writeCookie(hintCookies.account, null);
  writeCookie(hintCookies.key, null);
}

function change(edit: (accounts: Remembered[]) => Remembered[]) {
  for (const name of [hintCookies.remembered, hintCookies.previous]) {
    const accounts = edit(readRememberedAccounts(readCookie(name)));
    writeCookie(name, accounts.length > 0 ? JSON.stringify(accounts) : null);
  }
  store(edit(readRememberedAccounts(readStored(local, STORED))));
}

function store(accounts: Remembered[]) {
  const rows = merge(accounts).map(({ email, key, timestamp }) => ({ email, authKey: key, timestamp }));
  writeStored(local, STORED, rows.length > 0 ? JSON.stringify(rows) : null);
}

function merge(accounts: Remembered[]): Remembered[] {
  const newestFirst = accounts.toSorted((a, b) => b.timestamp - a.timestamp);
  return newestFirst
    .filter((account, index) => newestFirst.findIndex((other) => other.email === account.email) === index)
    .slice(0, MAX_REMEMBERED_ACCOUNTS);
}
