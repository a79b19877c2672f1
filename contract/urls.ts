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

/** Returns the website with a domain, as people or machines write it, or undefined. */
export function findByDomain<Site extends { domain: string }>(websites: readonly Site[], text: string): Site | undefined {
  const wanted = normalDomain(text);
  return websites.find(({ domain }) => domain === wanted);
}

/** Returns why a text cannot be the URL of a logo, or null. Empty means no logo. */
export function logoUrlFault(text: string): string | null {
  if (text.length > 500) return 'At most 500 characters';
  return text === '' || isHttpsUrl(text) ? null : 'An address that begins with https://';
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

/** Returns what is wrong with a redirect URI or logout URI of a client, as the rest of a sentence that begins with it, or null. */
export function redirectUriFault(uri: string): string | null {
  return hasOwnScheme(uri) ? ownSchemeFault(uri) : serverUriFault(uri);
}

/**
 * Returns what is wrong with a URL that belongs to an application, as the rest of a sentence that begins with it, or null. It is
 * https with a domain, or http to a loopback host, and is written as browsers serialize it, because it is compared exactly.
 */
export function serverUriFault(uri: string): string | null {
  if (!URL.canParse(uri)) return 'is not an absolute URL';
  const fault = uriTextFault(uri);
  if (fault) return fault;
  const { protocol, origin, hostname, username, password } = new URL(uri);
  if (username || password) return 'must have no user info';
  const isWeb = protocol === 'https:' && normalHost(hostname) === hostname;
  const isLoopback = protocol === 'http:' && isLoopbackRedirectHost(hostname);
  if (!isWeb && !isLoopback) return 'must be https with a domain, or http to localhost, 127.0.0.1 or [::1]';
  if (!uri.startsWith(origin) || !/^[/?]?$/.test(uri.charAt(origin.length))) {
    return 'must begin with scheme and host in lower case, without a default port';
  }
  return null;
}

function uriTextFault(uri: string): string | null {
  if (!/^[\x21-\x7e]+$/.test(uri) || /["'<>\\^`{|}]/.test(uri))
    return 'must be plain ASCII without quotes: percent-encode the rest, and write the host as A-label';
  return uri.includes('#') ? 'must have no fragment' : null;
}

/**
 * Returns whether a URI has another scheme than http and https, as that of a program on the device (RFC 8252 §7.1). What stands in the
 * place of its host means nothing.
 */
export function hasOwnScheme(uri: string): boolean {
  return /^(?!https?:)[a-z][a-z0-9+.-]*:/i.test(uri);
}

/** A domain in reverse order (RFC 8252 §7.1): it begins with a top-level domain, and has no letters that only look like others. */
const REVERSE_DOMAIN = /^(?:[a-z]{2}|app|cloud|com|dev|edu|gov|info|net|org)(?:\.(?!xn--)[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?)+$/;
/** A name that could also be read as the host of a website, from the left to the right. */
const FORWARD_DOMAIN = /\.(?:com|edu|gov|net|org|amazon|apple|bank|google|microsoft)$/;

/** The schemes of programs that are known to connect to MCP servers by them. Any other one could belong to the system or the browser. */
const PROGRAM_SCHEMES: readonly string[] = [
  'claude',
  'cursor',
  'kiro',
  'raycast',
  'trae',
  'vscode',
  'vscode-insiders',
  'vscodium',
  'warp',
  'windsurf',
  'zed',
];

function ownSchemeFault(uri: string): string | null {
  const fault = uriTextFault(uri);
  if (fault) return fault;
  const scheme = uri.slice(0, uri.indexOf(':'));
  if (!PROGRAM_SCHEMES.includes(scheme) && (!REVERSE_DOMAIN.test(scheme) || FORWARD_DOMAIN.test(scheme)))
    return 'must be https, or have the scheme of a program: a domain in reverse order, in lower case, such as com.example.app:/callback';
  if (uri.includes('@')) return 'must have no user info';
  return /^:\/./.test(uri.slice(scheme.length)) && URL.canParse(uri) ? null : 'must have a path, such as com.example.app:/callback';
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
