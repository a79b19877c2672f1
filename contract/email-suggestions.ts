import { readEmail } from './emails.ts';

/** The twenty largest mail domains. */
const LARGEST_DOMAINS = [
  ...['gmail.com', 'yahoo.com', 'hotmail.com', 'outlook.com', 'icloud.com', 'aol.com', 'live.com', 'msn.com', 'qq.com', '163.com'],
  ...['mail.ru', 'yandex.ru', 'gmx.de', 'gmx.net', 'web.de', 'protonmail.com', 'googlemail.com', 'comcast.net', 'orange.fr', 'ukr.net'],
];
/** Other providers whose domains look like one of them. */
const OTHER_DOMAINS = ['mail.com', 'ymail.com', 'email.com', 'gmx.com'];
/** In a shorter name, one other letter often makes another provider: 126.com, wp.pl. */
const MIN_NAME = 5;

/** Returns the address with the large mail domain that a person probably meant, or null. @param text as it was typed, valid or not */
export function suggestEmail(text: string): string | null {
  const email = readEmail(text) ?? text.trim().toLowerCase();
  const at = email.lastIndexOf('@');
  const domain = email.slice(at + 1);
  if (at < 1 || LARGEST_DOMAINS.includes(domain) || OTHER_DOMAINS.includes(domain)) return null;
  const meant = LARGEST_DOMAINS.find((large) => isNearMiss(domain, large));
  return meant === undefined ? null : readEmail(`${email.slice(0, at)}@${meant}`);
}

/** Returns whether a domain differs from a large one by one slip: in its name, in an ending of three letters, or by a dot or an ending. */
function isNearMiss(domain: string, large: string): boolean {
  const [name, ending] = large.split('.');
  const dot = domain.lastIndexOf('.');
  const own = domain.slice(dot + 1);
  if (dot < 0) return own === name + ending || (own === name && name.length >= MIN_NAME);
  const ownName = domain.slice(0, dot);
  if (own === ending) return name.length >= MIN_NAME && isOneSlip(ownName, name);
  return ownName === name ? ending.length > 2 && isOneSlip(own, ending) : domain.split('.').join('') === name + ending;
}

/** Returns whether one letter was left out, added or replaced, or two neighbors were exchanged (Damerau). */
function isOneSlip(typed: string, meant: string): boolean {
  let start = 0;
  while (start < typed.length && typed[start] === meant[start]) start++;
  let end = 0;
  while (end < Math.min(typed.length, meant.length) - start && typed[typed.length - 1 - end] === meant[meant.length - 1 - end]) end++;
  const [left, right] = [typed.slice(start, typed.length - end), meant.slice(start, meant.length - end)];
  if (left.length < 2 && right.length < 2) return true;
  return left.length === 2 && right.length === 2 && left[0] === right[1] && left[1] === right[0];
}

/** Returns whether a suggestion only completes what is being typed, so that it would come too early. */
export const isUnfinished = (text: string, suggested: string): boolean => suggested.startsWith(text.trim().toLowerCase());
