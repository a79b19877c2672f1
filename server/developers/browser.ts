import { randomBytes } from 'node:crypto';
import type Bowser from 'bowser';
import { LRUCache } from 'lru-cache';
import { MAX_REMEMBERED_ACCOUNTS } from '../../contract/limits.ts';
import { hintCookies, type RememberedAccount, readRememberedAccounts } from '../../contract/remembered.ts';
import type { Cookies, ReceivedCookies } from '../platform/http/cookies.ts';
import type { RequestSource } from '../platform/http/endpoint.ts';
import { digest, isRandomSecret, randomSecret, type SecretKeys, SignedValues } from '../platform/secrets.ts';

const UNKNOWN = 'Unknown browser';
const PROGRAM = /^emailauth\b/;
const MAX_USER_AGENT_LENGTH = 512;
const MAX_USED_PASSKEYS = 10;
const PASSKEY_ID = /^[0-9a-f-]{36}$/;

const devices = new LRUCache<string, { device: Device | null }>({ max: 500 });

/** What identifies the browser or program of a request. `attempt` and `device` are created when it has none; `session` is its `sid`. */
export type Browser = {
  attempt: string;
  device: string;
  session: string | undefined;
  clientAddress: string;
  userAgent: string;
  requestId?: string;
};

/** Maximum life of a session in seconds, 30 days. One that is not used ends after 7 days. */
export const SESSION_SECONDS = 30 * 86_400;

/** A developer's new session. `session` is the secret of the `sid` cookie, which is the bearer token too; `authKey` the device's key. */
export type NewSession = { email: string; session: string; authKey: string };

/**
 * Returns the browser of a request, and sets the cookies that it lacks.
 * @param life `renew` sets all cookies again, where a sign-in begins or a session opens, so that their lifetimes start over
 */
export function browserOf({ clientAddress, requestId, cookies, header }: RequestSource, life: 'renew' | 'keep' = 'keep'): Browser {
  const secretOf = (name: 'attempt' | 'device') => {
    const sent = cookies.get(name);
    const isValid = isRandomSecret(sent);
    const secret = isValid ? sent : randomSecret();
    if (life === 'renew' || !isValid) cookies.set(name, secret);
    return secret;
  };
  const sid = cookies.get('sid');
  return {
    attempt: secretOf('attempt'),
    device: secretOf('device'),
    session: isRandomSecret(sid) ? sid : undefined,
    clientAddress,
    userAgent: header('user-agent') ?? '',
    requestId,
  };
}

/**
 * Values that a page receives and sends back, such as the challenge of a passkey: signed, and bound to the browser. They are not stored
 * until they are used. `Contents`: what a value of each purpose contains.
 */
export class PageValues<Contents extends Record<string, object>> {
  readonly #signed: SignedValues<keyof Contents & string>;

  /** @param feature whose values these are; those of another feature are not valid */
  constructor(keys: SecretKeys, feature: string) {
    this.#signed = new SignedValues(keys, feature);
  }

  /** Returns a new value, valid for `seconds`, and sets the cookie to which it is bound. */
  issue<Purpose extends keyof Contents & string>(purpose: Purpose, content: Contents[Purpose], cookies: Cookies, seconds: number): string {
    const nonce = randomBytes(16).toString('base64url');
    return this.#signed.sign(purpose, JSON.stringify({ nonce, browser: bindToBrowser(cookies), ...content }), seconds);
  }

  /** Returns the content of a value; null when it is forged, has expired, or is of another purpose or browser. */
  read<Purpose extends keyof Contents & string>(purpose: Purpose, value: string, cookies: ReceivedCookies): Contents[Purpose] | null {
    const text = this.#signed.verify(purpose, value);
    const secret = cookies.get('passkey_browser');
    if (text === null || !isRandomSecret(secret)) return null;
    const { browser, ...content } = JSON.parse(text);
    return browser === hashOf(secret) ? content : null;
  }
}

const hashOf = (secret: string) => digest(secret).toString('base64url');

/** The secrets that were created for a response. */
const bound = new WeakMap<Cookies, string>();

/** Returns the hash of a secret of this browser. Its cookie is set again, so that it outlives what is bound to it. */
function bindToBrowser(cookies: Cookies): string {
  const sent = bound.get(cookies) ?? cookies.get('passkey_browser');
  const secret = isRandomSecret(sent) ? sent : randomSecret();
  if (!bound.has(cookies)) cookies.set('passkey_browser', secret);
  bound.set(cookies, secret);
  return hashOf(secret);
}

/** Sets the cookies of a new session. */
export function setSession(cookies: Cookies, { session, email, authKey }: NewSession): void {
  cookies.set('sid', session);
  rememberAccount(cookies, email, authKey);
}

/** A remembered account's key: the selector identifies its row, the verifier is stored hashed. */
type AuthKey = { selector: Buffer; verifier: Buffer };

/** Returns a new key of a remembered account, `selector.secret` in base64url, and its parts; random ones unless they are given. */
export function createAuthKey(selector: Buffer = randomBytes(16), secret = randomSecret()): AuthKey & { key: string } {
  return { key: authKeyOf(selector, secret), selector, verifier: digest(secret) };
}

