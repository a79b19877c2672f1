import { Fault } from '../../contract/errors.ts';
import { isLoopbackRedirectHost, normalHost } from '../../contract/rules.ts';

const FORBIDDEN = /[\p{Cc}\p{Cs}\s\\]/u;
const MAX_BYTES = 2048;

/**
 * Checks the forward_url of a website. The visitor is redirected to the URL as it was given, so its origin must already be
 * serialized as in the URL Standard.
 * @param local local mode: http and any port are allowed on loopback hosts
 * @returns the host, as A-label, and its origin
 * @throws Fault bad_forward_url, with the rule that it breaks
 */
export function readForwardUrl(text: string, local: boolean): { host: string; origin: string } {
  const refuse = (message: string): never => {
    throw new Fault('bad_forward_url', { message, field: 'forward_url' });
  };
  if (Buffer.byteLength(text) > MAX_BYTES) refuse('The forward_url is longer than 2,048 bytes.');
  if (FORBIDDEN.test(text) || /%00/.test(text)) refuse('The forward_url contains a space, a backslash or a control character.');
  if (!URL.canParse(text)) return refuse('The forward_url is not an absolute URL.');
  const url = new URL(text);
  if (!text.startsWith(url.origin) || !/^[/?#]?$/.test(text.charAt(url.origin.length))) {
    refuse('The forward_url must begin with https://, the host in lower case, and no user info or default port.');
  }
  const loopback = isLoopbackRedirectHost(url.hostname);
  if (loopback && !local) refuse('The forward_url must be on a registered domain, not on this machine.');
  if (!loopback && (url.protocol !== 'https:' || url.port !== '')) refuse('The forward_url must use https on the default port.');
  if (loopback && url.protocol !== 'http:' && url.protocol !== 'https:') refuse('The forward_url must use http or https.');
  if (!loopback && normalHost(url.hostname) !== url.hostname) refuse('The forward_url must name a host by its domain.');
  if (hasToken(text)) refuse('The forward_url must not have a token parameter.');
  return { host: url.hostname, origin: url.origin };
}

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

/** Returns a forward_url with a `token` parameter added before the fragment, otherwise unchanged. */
export function withToken(forwardUrl: string, token: string): string {
  return withParameters(forwardUrl, `token=${token}`);
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

/** Returns the host of a redirect URI, the scheme of one without a host (RFC 8252 §7.1), or an empty text for anything else. */
export function redirectHostOf(redirectUri: string): string {
  if (!URL.canParse(redirectUri)) return '';
  const { hostname, protocol } = new URL(redirectUri);
  return hostname || protocol.slice(0, -1);
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
