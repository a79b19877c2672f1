/** Rules for input that every program shares: normal forms, and sentences that say what is wrong. Sentences are shown to people. */

/** What is wrong with a text that is no address: anything, or only letters beyond ASCII before the @ (RFC 6531). */
type EmailFault = 'bad_email' | 'international_email';
export const EMAIL_MESSAGES: Record<EmailFault, string> = {
  bad_email: 'Please enter a valid email address',
  international_email: 'Please use only letters from a to z before the @',
};
export const domainMessage = (example: string) => `Please enter a valid domain (e.g., ${example})`;

const LOCAL_PART = /^[A-Za-z0-9!#$%&'*+/=?^_`{|}~-]+(?:\.[A-Za-z0-9!#$%&'*+/=?^_`{|}~-]+)*$/;
const HOST_LABELS = /^(?:[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?\.)+(?:[a-z]{2,63}|xn--[a-z0-9-]{2,59})$/;
// Characters that `new URL` would drop or read as something other than a host name.
const NOT_IN_HOST = /[\s\p{Cc}\p{Cf}/\\?#@:%[\],;<>"'`|^{}()]/u;

/**
 * Returns the normal form of an email address, or null when the text is not exactly one plain address: ASCII local part in lower
 * case, domain as A-label (RFC 5890), at most 254 bytes.
 */
export function normalEmail(input: string): string | null {
  const parts = trimBlanks(input).split('@');
  if (parts.length !== 2) return null;
  const [local, host] = parts;
  // Checked before NFC and lower case, which turn a few other characters into ASCII (U+212A KELVIN SIGN becomes k).
  if (!LOCAL_PART.test(local) || local.length > 64) return null;
  const domain = normalHost(host.normalize('NFC'));
  if (!domain) return null;
  const email = `${local.toLowerCase()}@${domain}`;
  return email.length <= 254 ? email : null;
}

/**
 * Characters that are not seen. The first group is kept: a joiner between two letters beyond ASCII changes the word in some languages
 * (RFC 5892 appendix A.1).
 */
export const INVISIBLE = /([^\0-\x7f\s\p{Cf}\p{DI}][\u200c\u200d](?=[^\0-\x7f\s\p{Cf}\p{DI}]))|[\p{Cf}\p{DI}]/gu;
const QUOTED = /^["'`\u2018-\u201f\xab\xbb\u2039\u203a](.*)["'`\u2018-\u201f\xab\xbb\u2039\u203a]$/s;

/**
 * Returns the address that a person means, in normal form (normalEmail), or null. Keyboards, address books and web pages add blanks and
 * line ends around it, invisible characters, quotes, a name (`Ada <ada@mail.example>`, RFC 5322 §3.4), and `mailto:` (RFC 6068).
 */
export function readEmail(input: string): string | null {
  const text = unquoted(input.replace(INVISIBLE, '$1'));
  const [, name, address = text] = /^([^<>]*)<([^<>]*)>$/.exec(text) ?? [];
  const email = normalEmail(withoutScheme(unquoted(address)));
  // A name may repeat the address, but not contain another one or the line of a header.
  if (name && (/[^\P{Cc}\t]/u.test(name) || (name.includes('@') && normalEmail(unquoted(name)) !== email))) return null;
  return email;
}

/** Returns why `readEmail` does not read a text. */
export function emailFaultOf(text: string): EmailFault {
  const local = text.slice(0, text.lastIndexOf('@'));
  const isInternational = /[^\0-\x7f]/.test(local) && readEmail(text.replace(local, local.replace(/[^\0-\x7f\s\p{Cf}]/gu, 'a'))) !== null;
  return isInternational ? 'international_email' : 'bad_email';
}

/** Returns a text without white space and one pair of quotes around it. */
function unquoted(text: string): string {
  const trimmed = text.trim();
  return (QUOTED.exec(trimmed)?.[1] ?? trimmed).trim();
}

/** Returns the address in a `mailto:` URI without its header fields; any other text as it is. */
function withoutScheme(text: string): string {
  const [, address] = /^mailto:(?:\/\/)?([^?#]*)/i.exec(text) ?? [];
  try {
    return address === undefined ? text : decodeURIComponent(address);
  } catch {
    return '';
  }
}

/** Returns the text without leading and trailing spaces and tabs. Other white space stays, so that it makes an address invalid. */
function trimBlanks(text: string): string {
  const isBlank = (at: number) => text[at] === ' ' || text[at] === '\t';
  let start = 0;
  let end = text.length;
  while (isBlank(start)) start++;
  while (end > start && isBlank(end - 1)) end--;
  return text.slice(start, end);
}

/**
 * Returns a host name in lower case with A-labels (RFC 5890), or null for an IP address, a single label or anything that is not a
 * host name.
 */
export function normalHost(input: string): string | null {
  if (input === '' || input.length > 253 || NOT_IN_HOST.test(input) || input.endsWith('.')) return null;
  try {
    const host = new URL(`http://${input}`).hostname;
    return HOST_LABELS.test(host) && host.length <= 253 ? host : null;
  } catch {
    return null;
  }
}

/**
 * Returns the key under which rate limits count the emails to an address: without its `+tag` and, at Gmail, without dots and under
 * one of its two domains. Two addresses with the same mailbox remain different identities.
 * @param email in normal form
 */
export function mailboxOf(email: string): string {
  const [local, domain] = email.split('@');
  const user = local.split('+')[0] || local;
  return domain === 'gmail.com' || domain === 'googlemail.com' ? `${user.replaceAll('.', '')}@gmail.com` : `${user}@${domain}`;
}

/** Returns an address masked as `j•••@example.com`, for a person who has not proven that it is theirs. */
export function maskEmail(email: string): string {
  const [local, domain] = email.split('@');
  return `${local[0]}•••@${domain}`;
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

const UNIT_SECONDS: Readonly<Record<string, number>> = { s: 1, m: 60, h: 3600, d: 86_400 };

/** Returns the seconds of a time such as `30s`, `10m`, `1h` or `2d`, or null for any other text. */
export function secondsOf(time: string): number | null {
  const [, amount, unit] = /^(\d{1,6})([smhd])$/.exec(time.trim()) ?? [];
  return amount === undefined ? null : Number(amount) * UNIT_SECONDS[unit];
}

/** Returns why a text cannot be the name of a person or an organization (one line, at most 80 characters), or null. */
export const nameFault = (text: string) => lineFault(text, 80);

/**
 * Returns why a text cannot be the sender's name in an email, or null. The characters that delimit addresses (RFC 5322 §3.4) are
 * refused, and so are characters that look like them, such as U+FF20 FULLWIDTH COMMERCIAL AT.
 */
export const fromNameFault = (text: string) =>
  lineFault(text, 60) ?? (/[@<>"\\,:;]/.test(text.normalize('NFKC')) ? 'A name without @ < > " \\ , : ;' : null);

/** Returns why a text cannot be the name of a website, or null. Empty means none. */
export const websiteNameFault = (text: string) => lineFault(text, 40);

/** Returns why a text cannot be the URL of a logo, or null. Empty means no logo. */
export function logoUrlFault(text: string): string | null {
  if (text.length > 500) return 'At most 500 characters';
  return text === '' || isHttpsUrl(text) ? null : 'An address that begins with https://';
}

/**
 * Returns why a text cannot be one line that people read, or null. Line ends, invisible and direction-changing characters, and
 * Unicode's private use areas are refused.
 */
export function lineFault(text: string, maxLength: number): string | null {
  if (text.length > maxLength) return `At most ${maxLength} characters`;
  return /[\p{Cc}\p{Cf}\p{Cs}\p{Co}\u2028\u2029]/u.test(text) ? 'No line ends and no invisible characters' : null;
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

/** How an application authenticates at the token endpoint. `none`: a public client (RFC 6749 §2.1), which has only PKCE. */
export const AUTHENTICATIONS = ['none', 'secret', 'private_key_jwt'] as const;
export type Authentication = (typeof AUTHENTICATIONS)[number];

/** How long the former client secret of an application remains valid, in hours. */
export const SECRET_GRACE_HOURS = [0, 1, 24] as const;

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

/** Members of a JSON Web Key that are private (RFC 7518 §6). */
const PRIVATE_KEY_MEMBERS = ['d', 'p', 'q', 'dp', 'dq', 'qi', 'oth', 'k', 'priv'];

/** Returns what is wrong with a public key of an application (RFC 7517), or null. */
export function publicKeyFault(key: { kty?: unknown } & Record<string, unknown>): string | null {
  if (!['EC', 'RSA', 'OKP'].includes(String(key.kty))) return 'A key must have the type EC, RSA or OKP.';
  if (PRIVATE_KEY_MEMBERS.some((member) => member in key)) return 'A key contains its private part: give the public key only.';
  return null;
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
