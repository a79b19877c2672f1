import type { IncomingMessage } from 'node:http';
import { parse, serialize } from 'cookie';
import { LRUCache } from 'lru-cache';
import { Fault } from '../../contract/errors.ts';
import { normalEmail, normalHost } from '../../contract/rules.ts';
import type { Database } from '../db/database.ts';
import { digest, randomSecret, type SecretKeys, SignedValues } from '../secrets.ts';
import { readForwardUrl } from '../signin/target.ts';
import type { TokenVerifier } from '../signin/verify.ts';
import { registrableOf } from '../websites/domains.ts';

/** The paths that a protected app reserves. */
const CALLBACK_PATH = '/_emailauth/callback';
export const SIGN_OUT_PATH = '/_emailauth/sign-out';

const STATE_SECONDS = 1200;
/** A longer path is not kept: the visitor returns to `/`. */
const MAX_PATH_LENGTH = 1000;
const REGISTRATION_MS = 30_000;
const MAX_REGISTRATIONS = 10_000;

/** Who may open the app, and for how long a sign-in lasts: parameters of the URL in the proxy's configuration. */
export type Policy = {
  /** Addresses, and domains of addresses; null: everyone. */
  allow: readonly string[] | null;
  maxAgeSeconds: number;
};

/** `cookies`: values of Set-Cookie. */
export type Decision =
  | { kind: 'allowed'; email: string }
  | { kind: 'redirect'; url: string; cookies: string[] }
  /** No one is signed in; `url` leads to the sign-in page. `null`: the request is not a navigation, so it cannot sign in. */
  | { kind: 'sign_in'; url: string | null; cookies: string[] }
  | { kind: 'refused'; reason: 'not_registered' | 'not_allowed' | 'other_browser'; email?: string };

type Session = { email: string; host: string; at: number };
type State = { to: string; browser: string };

const REGISTERED_SINCE = 'select coalesce(moved_at, created_at) as since from websites where domain = $1';

type Parts = {
  publicUrl: string;
  core: Database['core'];
  secretKeys: SecretKeys;
  verifier: Pick<TokenVerifier, 'verify'>;
};

/**
 * Signs visitors in to apps without code of their own: a reverse proxy asks for every request whether it may pass. The session is a
 * signed cookie on the app's host, valid as long as the website is registered unchanged.
 */
export class ForwardAuth {
  readonly #parts: Parts;
  readonly #signed: SignedValues<'session' | 'state'>;
  /** Domain → when it was registered, in Unix milliseconds; null: it is not. */
  readonly #registrations = new LRUCache<string, { since: number | null }>({ max: MAX_REGISTRATIONS, ttl: REGISTRATION_MS });

  constructor(parts: Parts) {
    this.#parts = parts;
    this.#signed = new SignedValues(parts.secretKeys, 'forward authentication');
  }

  /**
   * Decides about a request.
   * @param clientAddress of the browser, as far as the proxy reports it
   * @throws Fault rate_limited when too many tokens were invalid
   */
  async decide(original: OriginalRequest, cookies: SessionCookies, policy: Policy, clientAddress: string): Promise<Decision> {
    const since = await this.#registeredSince(original.host);
    if (since === null) return { kind: 'refused', reason: 'not_registered' };
    const { pathname, searchParams } = new URL(original.origin + original.path);
    if (pathname === CALLBACK_PATH) {
      const to = this.#destinationOf(searchParams.get('state'), cookies.browser);
      if (to === null) return { kind: 'refused', reason: 'other_browser' };
      return this.#finish(original, cookies, policy, { to, token: searchParams.get('token') ?? '', clientAddress });
    }
    if (pathname === SIGN_OUT_PATH) return { kind: 'redirect', url: `${original.origin}/`, cookies: [cookies.sessionHeader(null, 0)] };
    const session = this.#sessionOf(cookies.session);
    if (session?.host !== original.host || session.at < since) return this.#signIn(original, cookies);
    const { email } = session;
    return isAllowed(email, policy) ? { kind: 'allowed', email } : { kind: 'refused', reason: 'not_allowed', email };
  }

