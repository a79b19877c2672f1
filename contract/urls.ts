/** Characters of a host name (RFC 1035 §2.3.4). */
export const MAX_HOST_LENGTH = 253;

/** What a person reads who enters no domain. */
export const DOMAIN_REQUIRED = 'Domain is required';

/** Returns what a person reads whose text is not a domain. */
export const domainMessage = (example: string) => `Please enter a valid domain (e.g., ${example})`;

const HOST_LABELS = /^(?:[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?\.)+(?:[a-z]{2,63}|xn--[a-z0-9-]{2,59})$/;
// Characters that `new URL` would drop or read as something other than a host name.
const NOT_IN_HOST = /[\s\p{Cc}\p{Cf}/\\?#@:%[\],;<>"'`|^{}()]/u;

/**
 * Returns a host name in lower case with A-labels (RFC 5890), or null for an IP address, a single label or anything that is not a
 * host name.
 */
export function normalHost(input: string): string | null {
  if (input === '' || input.length > MAX_HOST_LENGTH || NOT_IN_HOST.test(input) || input.endsWith('.')) return null;
  try {
    const host = new URL(`http://${input}`).hostname;
    return HOST_LABELS.test(host) && host.length <= MAX_HOST_LENGTH ? host : null;
  } catch {
    return null;
  }
}

/**
 * Returns the host in what a person typed or pasted as a domain: without protocol, user, port, path and `www.`. Another text is
 * returned without surrounding white space.
 */
export function domainInput(input: string): string {
  const text = input.trim();
  const url = /^(?:https?:)?\/\/(?:[^/?#]*@)?([^/?#]*)/i.exec(text) ?? /^([^/?#:@]+(?::\d{1,5})?)(?:[/?#].*)?$/.exec(text);
  const host = (url?.[1] ?? '').replace(/:\d{1,5}$/, '').replace(/\.$/, '');
  const bare = host.replace(/^www\.(?=[^.]+\.)/i, '');
  return normalHost(bare) ? bare : text;
}

/** Returns the normal form (normalHost) of what a person typed or pasted as a domain, or null. */
export const normalDomain = (input: string): string | null => normalHost(domainInput(input));

/**
 * Returns the page of a website to which a person continues who is signed in there: the path in the `return_to` of its forward_url, as the
 * integrations of this service have it, else the home page. A callback without a token would only refuse the person.
 * @param forwardUrl a valid one
 */
export function returnPageOf(forwardUrl: string): string {
  const { origin, searchParams } = new URL(forwardUrl);
  const path = searchParams.get('return_to') ?? '';
  return /^\/(?![/\\])[!-~]{0,500}$/.test(path) ? origin + path : origin;
}

/** Returns the domain of a website as people or machines write it: its normal form, or `localhost`; null: it can be of none. */
export const websiteDomain = (input: string): string | null =>
  normalDomain(input) ?? (input.trim().toLowerCase() === LOCALHOST ? LOCALHOST : null);

/** Returns the website with a domain, as people or machines write it, or undefined. */
export function findByDomain<Site extends { domain: string }>(websites: readonly Site[], text: string): Site | undefined {
  const wanted = websiteDomain(text);
  return websites.find(({ domain }) => domain === wanted);
}

/** Returns why a text cannot be the URL of a logo, or null. Empty means no logo. */
export function logoUrlFault(text: string): string | null {
  if (text.length > 500) return 'At most 500 characters';
  return text === '' || isHttpsUrl(text) ? null : 'An address that begins with https://';
}

const RIGHT_TO_LEFT = /[\u0590-\u08ff\ufb1d-\ufdff\ufe70-\ufeff]/;

/** Returns a host for a sentence: LEFT-TO-RIGHT ISOLATE around scripts from right to left keeps the order of its labels (UAX #9, X5b). */
export const isolated = (host: string): string => (RIGHT_TO_LEFT.test(host) ? `\u2066${host}\u2069` : host);

/** The path of the uploaded icons; a UUID follows. */
export const UPLOADS_PATH = '/objects/uploads/';

const UPLOAD_ID = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/;

/** Returns the id of the upload at a path, or null. */
export function uploadIdOf(path: string): string | null {
  const id = path.startsWith(UPLOADS_PATH) ? path.slice(UPLOADS_PATH.length) : '';
  return UPLOAD_ID.test(id) ? id : null;
}

function isHttpsUrl(text: string): boolean {
  if (!/^https:\/\/[\x21-\x7e]+$/.test(text) || /["<>\\^`{|}]/.test(text) || !URL.canParse(text)) return false;
  const { username, password, hostname } = new URL(text);
  // An IP address could point into the private network of every person who reads the email.
  return username === '' && password === '' && normalHost(hostname) === hostname;
}

/**
 * Returns whether the hostname of a URL always means the machine that resolves it: localhost and its subdomains (RFC 6761 §6.3),
 * 127.0.0.0/8 and ::1. Such a host has no TLS certificate and no public DNS record.
 * @param hostname in lower case, an IPv6 address with or without brackets
 */
export function isThisMachine(hostname: string): boolean {
  return /^(?:localhost|.+\.localhost|127\.\d+\.\d+\.\d+|\[?::1\]?)$/.test(hostname);
}

/** The domain of all loopback hosts, which local mode accepts without a registration. */
export const LOCALHOST = 'localhost';

/** The origin at which an app on this computer most often is. */
export const LOCAL_APP = `http://${LOCALHOST}:3000`;

/** The loopback hosts of RFC 8252 §7.3, and `localhost`, which people use for the same purpose (§8.3). */
const LOOPBACK_REDIRECT_HOSTS: readonly string[] = [LOCALHOST, '127.0.0.1', '[::1]'];

/**
 * Returns whether a redirect may go to a hostname over http: exactly `localhost`, `127.0.0.1` or `[::1]`. Narrower than
 * isThisMachine, because a token is sent there: a browser may resolve a subdomain of localhost by DNS.
 * @param hostname as URL.hostname returns it
 */
export function isLoopbackRedirectHost(hostname: string): boolean {
  return LOOPBACK_REDIRECT_HOSTS.includes(hostname);
}

/** Longest TXT text that is read as a proof, in characters. A proof has 32; a TXT record can have 64 KB. */
const MAX_PROOF_TEXT_LENGTH = 256;

/**
 * Returns whether one of the TXT texts of a name is the proof of its domain. White space and quotes around it are ignored, since
 * some DNS panels store the quotes of the zone file as part of the text.
 * @param value the expected proof, which contains neither
 */
export function hasProofText(texts: readonly string[], value: string): boolean {
  return texts.some((text) => text.length <= MAX_PROOF_TEXT_LENGTH && text.replaceAll('"', ' ').trim() === value);
}
