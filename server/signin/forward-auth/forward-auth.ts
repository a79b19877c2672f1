import { parse, serialize } from 'cookie';
import { LRUCache } from 'lru-cache';
import { normalEmail } from '../../../contract/emails.ts';
import { SIGN_IN_PATHS } from '../../../contract/pages.ts';
import { normalHost } from '../../../contract/urls.ts';
import type { Database } from '../../platform/db/database.ts';
import type { Log } from '../../platform/log.ts';
import { digest, randomSecret, type SecretKeys, SignedValues } from '../../platform/secrets.ts';
import { registrableOf } from '../../websites/domains.ts';
import { erasureHash } from '../../websites/visits.ts';
import type { TokenVerifier } from '../verify.ts';
import type { OriginalRequest } from './original-request.ts';

/** The paths that a protected app reserves. */
const CALLBACK_PATH = '/_emailauth/callback';
export const SIGN_OUT_PATH = '/_emailauth/sign-out';

const STATE_SECONDS = 1200;
export const MAX_SESSION_SECONDS = 30 * 86_400;
const STANDING_MS = 30_000;
const MAX_STANDINGS = 10_000;

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

/** `at`: when the person signed in to the app, by the clock of the database, in Unix milliseconds. */
type Session = { email: string; host: string; at: number };
/** `begunBy`: the hash of the browser's value with the host of the app. */
type State = { to: string; begunBy: string };

/**
 * The time from which sign-ins count: since then, the domain is registered unchanged, the website has not erased the address, and the
 * person has not signed out everywhere. No row: the domain is not registered. $1 domain, $2 address; empty: none.
 */
const STANDING = `
select now() as now, greatest(w.domain_since,
  (select e.at from website_erasures e where e.website = w.id and e.hash = ${erasureHash('w.id', '$2')}),
  (select max(l.at) from audit_log l where l.email = $2 and l.client_id is null and l.action = 'signed_out_everywhere'
    and l.at > now() - interval '${MAX_SESSION_SECONDS} seconds')) as since
from websites w where w.domain = $1`;

/** What a session of an address at a website depends on, in Unix milliseconds. `clock`: by how much that of the database is ahead. */
type Standing = { since: number; clock: number };

type Parts = {
  publicUrl: string;
  core: Database['core'];
  secretKeys: SecretKeys;
  verifier: TokenVerifier;
  log: Log;
};

/**
 * Signs visitors in to apps without code of their own: a reverse proxy asks for every request whether it may pass. The session is a
 * signed cookie on the app's host. It says who signed in and when; each use compares that with the policy and the database.
 */
