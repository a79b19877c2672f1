import type { z } from 'zod';
import { Fault } from '../../contract/errors.ts';
import { type ForwardUrlRule, SIGN_IN_PATHS, type SignInBoot } from '../../contract/pages.ts';
import { hasOwnScheme } from '../../contract/redirect-uris.ts';
import { type Conditions, type Destination, SignInConditions, type SignInDestination } from '../../contract/signin.ts';
import { isLoopbackRedirectHost, LOCALHOST, normalHost } from '../../contract/urls.ts';
import type { EventRecorder } from '../activity/recorder.ts';
import type { Database } from '../platform/db/database.ts';
import { inAscii } from '../platform/http/reading.ts';
import { digest } from '../platform/secrets.ts';
import { audienceOf, displayDomainOf, registrableOf } from '../websites/domains.ts';
import { uploadPath } from '../websites/uploads.ts';

// Parsing a host of many different characters takes quadratic time (Punycode, RFC 3492).
const MAX_URL_LENGTH = 2048;

/** What the pages show of a website once its domain is proven. Until then, anyone may have registered it. */
export type ShownWebsite = { icon: string | null; name: string | null; accent: string | null };
/** Selects a ShownWebsite. */
export const SHOWN_WEBSITE = `case when w.proven_at is not null then w.icon end as icon,
  case when w.proven_at is not null then nullif(w.name, '') end as name,
  case when w.proven_at is not null then nullif(w.accent, '') end as accent`;
const REGISTERED = `select ${SHOWN_WEBSITE} from websites w where domain = $1`;
const ADD_LOCALHOST = `
insert into websites (id, domain, claimed_at, proven_at) values ($1, '${LOCALHOST}', now(), now())
on conflict (domain) do update set proven_at = excluded.proven_at where websites.proven_at is null`;

/** The parameters of a call that say where its sign-in leads, once they are parsed. */
export type ParsedDestination = z.output<typeof SignInDestination>;

/** Where a page leads. `wrong`: a parameter of a website with a wrong value; `rule`: the one that the forward_url breaks. */
type PageDestination =
  | { destination: Destination; wrong: 'max_age' | 'require' | null }
  | { destination: null; host: string; rule: ForwardUrlRule };

/** The authorization requests of OpenID Connect (server/oidc/interactions.ts). */
export type WaitingInteractions = {
  /** Returns an authorization request that waits for its person. @throws Fault interaction_ended */
  waiting(interaction: string): Promise<Extract<Destination, { to: 'application' }>>;
};

type Parts = {
  publicUrl: string;
  isLocal: boolean;
  core: Database['core'];
  events: EventRecorder;
  interactions: WaitingInteractions;
};

/** Where sign-ins lead. */
export class Destinations {
  readonly portalHome: string;
  readonly #parts: Parts;

  /** @param parts.isLocal local mode: a forward_url may lead to this machine */
  constructor(parts: Parts) {
    this.portalHome = `${parts.publicUrl}/developer`;
    this.#parts = parts;
  }

  /**
   * Returns where the sign-in of a call leads; the portal when it names nothing.
   * @throws Fault bad_forward_url, interaction_ended
   */
  async of({ interaction, forward_url, ...asked }: ParsedDestination): Promise<Destination> {
    return interaction === undefined ? this.ofUrl(forward_url, conditionsOf(asked)) : this.#parts.interactions.waiting(interaction);
  }

  /**
   * Returns where a forward_url leads; the portal when it is not given.
   * @throws Fault bad_forward_url
   */
  ofUrl(url = this.portalHome, conditions = NO_CONDITIONS): Destination {
    if (url === this.portalHome) return { to: 'portal', url, conditions };
    const { host } = this.#read(url);
    const website = registrableOf(host);
    if (!website) throw badForwardUrl('not_domain');
    return { to: 'website', url, host, website, audience: audienceOf(host), conditions };
  }

