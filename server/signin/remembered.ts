import { MAX_REMEMBERED_ACCOUNTS } from '../../contract/limits.ts';
import { hintCookies, type RememberedAccount, readRememberedAccounts } from '../../contract/remembered.ts';
import type { Cookies } from '../http/cookies.ts';

/** Puts an account first among those that the browser's page offers. */
export function rememberAccount(cookies: Cookies, email: string, key: string): void {
  cookies.setHint(hintCookies.account, email);
  cookies.setHint(hintCookies.key, key);
  const others = rememberedIn(cookies).filter((account) => account.email !== email);
  setRemembered(cookies, [{ email, key, timestamp: Date.now() }, ...others].slice(0, MAX_REMEMBERED_ACCOUNTS));
}

/** Signed out: the page goes on offering the accounts, whose keys are dead. */
export function blankRemembered(cookies: Cookies): void {
  for (const name of Object.values(hintCookies)) cookies.setHint(name, null);
  const accounts = rememberedIn(cookies).map(({ email, timestamp }) => ({ email, key: '', timestamp }));
  if (accounts.length > 0) setRemembered(cookies, accounts);
}

function setRemembered(cookies: Cookies, accounts: RememberedAccount[]): void {
  const value = JSON.stringify(accounts);
  cookies.setHint(hintCookies.remembered, value);
  cookies.setHint(hintCookies.previous, value);
}

const rememberedIn = (cookies: Cookies): RememberedAccount[] =>
  readRememberedAccounts(cookies.get(hintCookies.remembered)).slice(0, MAX_REMEMBERED_ACCOUNTS);