export class ForwardAuth {
  readonly #parts: Parts;
  readonly #signed: SignedValues<'session' | 'state'>;
  /** By domain and address; null: the domain is not registered. */
  readonly #standings = new LRUCache<string, { standing: Standing | null }>({ max: MAX_STANDINGS, ttl: STANDING_MS });

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
    const session = this.#sessionOf(cookies.session, original.host);
    const standing = await this.#standingOf(original.hostname, session?.email ?? '');
    if (standing === null) return { kind: 'refused', reason: 'not_registered' };
    if (original.path === CALLBACK_PATH) return this.#finish(original, cookies, policy, clientAddress);
    if (original.path === SIGN_OUT_PATH) return { kind: 'redirect', url: `${original.origin}/`, cookies: [cookies.sessionHeader(null, 0)] };
    if (session === null || !isCurrent(session, standing, policy)) return this.#signIn(original, cookies);
    const { email } = session;
    return isAllowed(email, policy) ? { kind: 'allowed', email } : { kind: 'refused', reason: 'not_allowed', email };
  }

  #signIn({ origin, host, returnPath, isNavigation }: OriginalRequest, cookies: SessionCookies): Decision {
    if (!isNavigation) return { kind: 'sign_in', url: null, cookies: [] };
    const { browser, header } = cookies.keepBrowser();
    const begun: State = { to: returnPath, begunBy: beginnerOf(browser, host) };
    const forwardUrl = `${origin}${CALLBACK_PATH}?state=${this.#signed.sign('state', JSON.stringify(begun), STATE_SECONDS)}`;
    return {
      kind: 'sign_in',
      url: `${this.#parts.publicUrl}${SIGN_IN_PATHS.signIn}?${new URLSearchParams({ forward_url: forwardUrl })}`,
      cookies: [header],
    };
  }

  /** Returns the path to which a sign-in returns, or null when it did not begin in this browser at this app: an attacker could have begun it. */
  #destinationOf(signed: string | null, browser: string | undefined, host: string): string | null {
    const text = this.#signed.verify('state', signed);
    if (text === null || !browser) return null;
    const { to, begunBy }: State = JSON.parse(text);
    return begunBy === beginnerOf(browser, host) ? to : null;
  }

  async #finish(
    { origin, host, hostname, query }: OriginalRequest,
    cookies: SessionCookies,
    { maxAgeSeconds }: Policy,
    clientAddress: string,
  ): Promise<Decision> {
    const to = this.#destinationOf(query.get('state'), cookies.browser, host);
    if (to === null) return { kind: 'refused', reason: 'other_browser' };
    const clock = (await this.#readStanding(hostname, ''))?.clock ?? 0;
    const verification = { token: query.get('token') ?? '', domain: hostname };
    const { email } = await this.#parts.verifier.verify(verification, { clientAddress, header: () => undefined });
    const url = origin + to;
    // A reload of this URL brings a used token: the page to which it leads decides.
    if (email === null) return { kind: 'redirect', url, cookies: [] };
    const session: Session = { email, host, at: Date.now() + clock };
    // How long it lasts is decided at each use.
    const signed = this.#signed.sign('session', JSON.stringify(session), MAX_SESSION_SECONDS);
    return { kind: 'redirect', url, cookies: [cookies.sessionHeader(signed, maxAgeSeconds)] };
  }

  /** Returns the session of a cookie. One of another host is logged: browsers send the cookie to its own host only, apart from ports. */
  #sessionOf(signed: string | undefined, host: string): Session | null {
    const text = this.#signed.verify('session', signed);
    if (text === null) return null;
    const session: Session = JSON.parse(text);
    if (session.host === host) return session;
    this.#parts.log.warn({ host, sessionHost: session.host }, 'forward authentication refused a session of another host');
    return null;
  }

  /** Returns what a session depends on, up to 30 s late; null when the website is not registered. */
  async #standingOf(hostname: string, email: string): Promise<Standing | null> {
    const key = `${hostname} ${email}`;
    const known = this.#standings.get(key);
    if (known) return known.standing;
    const standing = await this.#readStanding(hostname, email);
    this.#standings.set(key, { standing });
    return standing;
  }

  async #readStanding(hostname: string, email: string): Promise<Standing | null> {
    const domain = registrableOf(hostname);
    if (!domain) return null;
    const query = { name: 'forward-auth-standing', text: STANDING, values: [domain, email] };
    const [row] = (await this.#parts.core.query<{ now: Date; since: Date }>(query)).rows;
    return row ? { since: row.since.getTime(), clock: row.now.getTime() - Date.now() } : null;
  }
}

const beginnerOf = (browser: string, host: string) => digest(`${browser} ${host}`).toString('base64url');

/** Returns whether a session is as young as the policy demands, and began after everything that ends it. */
function isCurrent({ at }: Session, { since, clock }: Standing, { maxAgeSeconds }: Policy): boolean {
  return at >= since && at + maxAgeSeconds * 1000 > Date.now() + clock;
}

function isAllowed(email: string, { allow }: Policy): boolean {
  return allow === null || allow.includes(email) || allow.includes(email.slice(email.lastIndexOf('@') + 1));
}

/** Returns the entries of a list of addresses and domains in normal form, or null when one is neither. */
export function readAllowed(entries: readonly string[]): string[] | null {
  const normal = entries.map((entry) => (entry.includes('@') ? normalEmail(entry) : normalHost(entry)));
  return normal.includes(null) ? null : (normal as string[]);
}

const BROWSER_SECONDS = 3600;

/**
 * The cookies of forward authentication on the host of a protected app. `session` holds who is signed in, `browser` a random value that
 * ties a sign-in to the browser in which it began.
 */
export class SessionCookies {
  readonly #received: Record<string, string | undefined>;
  readonly #secure: boolean;

  constructor(header: string | undefined, { origin }: OriginalRequest) {
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
