import { hintCookies, type RememberedAccount } from '../../contract/remembered.ts';
import { REMEMBERED_ACCOUNTS } from '../../contract/rules.ts';
import { readCookie, writeCookie } from './cookies.ts';
import { local, readStored, writeStored } from './storage.ts';

/** An account this browser has signed in with; its `key` is empty once somebody logged out of it. `timestamp`: Unix milliseconds. */
export type Remembered = RememberedAccount;

const STORED = 'rememberedAuth';

/** The accounts of all three stores, newest first, each address once, at most five. */
export function rememberedAccounts(): Remembered[] {
  return merge([
    ...parse(readCookie(hintCookies.remembered)),
    ...parse(readCookie(hintCookies.previous)),
    ...parse(readStored(local, STORED)),
  ]);
}

/** Puts an account first in the browser's own store; the cookies are the service's to set. */
export function remember(email: string, key: string) {
  const others = parse(readStored(local, STORED)).filter((account) => account.email !== email);
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

/** Deletes the cookies that name the latest sign-in. */
export function forgetLatest() {
  writeCookie(hintCookies.account, null);
  writeCookie(hintCookies.key, null);
}

function change(edit: (accounts: Remembered[]) => Remembered[]) {
  for (const name of [hintCookies.remembered, hintCookies.previous]) {
    const accounts = edit(parse(readCookie(name)));
    writeCookie(name, accounts.length > 0 ? JSON.stringify(accounts) : null);
  }
  store(edit(parse(readStored(local, STORED))));
}

function store(accounts: Remembered[]) {
  const rows = merge(accounts).map(({ email, key, timestamp }) => ({ email, authKey: key, timestamp }));
  writeStored(local, STORED, rows.length > 0 ? JSON.stringify(rows) : null);
}

function merge(accounts: Remembered[]): Remembered[] {
  const newestFirst = accounts.toSorted((a, b) => b.timestamp - a.timestamp);
  return newestFirst
    .filter((account, index) => newestFirst.findIndex((other) => other.email === account.email) === index)
    .slice(0, REMEMBERED_ACCOUNTS);
}

/** Reads both forms, `key` of the cookies and `authKey` of the storage; whatever else stands there is left out. */
function parse(text: string | null): Remembered[] {
  try {
    const rows: unknown = JSON.parse(text ?? '[]');
    if (!Array.isArray(rows)) return [];
    return rows.flatMap((row) => {
      if (typeof row?.email !== 'string') return [];
      const key = row.key ?? row.authKey;
      return [{ email: row.email, key: typeof key === 'string' ? key : '', timestamp: Number(row.timestamp) || 0 }];
    });
  } catch {
    return [];
  }
}
