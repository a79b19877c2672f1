/** Limits and input rules that every program shares; their sentences are the product's. */

/** Life of a mailed link and its code, in seconds. */
export const ATTEMPT_SECONDS = 600;
/** Life of a site's token, in seconds. */
export const TOKEN_SECONDS = 3600;
/** How often a code may be tried. */
export const CODE_TRIES = 5;
/**
 * Of the mails to one mailbox in an hour, the number that is handed out one for each network address, so that requests from a
 * few networks do not use up all of them.
 */
export const RESERVED_MAILS = 4;
/** Websites with an unproven domain that one account, or one linked address, may have. */
export const MAX_UNPROVEN_WEBSITES = 100;
/**
 * How often something may be asked for: `points` within `duration` seconds. A service in local mode, where no mail leaves the
 * machine, allows a hundred times as much.
 */
export const RATE_LIMITS = {
  mails_to_address: { points: 3, duration: 900, whose: 'mails to one mailbox from one network address' },
  mails_to_mailbox: {
    points: 10,
    duration: 3600,
    whose: `mails to one mailbox, of the last ${RESERVED_MAILS} one for each network address; \`+tag\`, case and the dots of Gmail share one`,
  },
  mails_from_network: { points: 30, duration: 3600, whose: 'mails from one network address; IPv6 by /64' },
  registrations: {
    points: 10,
    duration: 3600,
    whose: 'registrations from one network address, or registrations and changes of a domain by one account',
  },
  wrong_codes: { points: 20, duration: 3600, whose: 'wrong six-digit codes from one network address' },
  wrong_codes_total: {
    points: 1000,
    duration: 3600,
    whose: 'wrong six-digit codes in all; over it codes are refused to networks with wrong codes of their own, and links work on',
  },
  failed_verify: { points: 60, duration: 60, whose: 'tokens that are not valid, from one network address' },
  domain_proofs: { points: 30, duration: 3600, whose: 'checks of proofs by one account' },
  domain_claims: { points: 60, duration: 3600, whose: 'new domains that one account asks how to prove' },
  site_checks: { points: 30, duration: 3600, whose: 'looks at sites of one account, by the MCP server of the service' },
  uploads: { points: 60, duration: 3600, whose: 'icons of one account' },
  admin_password: { points: 5, duration: 900, whose: 'wrong admin passwords from one network address' },
  admin_password_total: {
    points: 50,
    duration: 3600,
    whose: 'wrong admin passwords in all; over it each network address, IPv6 by /48, has one try in 15 minutes',
  },
  admin_password_spare: { points: 1, duration: 900, whose: 'tries of the admin password from one network address over that total' },
  admin_password_spare_total: { points: 1000, duration: 3600, whose: 'tries of the admin password over that total, in all' },
} as const;
/**
 * Query parameters, form fields, cookies, or entries of one list header that a request may have. RFC 6265 §6.1 asks clients to
 * support 50 cookies for a domain.
 */
export const MAX_INPUT_ITEMS = 50;
/** Applications and active API keys that one account may have. */
export const MAX_APPLICATIONS = 50;
export const MAX_API_KEYS = 50;
/** Remembered accounts a browser keeps, newest first. */
export const REMEMBERED_ACCOUNTS = 5;
/** Life of the cookies that only help the page, in seconds (3650 days). */
export const HINT_COOKIE_SECONDS = 3650 * 86_400;
/** An icon's largest size in bytes, and its types. */
export const ICON_BYTES = 5 * 1024 * 1024;
export const ICON_TYPES = ['image/jpeg', 'image/png'] as const;
/** How long an upload may pause, in seconds. */
export const UPLOAD_IDLE_SECONDS = 5;
/** The client id of the portal's own sign-in screen. */
export const WEB_CLIENT_ID = 'emailauth_demo_client';
/** The client id of the command line (a native client, RFC 8252). */
export const CLI_CLIENT_ID = 'emailauth_cli';

export const EMAIL_MESSAGE = 'Please enter a valid email address';
export const domainMessage = (example: string) => `Please enter a valid domain (e.g., ${example})`;

