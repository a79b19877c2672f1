import { normalHost } from './urls.ts';

/** Characters of an email address in normal form (RFC 5321 §4.5.3.1.3). */
export const MAX_EMAIL_LENGTH = 254;

/** What is wrong with a text that is no address: anything, or only letters beyond ASCII before the @ (RFC 6531). */
type EmailFault = 'bad_email' | 'international_email';
export const EMAIL_MESSAGES: Record<EmailFault, string> = {
  bad_email: 'Please enter a valid email address',
  international_email: 'Please use only letters from a to z before the @',
};

const LOCAL_PART = /^[A-Za-z0-9!#$%&'*+/=?^_`{|}~-]+(?:\.[A-Za-z0-9!#$%&'*+/=?^_`{|}~-]+)*$/;

/**
 * Returns the normal form of an email address, or null when the text is not exactly one plain address: ASCII local part in lower
 * case, domain as A-label (RFC 5890), at most MAX_EMAIL_LENGTH bytes.
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
  return email.length <= MAX_EMAIL_LENGTH ? email : null;
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
