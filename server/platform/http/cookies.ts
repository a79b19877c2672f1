import type { IncomingMessage, ServerResponse } from 'node:http';
import { parse, type SerializeOptions, serialize } from 'cookie';
import { ATTEMPT_SECONDS, HINT_COOKIE_SECONDS } from '../../../contract/limits.ts';
import type { hintCookies, passkeyCookies } from '../../../contract/remembered.ts';

/** The server's own cookies and their lifetimes in seconds. */
const SECONDS = {
  attempt: ATTEMPT_SECONDS,
  /** The attempt cookie that a request for an email had: recognizes the emails of this browser after their links have ended. It opens none. */
  requested: 3600,
  refusal: 3600,
  sid: 30 * 86_400,
  device: 400 * 86_400,
  /** Binds the challenges of passkeys and the nonces of pages to the browser. */
  passkey_browser: 3600,
  /** Ids of the passkeys that the browser has used. */
  passkeys: 400 * 86_400,
  admin: 8 * 3600,
  admin_browser: 90 * 86_400,
} as const;

/** The cookies that no navigation from another website carries. */
const STRICT: ReadonlySet<CookieName> = new Set(['admin', 'admin_browser']);

type CookieName = keyof typeof SECONDS;
type HintName = (typeof hintCookies)[keyof typeof hintCookies];
type PasskeyCookie = (typeof passkeyCookies)[keyof typeof passkeyCookies];

/** The cookies of a request. */
export type ReceivedCookies = { get(name: CookieName | HintName | PasskeyCookie): string | undefined };

/** The cookies of a request and its response. A cookie of the server that the response sets has its new value. */
export type Cookies = ReceivedCookies & {
  /** Null deletes the cookie. */
  set(name: CookieName, value: string | null): void;
  /** Sets a hint for page scripts: readable, long-lived and never trusted. */
  setHint(name: HintName, value: string | null): void;
};

/**
 * Returns the cookies of a request, which can also be set on its response.
 * @param secure the service is on https: every server cookie is Secure and `__Host-` (RFC 6265bis §4.1.3)
 */
export function cookiesOf(request: IncomingMessage, response: ServerResponse, secure: boolean): Cookies {
  const append = (name: string, value: string | null, seconds: number, attributes: SerializeOptions) =>
    response.appendHeader(
      'Set-Cookie',
      serialize(name, value ?? '', { path: '/', maxAge: value === null ? 0 : seconds, sameSite: 'lax', secure, ...attributes }),
    );
  const received = receivedCookies(request, secure);
  let changed: Map<string, string | null> | undefined;
  return {
    get: (name) => (changed?.has(name) ? (changed.get(name) ?? undefined) : received.get(name)),
    set: (name, value) => {
      changed ??= new Map();
      changed.set(name, value);
      append(nameOf(name, secure), value, SECONDS[name], { httpOnly: true, ...(STRICT.has(name) && { sameSite: 'strict' }) });
    },
    setHint: (name, value) => void append(name, value, HINT_COOKIE_SECONDS, {}),
  };
}

/** Returns the cookies of a request whose response sets none. @param secure as of `cookiesOf` */
export function receivedCookies(request: IncomingMessage, secure: boolean): ReceivedCookies {
  let received: Record<string, string | undefined> | undefined;
  return {
    get: (name) => {
      received ??= parse(request.headers.cookie ?? '');
      return received[nameOf(name, secure)];
    },
  };
}

function nameOf(name: CookieName | HintName | PasskeyCookie, secure: boolean): string {
  return secure && name in SECONDS ? `__Host-${name}` : name;
}