const LOCAL_PART = /^[A-Za-z0-9!#$%&'*+/=?^_`{|}~-]+(?:\.[A-Za-z0-9!#$%&'*+/=?^_`{|}~-]+)*$/;
const HOST_LABELS = /^(?:[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?\.)+(?:[a-z]{2,63}|xn--[a-z0-9-]{2,59})$/;
// Characters that `new URL` would drop or read as something other than a host name.
const NOT_IN_HOST = /[\s\p{Cc}\p{Cf}/\\?#@:%[\],;<>"'`|^{}()]/u;

/**
 * The one normal form of a mail address: NFC, ASCII local part in lower case, domain as A-label (RFC 5890), at most 254 bytes.
 * @returns the address, or null when it is not one plain address
 */
export function normalEmail(input: string): string | null {
  const parts = withoutOuterBlanks(input).split('@');
  if (parts.length !== 2) return null;
  const [local, host] = parts;
  // Before NFC and lower case, which make ASCII of a few other characters (U+212A KELVIN SIGN becomes k).
  if (!LOCAL_PART.test(local) || local.length > 64) return null;
  const domain = normalHost(host.normalize('NFC'));
  if (!domain) return null;
  const email = `${local.toLowerCase()}@${domain}`;
  return email.length <= 254 ? email : null;
}

/** Returns the text without the spaces and tabs at its ends; other white space stays, and makes an address invalid. */
function withoutOuterBlanks(text: string): string {
  const isBlank = (at: number) => text[at] === ' ' || text[at] === '\t';
  let start = 0;
  let end = text.length;
  while (isBlank(start)) start++;
  while (end > start && isBlank(end - 1)) end--;
  return text.slice(start, end);
}

/**
 * A host name in lower case with A-labels (RFC 5890), with at least two labels.
 * @returns the name, or null for an address literal, a single label or anything that is no host name
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
 * Returns the key under which the limits count the mails to an address: without its `+tag` and, at Gmail, without dots and under
 * one of its two domains. Two addresses with one mailbox stay two identities.
 * @param email in normal form
 */
export function mailboxOf(email: string): string {
  const [local, domain] = email.split('@');
  const user = local.split('+')[0] || local;
  return domain === 'gmail.com' || domain === 'googlemail.com' ? `${user.replaceAll('.', '')}@gmail.com` : `${user}@${domain}`;
}

/** An address that can be shown to somebody who has not proved to own it: `j•••@example.com`. */
export function maskEmail(email: string): string {
  const [local, domain] = email.split('@');
  return `${local[0]}•••@${domain}`;
}

/** Why a text is no name of a person or an organisation, or null: it stands on pages and may hold at most 80 characters. */
export const nameFault = (text: string) => lineFault(text, 80);

/**
 * Why a text cannot stand as the sender's name in a mail, or null. Without the characters by which RFC 5322 §3.4 tells addresses,
 * and without those that only look like them, such as U+FF20 FULLWIDTH COMMERCIAL AT.
 */
export const fromNameFault = (text: string) =>
  lineFault(text, 60) ?? (/[@<>"\\,:;]/.test(text.normalize('NFKC')) ? 'A name without @ < > " \\ , : ;' : null);

/** Why a text is no address of a logo, or null. */
export function logoUrlFault(text: string): string | null {
  if (text.length > 500) return 'At most 500 characters';
  return text === '' || isHttpsUrl(text) ? null : 'An address that begins with https://';
}

// No line ends, no invisible or direction-changing characters, none that Unicode leaves to whoever uses it.
function lineFault(text: string, most: number): string | null {
  if (text.length > most) return `At most ${most} characters`;
  return /[\p{Cc}\p{Cf}\p{Cs}\p{Co}\u2028\u2029]/u.test(text) ? 'No line ends and no invisible characters' : null;
}

function isHttpsUrl(text: string): boolean {
  if (!/^https:\/\/[\x21-\x7e]+$/.test(text) || /["<>\\^`{|}]/.test(text) || !URL.canParse(text)) return false;
  const { username, password, hostname } = new URL(text);
  // By name: an address of somebody's private network would have every reader's machine ask there.
  return username === '' && password === '' && normalHost(hostname) === hostname;
}

/** Whether a URL's hostname means the machine that asks, which needs no name server (RFC 6761 §6.3). */
export function isThisMachine(hostname: string): boolean {
  return /^(?:localhost|.+\.localhost|127\.\d+\.\d+\.\d+|\[?::1\]?)$/.test(hostname);
}

/** Hosts of this very machine, to which http is fine (RFC 8252 §7.3). */
const LOOPBACK_ORIGIN = /^http:\/\/(?:localhost|127\.0\.0\.1|\[::1\])(?::\d+)?$/;

/** What is wrong with a redirect URI of an application, in words that follow it; null: nothing. */
export function redirectUriFault(uri: string): string | null {
  if (!URL.canParse(uri)) return 'is not an absolute URL';
  if (!/^[\x21-\x7e]+$/.test(uri) || /["'<>\\^`{|}]/.test(uri))
    return 'must be plain ASCII without quotes: percent-encode the rest, and write the host as A-label';
  if (uri.includes('#')) return 'must have no fragment';
  const { protocol, origin, hostname, username, password } = new URL(uri);
  if (username || password) return 'must have no user info';
  const isWeb = protocol === 'https:' && normalHost(hostname) === hostname;
  if (!isWeb && !LOOPBACK_ORIGIN.test(origin)) return 'must be https with a domain, or http to localhost, 127.0.0.1 or [::1]';
  if (!uri.startsWith(origin) || !/^[/?]?$/.test(uri.charAt(origin.length))) {
    return 'must begin with scheme and host in lower case, without a default port';
  }
  return null;
}
