import { randomBytes } from 'node:crypto';
import { hintCookies, type RememberedAccount, readRememberedAccounts } from '../../contract/remembered.ts';
import { REMEMBERED_ACCOUNTS } from '../../contract/rules.ts';
import type { Cookies } from '../http/cookies.ts';
import { digest, isRandomSecret, randomSecret } from '../secrets.ts';

/** The parts of a remembered account's key: the selector finds its row, the verifier is stored hashed. */
type AuthKeyParts = { selector: Buffer; verifier: Buffer };

/** Returns a new key of a remembered account, `selector.secret` in base64url, and its parts. */
export function createAuthKey(): AuthKeyParts & { key: string } {
  const selector = randomBytes(16);
  const secret = randomSecret();
  return { key: authKeyOf(selector, secret), selector, verifier: digest(secret) };
}

/** Returns the key that consists of a selector and the secret of its verifier. */
export function authKeyOf(selector: Buffer, secret: string): string {
  return `${selector.toString('base64url')}.${secret}`;
}

/** Returns the parts of a key, or null when it does not have that form. */
export function readAuthKey(key: string): AuthKeyParts | null {
  const [selector, secret, more] = key.split('.');
  if (more !== undefined || selector?.length !== 22 || !isRandomSecret(secret)) return null;
  return { selector: Buffer.from(selector, 'base64url'), verifier: digest(secret) };
}

/** Puts an account first in the list of accounts that the sign-in page offers in this browser. */
export function rememberAccount(cookies: Cookies, email: string, key: string): void {
  cookies.setHint(hintCookies.account, email);
  cookies.setHint(hintCookies.key, key);
  const others = rememberedIn(cookies).filter((account) => account.email !== email);
  setRemembered(cookies, [{ email, key, timestamp: Date.now() }, ...others].slice(0, REMEMBERED_ACCOUNTS));
}

/** Ends the session in the browser's cookies. The page still offers the accounts, but without their keys, which have ended. */
export function clearSession(cookies: Cookies): void {
  cookies.set('sid', null);
  for (const name of Object.values(hintCookies)) cookies.setHint(name, null);
  const accounts = rememberedIn(cookies).map(({ email, timestamp }) => ({ email, key: '', timestamp }));
  if (accounts.length > 0) setRemembered(cookies, accounts);
}

function setRemembered(cookies: Cookies, accounts: RememberedAccount[]): void {
  const value = JSON.stringify(accounts);
  cookies.setHint(hintCookies.remembered, value);
  cookies.setHint(hintCookies.previous, value);
}

function rememberedIn(cookies: Cookies): RememberedAccount[] {
  return readRememberedAccounts(cookies.get(hintCookies.remembered)).slice(0, REMEMBERED_ACCOUNTS);
}
