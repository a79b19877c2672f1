import { hintCookies, mergeAccounts, type RememberedAccount, readRememberedAccounts } from '../../contract/remembered.ts';
import { normalEmail } from '../../contract/rules.ts';
import { local, readCookie, readStored, writeCookie, writeStored } from './storage.ts';

/** An account that this browser has signed in with. Its `key` is empty after a logout. `timestamp`: Unix milliseconds. */
export type Remembered = RememberedAccount;

const STORED = 'rememberedAuth';

/** Returns the accounts of all three stores, newest first, each address once, at most five. */
export function rememberedAccounts(): Remembered[] {
  return mergeAccounts([
    ...readRememberedAccounts(readCookie(hintCookies.remembered)),
    ...readRememberedAccounts(readCookie(hintCookies.previous)),
    ...readRememberedAccounts(readStored(local, STORED)),
  ]);
}

/** Adds an account to the local storage. The service sets the cookies. */
export function remember(email: string, key: string) {
  const others = readRememberedAccounts(readStored(local, STORED)).filter((account) => account.email !== email);
  store([{ email, key, timestamp: Date.now() }, ...others]);
}

/** Removes an account from all three stores. */
export function forget(email: string) {
  change((accounts) => accounts.filter((account) => account.email !== email));
  if (readCookie(hintCookies.account) === email) forgetLatest();
}

/** Deletes the key of one address, or of all, and keeps the addresses: signing in with them needs an email again. */
export function deleteKeys(email?: string) {
  change((accounts) => accounts.map((account) => (email === undefined || account.email === email ? { ...account, key: '' } : account)));
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

function change(edit: (accounts: Remembered[]) => Remembered[]) {
  for (const name of [hintCookies.remembered, hintCookies.previous]) {
    const accounts = edit(readRememberedAccounts(readCookie(name)));
    writeCookie(name, accounts.length > 0 ? JSON.stringify(accounts) : null);
  }
  store(edit(readRememberedAccounts(readStored(local, STORED))));
}

function store(accounts: Remembered[]) {
  const rows = mergeAccounts(accounts).map(({ email, key, timestamp }) => ({ email, authKey: key, timestamp }));
  writeStored(local, STORED, rows.length > 0 ? JSON.stringify(rows) : null);
}