  /**
   * Returns where a page leads, by its address, and the first parameter with a wrong value; or the rule that its forward_url breaks. The
   * portal opens with every method, but a page of it may need a new proof of the address.
   */
  ofPage({ forward_url, max_age, require }: Record<string, string | string[]>): PageDestination {
    const asked = SignInConditions.safeParse({ max_age, require });
    const conditions = asked.success ? conditionsOf(asked.data) : NO_CONDITIONS;
    const wrong = asked.success ? null : asked.error.issues[0].path[0] === 'max_age' ? 'max_age' : 'require';
    const url = Array.isArray(forward_url) ? '' : forward_url;
    try {
      const destination = this.ofUrl(url, conditions);
      if (destination.to !== 'portal') return { destination, wrong };
      return { destination: { ...destination, conditions: { ...conditions, passkey: false } }, wrong: null };
    } catch (error) {
      if (!(error instanceof Fault)) throw error;
      const broken = Array.isArray(forward_url) ? 'repeated' : checkForwardUrl(String(url), this.#parts.isLocal);
      return { destination: null, host: hostOf(String(forward_url)), rule: typeof broken === 'string' ? broken : 'not_domain' };
    }
  }

  /** Returns what a page shows of where it leads. */
  async targetOf(page: PageDestination): Promise<SignInBoot['target']> {
    if (page.destination === null) {
      const { host, rule } = page;
      return { kind: 'unsupported', host, displayHost: displayDomainOf(host), reason: 'bad_forward_url', back: null, rule };
    }
    const { destination, wrong } = page;
    if (destination.to !== 'website') return { kind: 'portal' };
    const { host, url, website } = destination;
    const { rows } = await this.#parts.core.query<ShownWebsite>({ name: 'signin-registered', text: REGISTERED, values: [website] });
    const [shown] = rows;
    if (shown && !wrong) return siteTarget(host, shown);
    const unsupported = { kind: 'unsupported', host, displayHost: displayDomainOf(host), back: new URL(url).origin } as const;
    return shown && wrong
      ? { ...unsupported, reason: wrong }
      : { ...unsupported, reason: 'not_registered', domain: displayDomainOf(website) };
  }

  /** @throws Fault bad_forward_url, which the owner of the domain sees as an event */
  #read(forwardUrl: string): { host: string } {
    try {
      return readForwardUrl(forwardUrl, this.#parts.isLocal);
    } catch (error) {
      const domain = registrableOf(hostOf(forwardUrl));
      if (domain) void this.#parts.events.record({ domain, kind: 'request_refused', reason: 'forward_url' });
      throw error;
    }
  }

  /** Registers `localhost` without an owner, so that local mode accepts any app under development. There is nothing to prove. */
  async addLocalhost(id: string): Promise<void> {
    await this.#parts.core.query(ADD_LOCALHOST, [id]);
  }
}

/** What the portal asks of a sign-in. */
export const NO_CONDITIONS: Conditions = { maxAge: null, passkey: false };

/** Refuses a sign-in without a passkey where only a passkey signs in. @throws Fault passkey_required */
export function requireNoPasskey({ conditions }: Destination): void {
  if (conditions.passkey) throw new Fault('passkey_required');
}

/** Returns the conditions of a call. */
export function conditionsOf({ max_age, require }: z.output<typeof SignInConditions>): Conditions {
  return { maxAge: max_age ?? null, passkey: require === 'passkey' };
}

/** The parameters by which a page, and its calls, name the destination of a website. */
export const WEBSITE_PARAMETERS: readonly string[] = ['forward_url', ...Object.keys(SignInConditions.shape)];

/** Returns the parameters by which a page, and its calls, name a destination. */
function parametersOf(destination: Destination): Record<string, unknown> {
  if (destination.to === 'application') return { interaction: destination.interaction };
  if (destination.to === 'portal') return {};
  const { url, conditions } = destination;
  return { forward_url: url, max_age: conditions.maxAge ?? undefined, require: conditions.passkey ? 'passkey' : undefined };
}

/**
 * Returns the address of the page on which a sign-in begins, and of its forms without a name.
 * @param parameters of the page; those of its first display alone are left out
 */
export function pageAddress(
  parameters: Record<string, unknown>,
  language: string,
  step?: 'address' | 'code',
): { path: string; search: string } {
  const query = new URLSearchParams();
  for (const name of WEBSITE_PARAMETERS) {
    const value = parameters[name];
    if (typeof value === 'string' || typeof value === 'number') query.set(name, String(value));
  }
  query.set('language', language);
  if (step) query.set('step', step);
  return {
    path: parameters.interaction === undefined ? SIGN_IN_PATHS.signIn : `/oauth/interaction/${parameters.interaction}`,
    search: `?${query}`,
  };
}

/** Returns the same address as a URL of this origin. */
export function pageUrl(parameters: Record<string, unknown>, language: string, step?: 'address' | 'code'): string {
  const { path, search } = pageAddress(parameters, language, step);
  return path + search;
}

/** Returns the URL of the page on which a sign-in to a destination begins. */
export const pageUrlOf = (destination: Destination, language: string) => pageUrl(parametersOf(destination), language);

/** Returns what the rows of a sign-in have about its destination. `interaction`: SHA-256 of its id, which is a secret of its browser. */
export function columnsOf(destination: Destination) {
  const none = { domain: null, clientId: null, audience: null, interaction: null };
  if (destination.to === 'website') return { ...none, domain: destination.website, audience: destination.audience };
  return destination.to === 'portal' ? none : { ...none, clientId: destination.client, interaction: digest(destination.interaction) };
}

/** Returns the SQL condition that an attempt needs a passkey after its email. @param destination the column, as SQL */
export const needsPasskey = (destination: string) => `coalesce((${destination}->'conditions'->'passkey')::boolean, false)`;

/** Returns what a page shows of a website, or of an application by its host alone. */
export function siteTarget(host: string, website: ShownWebsite | null): Extract<SignInBoot['target'], { kind: 'site' }> {
  const { icon = null, name = null, accent = null } = website ?? {};
  return { kind: 'site', host, displayHost: displayDomainOf(host), iconUrl: icon && uploadPath(icon), name, accent };
}

/** Returns the host of a URL for a page; an empty text when the URL is not valid or too long. */
function hostOf(text: string): string {
  return text.length <= MAX_URL_LENGTH && URL.canParse(text) ? new URL(text).hostname : '';
}

const FORBIDDEN = /[\p{Cc}\p{Cs}\s\\]/u;
const MAX_BYTES = 2048;

/** What a decoder has made of bytes that are not UTF-8 (Unicode §3.9). */
const UNDECODABLE = '\ufffd';

const RULES: Record<ForwardUrlRule, string> = {
  too_long: 'The forward_url is longer than 2,048 bytes.',
  characters: 'The forward_url contains a space, a backslash, a control character or invalid UTF-8.',
  not_absolute: 'The forward_url is not an absolute URL.',
  not_plain: 'The forward_url must begin with https://, the host in lower case, and no user info or default port.',
  this_machine: 'The forward_url must be on a registered domain, not on this machine.',
  not_https: 'The forward_url must use https on the default port.',
  not_domain: 'The forward_url must be on a registered domain.',
  has_token: 'The forward_url must not have a token parameter.',
  repeated: 'The forward_url is given more than once.',
};

const badForwardUrl = (rule: ForwardUrlRule) => new Fault('bad_forward_url', { message: RULES[rule], field: 'forward_url' });

/**
 * Reads the forward_url of a website, as checkForwardUrl does.
 * @throws Fault bad_forward_url, with the rule that it breaks
 */
export function readForwardUrl(text: string, isLocal: boolean): { host: string; origin: string } {
  const read = checkForwardUrl(text, isLocal);
  if (typeof read === 'string') throw badForwardUrl(read);
  return read;
}

/**
 * Checks the forward_url of a website. The visitor is redirected to the URL as it was given, so its origin must already be
 * serialized as in the URL Standard; only the host may be written in Unicode.
 * @param isLocal local mode: http and any port are allowed on loopback hosts
 * @returns the host, as A-label, and its origin; or the rule that the URL breaks
 */
function checkForwardUrl(text: string, isLocal: boolean): { host: string; origin: string } | ForwardUrlRule {
  if (Buffer.byteLength(text) > MAX_BYTES) return 'too_long';
  if (FORBIDDEN.test(text) || /%00/.test(text) || text.includes(UNDECODABLE)) return 'characters';
  if (!URL.canParse(text)) return 'not_absolute';
  const url = new URL(text);
  const { origin } = splitUrl(text);
  if (origin !== url.origin && origin.normalize() !== displayOriginOf(url)) return 'not_plain';
  const loopback = isLoopbackRedirectHost(url.hostname);
  if (loopback && !isLocal) return 'this_machine';
  if (loopback ? url.protocol !== 'http:' && url.protocol !== 'https:' : url.protocol !== 'https:' || url.port !== '') return 'not_https';
  if (!loopback && normalHost(url.hostname) !== url.hostname) return 'not_domain';
  if (hasToken(text)) return 'has_token';
  return { host: url.hostname, origin: url.origin };
}

/** Returns an absolute URL in two pieces: scheme and authority, and what follows. */
function splitUrl(url: string): { origin: string; rest: string } {
  const [origin] = /^(?:[a-z]+:\/\/)?[^/?#]*/.exec(url) ?? [''];
  return { origin, rest: url.slice(origin.length) };
}

/** Returns the origin of a URL on the default port with its A-labels (RFC 5890) decoded. */
const displayOriginOf = ({ protocol, hostname }: URL): string => `${protocol}//${displayDomainOf(hostname)}`;

/** Returns whether a URL has a parameter that some framework would read as `token`, in any case, encoding, separator or array form. */
function hasToken(url: string): boolean {
  const query = url.split('#')[0].split('?').slice(1).join('?');
  return query.split(/[&;?]/).some((pair) => {
    const name = decode(decode(pair.split('=')[0]))
      .trim()
      .toLowerCase();
    return /^token(\[|\.|\0|$)/.test(name);
  });
}

function decode(text: string): string {
  try {
    return decodeURIComponent(text.replaceAll('+', ' '));
  } catch {
    return text;
  }
}

/**
 * Returns a forward_url in ASCII, with a `token` parameter added before the fragment and otherwise unchanged. A Unicode host becomes
 * A-labels, and other characters beyond ASCII are percent-encoded as UTF-8 (RFC 3986 §2.5).
 */
export function withToken(forwardUrl: string, token: string): string {
  return withParameters(new URL(forwardUrl).origin + inAscii(splitUrl(forwardUrl).rest), `token=${token}`);
}

/** Returns a redirect_uri with the parameters of an authorization response (RFC 6749 §4.1.2) and the issuer (RFC 9207). */
export function withCode(redirectUri: string, code: string, state: string, issuer: string): string {
  return withParameters(redirectUri, new URLSearchParams({ code, state, iss: issuer }).toString());
}

function withParameters(url: string, parameters: string): string {
  const hashAt = url.indexOf('#');
  const base = hashAt < 0 ? url : url.slice(0, hashAt);
  const fragment = hashAt < 0 ? '' : url.slice(hashAt);
  // Only the first `?` is a separator; another one belongs to a parameter's name.
  const queryAt = base.indexOf('?');
  const separator = queryAt < 0 ? '?' : queryAt === base.length - 1 || base.endsWith('&') ? '' : '&';
  return `${base}${separator}${parameters}${fragment}`;
}

/** Returns the host of a redirect URI on the web, the scheme of a program with its colon (RFC 8252 §7.1), or an empty text for anything else. */
export function redirectHostOf(redirectUri: string): string {
  if (!URL.canParse(redirectUri)) return '';
  const { host, hostname, protocol } = new URL(redirectUri);
  if (hasOwnScheme(redirectUri)) return protocol;
  return isLoopbackRedirectHost(hostname) ? hostname : host;
}

/** A client that may begin a PKCE sign-in: the portal's page, the command line, or a developer's application. */
export type OAuthClient = { id: string; redirectUris: readonly string[]; kind: 'web' | 'native' | 'application' };

/** Matches the origin of an http URL of this machine; group 2 is its port. */
const LOOPBACK_START = /^(http:\/\/(?:localhost|127\.0\.0\.1|\[::1\]))(?::(\d{1,5}))?(?=[/?]|$)/;

/**
 * Returns whether a client may use a redirect_uri: exactly one of its own; for a native client any port of a loopback
 * address literal with the exact path, for an application any port of one of its loopback redirect URIs (RFC 8252 §7.3).
 */
export function isRedirectOf(client: OAuthClient, redirectUri: string): boolean {
  if (client.kind === 'native') {
    const match = /^(http:\/\/(?:127\.0\.0\.1|\[::1\])):(\d{1,5})(\/[A-Za-z0-9/_-]*)$/.exec(redirectUri);
    return match !== null && isPort(match[2]) && client.redirectUris.includes(match[3]);
  }
  if (client.redirectUris.includes(redirectUri)) return true;
  const port = LOOPBACK_START.exec(redirectUri)?.[2];
  if (client.kind === 'web' || port === undefined || !isPort(port)) return false;
  const portless = (uri: string) => uri.replace(LOOPBACK_START, '$1');
  return client.redirectUris.some((own) => LOOPBACK_START.test(own) && portless(own) === portless(redirectUri));
}

const isPort = (text: string) => Number(text) > 0 && Number(text) < 65_536;