  #signIn({ origin, path, isNavigation }: OriginalRequest, cookies: SessionCookies): Decision {
    if (!isNavigation) return { kind: 'sign_in', url: null, cookies: [] };
    const { browser, header } = cookies.keepBrowser();
    const to = path.length > MAX_PATH_LENGTH ? '/' : path;
    const state = this.#signed.sign('state', JSON.stringify({ to, browser: digest(browser).toString('base64url') }), STATE_SECONDS);
    const forwardUrl = `${origin}${CALLBACK_PATH}?state=${state}`;
    return { kind: 'sign_in', url: `${this.#parts.publicUrl}/auth?${new URLSearchParams({ forward_url: forwardUrl })}`, cookies: [header] };
  }

  /** Returns the path to which a sign-in returns, or null when it did not begin in this browser: an attacker could have begun it. */
  #destinationOf(signed: string | null, browser: string | undefined): string | null {
    const text = this.#signed.verify('state', signed);
    if (text === null || !browser) return null;
    const state: State = JSON.parse(text);
    return digest(browser).toString('base64url') === state.browser ? state.to : null;
  }

  async #finish(
    { origin, host }: OriginalRequest,
    cookies: SessionCookies,
    { maxAgeSeconds }: Policy,
    { to, token, clientAddress }: { to: string; token: string; clientAddress: string },
  ): Promise<Decision> {
    const url = origin + to;
    const { email } = await this.#parts.verifier.verify({ token, domain: host }, { clientAddress, header: () => undefined });
    // A reload of this URL brings a used token: the page to which it leads decides.
    if (email === null) return { kind: 'redirect', url, cookies: [] };
    const session = this.#signed.sign('session', JSON.stringify({ email, host, at: Date.now() } satisfies Session), maxAgeSeconds);
    return { kind: 'redirect', url, cookies: [cookies.sessionHeader(session, maxAgeSeconds)] };
  }

  #sessionOf(signed: string | undefined): Session | null {
    const text = this.#signed.verify('session', signed);
    return text === null ? null : JSON.parse(text);
  }

  /** Returns when the website of a host was registered, up to 30 s late, or null. */
  async #registeredSince(host: string): Promise<number | null> {
    const domain = registrableOf(host);
    if (!domain) return null;
    const known = this.#registrations.get(domain);
    if (known) return known.since;
    const query = { name: 'forward-auth-registered', text: REGISTERED_SINCE, values: [domain] };
    const [row] = (await this.#parts.core.query<{ since: Date }>(query)).rows;
    const since = row?.since.getTime() ?? null;
    this.#registrations.set(domain, { since });
    return since;
  }
}

function isAllowed(email: string, { allow }: Policy): boolean {
  return allow === null || allow.includes(email) || allow.includes(email.slice(email.lastIndexOf('@') + 1));
}

/** Returns the entries of a list of addresses and domains in normal form, or null when one is neither. */
export function readAllowed(entries: readonly string[]): string[] | null {
  const normal = entries.map((entry) => (entry.includes('@') ? normalEmail(entry) : normalHost(entry)));
  return normal.includes(null) ? null : (normal as string[]);
}

/** The request of a browser that a proxy asks about. */
type OriginalRequest = {
  /** Serialized, such as `https://notes.example`. */
  origin: string;
  /** `hostname` of the URL. */
  host: string;
  /** Path and query. */
  path: string;
  /** A browser navigates, so that it can be redirected to the sign-in page. */
  isNavigation: boolean;
};

/**
 * Reads the URL from `X-Original-URL`, which other proxies on the way do not overwrite, or else from `X-Forwarded-Proto`,
 * `X-Forwarded-Host` and `X-Forwarded-Uri`, which Caddy and Traefik send.
 * @param local local mode: http and any port are allowed on loopback hosts
 * @throws Fault bad_request, bad_forward_url
 */
export function readOriginalRequest({ headers, method }: IncomingMessage, local: boolean): OriginalRequest {
  const header = (name: string) => headers[name]?.toString() ?? '';
  const text = header('x-original-url') || `${header('x-forwarded-proto')}://${header('x-forwarded-host')}${header('x-forwarded-uri')}`;
  if (!/^https?:\/\/[^/]/.test(text) || !URL.canParse(text)) {
    const message = 'The proxy has to send the URL of the original request as X-Original-URL, or as X-Forwarded-Proto, -Host and -Uri.';
    throw new Fault('bad_request', { message });
  }
  const { origin, pathname, search } = new URL(text);
  const { host } = readForwardUrl(`${origin}/`, local);
  const originalMethod = header('x-original-method') || header('x-forwarded-method') || method;
  const isNavigation = originalMethod === 'GET' && header('accept').includes('text/html');
  return { origin, host, path: pathname + search, isNavigation };
}

const BROWSER_SECONDS = 3600;

/**
 * The cookies of forward authentication on the host of a protected app. `session` holds who is signed in, `browser` a random value that
 * ties a sign-in to the browser in which it began.
 */
export class SessionCookies {
  readonly #received: Record<string, string | undefined>;
  readonly #secure: boolean;

  constructor(header: string | undefined, { origin }: Pick<OriginalRequest, 'origin'>) {
    this.#received = parse(header ?? '');
    this.#secure = origin.startsWith('https:');
  }

  get session(): string | undefined {
    return this.#received[this.#nameOf('session')];
  }

  get browser(): string | undefined {
    return this.#received[this.#nameOf('browser')];
  }

  /** Returns the browser's value, a new one where it has none, and the Set-Cookie header that keeps it. */
  keepBrowser(): { browser: string; header: string } {
    const browser = this.browser || randomSecret();
    return { browser, header: this.#serialize('browser', browser, BROWSER_SECONDS) };
  }

  /** Returns the Set-Cookie header of a session; null ends it. */
  sessionHeader(value: string | null, seconds: number): string {
    return this.#serialize('session', value ?? '', value === null ? 0 : seconds);
  }

  #nameOf(kind: 'session' | 'browser'): string {
    return `${this.#secure ? '__Host-' : ''}emailauth_${kind}`;
  }

  #serialize(kind: 'session' | 'browser', value: string, maxAge: number): string {
    return serialize(this.#nameOf(kind), value, { path: '/', maxAge, httpOnly: true, sameSite: 'lax', secure: this.#secure });
  }
}