/** Returns the key that consists of a selector and the secret of its verifier. */
export function authKeyOf(selector: Buffer, secret: string): string {
  return `${selector.toString('base64url')}.${secret}`;
}

/** Returns the parts of a key, or null when it does not have that form. */
export function readAuthKey(key: string): AuthKey | null {
  const [selector, secret, more] = key.split('.');
  if (more !== undefined || selector?.length !== 22 || !isRandomSecret(secret)) return null;
  return { selector: Buffer.from(selector, 'base64url'), verifier: digest(secret) };
}

/** Puts an account first in the list of accounts that the sign-in page offers in this browser. */
export function rememberAccount(cookies: Cookies, email: string, key: string): void {
  cookies.setHint(hintCookies.account, email);
  cookies.setHint(hintCookies.key, key);
  const others = rememberedIn(cookies).filter((account) => account.email !== email);
  setRemembered(cookies, [{ email, key, timestamp: Date.now() }, ...others].slice(0, MAX_REMEMBERED_ACCOUNTS));
}

/** Ends the session in the browser's cookies. The page still offers the accounts, but without their keys, which have ended. */
export function clearSession(cookies: Cookies): void {
  cookies.set('sid', null);
  for (const name of Object.values(hintCookies)) cookies.setHint(name, null);
  const accounts = rememberedIn(cookies).map(({ email, timestamp }) => ({ email, key: '', timestamp }));
  if (accounts.length > 0) setRemembered(cookies, accounts);
}

/** Returns the key of a remembered account in the browser's cookies; empty when it has none. */
export function rememberedKeyOf(cookies: Cookies, email: string): string {
  return rememberedIn(cookies).find((account) => account.email === email)?.key ?? '';
}

/** Removes an account from the list in the browser's cookies. */
export function forgetAccount(cookies: Cookies, email: string): void {
  const others = rememberedIn(cookies).filter((account) => account.email !== email);
  setRemembered(cookies, others);
  if (cookies.get(hintCookies.account) !== email) return;
  cookies.setHint(hintCookies.account, null);
  cookies.setHint(hintCookies.key, null);
}

/** Removes the key of an account that was refused: signing in with it needs an email again. */
export function forgetKey(cookies: Cookies, email: string): void {
  setRemembered(
    cookies,
    rememberedIn(cookies).map((account) => (account.email === email ? { ...account, key: '' } : account)),
  );
}

function setRemembered(cookies: Cookies, accounts: RememberedAccount[]): void {
  const value = accounts.length > 0 ? JSON.stringify(accounts) : null;
  cookies.setHint(hintCookies.remembered, value);
  cookies.setHint(hintCookies.previous, value);
}

function rememberedIn(cookies: Cookies): RememberedAccount[] {
  return readRememberedAccounts(cookies.get(hintCookies.remembered)).slice(0, MAX_REMEMBERED_ACCOUNTS);
}

/** Returns the ids of the passkeys that were used in a browser. They only decide what a page offers. */
export function passkeysIn(cookies: Cookies): string[] {
  return (cookies.get('passkeys') ?? '').split('.').filter((id) => PASSKEY_ID.test(id));
}

/** Puts a passkey first among those that were used in the browser. */
export function rememberPasskey(cookies: Cookies, id: string): void {
  const others = passkeysIn(cookies).filter((used) => used !== id);
  cookies.set('passkeys', [id, ...others].slice(0, MAX_USED_PASSKEYS).join('.'));
}

/** The names of a browser and its system, as the parser knows them; a program has no system. */
type Device = { browser: string; system: string | null };

/**
 * Returns a label by which a person may recognize a device, such as `Firefox on Linux`. It consists of names that the parser
 * knows, so that no text of a request's own appears in a list of devices.
 */
export async function deviceLabelOf(userAgent: string): Promise<string> {
  const device = await deviceOf(userAgent);
  if (!device) return UNKNOWN;
  return device.system ? `${device.browser} on ${device.system}` : device.browser;
}

/** Returns the names of the same device for a text in any language, such as `Firefox · Linux`; null when they are not known. */
export async function deviceNamesOf(userAgent: string): Promise<string | null> {
  const device = await deviceOf(userAgent);
  return device && [device.browser, device.system].filter(Boolean).join(' · ');
}

async function deviceOf(userAgent: string): Promise<Device | null> {
  if (PROGRAM.test(userAgent)) return { browser: 'Email Auth CLI', system: null };
  if (userAgent === '' || userAgent.length > MAX_USER_AGENT_LENGTH) return null;
  const cached = devices.get(userAgent);
  if (cached) return cached.device;
  // Imported on first use: 6 ms that would delay the start of the service.
  const device = parse((await import('bowser')).default, userAgent);
  devices.set(userAgent, { device });
  return device;
}

function parse(bowser: typeof Bowser, userAgent: string): Device | null {
  const parser = bowser.getParser(userAgent);
  const [browser, system] = [parser.getBrowserName(), parser.getOSName()];
  if (!Object.values(bowser.BROWSER_MAP).includes(browser)) return null;
  return { browser, system: Object.values(bowser.OS_MAP).includes(system) ? system : null };
}
