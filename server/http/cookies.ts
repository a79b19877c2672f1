import type { IncomingMessage, ServerResponse } from 'node:http';
import { parse, type SerializeOptions, serialize } from 'cookie';
import { HINT_COOKIE_SECONDS } from '../../contract/limits.ts';
import type { hintCookies, passkeyCookies } from '../../contract/remembered.ts';

/** The server's own cookies and their lifetimes in seconds. */
const SECONDS = {
  attempt: 600,
  refusal: 3600,
  sid: 30 * 86_400,
  device: 400 * 86_400,
  /** Binds the challenges of passkeys and the nonces of pages to the browser. */
  passkey_browser: 3600,
  /** Ids of the passkeys that the browser has used. */
  passkeys: 400 * 86_400,
  admin: 8 * 3600,
  admin_browser: 90 * 86_400,
  /** Proves an address to the issuer of email verification tokens (server/email-verification). */
  email_verification: 30 * 86_400,
} as const;

/** Attributes other than SameSite=Lax and Path=/. Browsers request a token for another website with cookies of SameSite=None only. */
const ATTRIBUTES: Partial<Record<CookieName, { path?: string; sameSite: 'strict' | 'none' }>> = {
  admin: { sameSite: 'strict' },
  admin_browser: { sameSite: 'strict' },
  email_verification: { sameSite: 'none', path: '/email-verification' },
};

export type CookieName = keyof typeof SECONDS;
type HintName = (typeof hintCookies)[keyof typeof hintCookies];
type PasskeyCookie = (typeof passkeyCookies)[keyof typeof passkeyCookies];

/** The cookies of one request and its response. */
export type Cookies = {
  get(name: CookieName | HintName | PasskeyCookie): string | undefined;
  /** Null deletes the cookie. */
  set(name: CookieName, value: string | null): void;
  /** Sets a hint for page scripts: readable, long-lived and never trusted. */
  setHint(name: HintName, value: string | null): void;
  /** Tells the issuer of email verification tokens, if the service is one, who signed in with which key; null: that everyone signed out. */
  setVerifiable(account: { email: string; key: string } | null): void;
};

/** What the cookies of a service depend on. */
export type CookieSettings = {
  /** The service is on https: every server cookie is Secure and `__Host-`, or with another path `__Secure-` (RFC 6265bis §4.1.3). */
  secure: boolean;
  /** Returns the value of the cookie `email_verification`; null for an address that the service issues no tokens for. Null: for none. */
  verifiableCookie: ((email: string, key: string) => string | null) | null;
};

/** Returns the cookies of a request, which can also be set on its response. */
export function cookiesOf(request: IncomingMessage, response: ServerResponse, { secure, verifiableCookie }: CookieSettings): Cookies {
  const append = (name: string, value: string | null, seconds: number, attributes: SerializeOptions) =>
    response.appendHeader(
      'Set-Cookie',
      serialize(name, value ?? '', { path: '/', maxAge: value === null ? 0 : seconds, sameSite: 'lax', secure, ...attributes }),
    );
  const set = (name: CookieName, value: string | null) =>
    void append(nameOf(name, secure), value, SECONDS[name], { httpOnly: true, ...ATTRIBUTES[name] });
  return {
    ...receivedCookies(request, secure),
    set,
    setHint: (name, value) => void append(name, value, HINT_COOKIE_SECONDS, {}),
    setVerifiable: (account) => {
      if (!verifiableCookie) return;
      const value = account && verifiableCookie(account.email, account.key);
      if (account && value === null) return;
      set('email_verification', value);
      // Login Status API (FedCM): a browser may ask for no tokens while everyone is signed out.
      response.setHeader('Set-Login', account ? 'logged-in' : 'logged-out');
    },
  };
}

/** Returns the cookies of a request whose response sets none. @param secure as of `cookiesOf` */
export function receivedCookies(request: IncomingMessage, secure: boolean): Pick<Cookies, 'get'> {
  let received: Record<string, string | undefined> | undefined;
  return {
    get: (name) => {
      received ??= parse(request.headers.cookie ?? '');
      return received[nameOf(name, secure)];
    },
  };
}

function nameOf(name: CookieName | HintName | PasskeyCookie, secure: boolean): string {
  if (!secure || !(name in SECONDS)) return name;
  return `${name === 'email_verification' ? '__Secure' : '__Host'}-${name}`;
}
