import { domainToUnicode } from 'node:url';
import { accentFault } from '../../contract/colors.ts';
import type { EnteredMethod } from '../../contract/entered.ts';
import type { LanguageCode } from '../../contract/languages.ts';
import { fromNameFault } from '../../contract/rules.ts';
import { isolated, logoUrlFault, normalHost, uploadIdOf } from '../../contract/urls.ts';

export type MailKind =
  | 'sign_in'
  | 'app_sign_in'
  | 'portal_sign_in'
  | 'registered'
  | 'invited_owner'
  | 'invited_member'
  | 'domain_proven'
  | 'domain_lost'
  | 'passkey_added';

/**
 * How long a process holds an email before others may take it over, unless it renews the lease. So far in the future is `due_at` when the row
 * of an email is inserted.
 */
export const LEASE_SECONDS = 25;

/** An email without its recipient. */
export type MailDraft = {
  kind: MailKind;
  language: LanguageCode;
  /**
   * `host` for sign_in and app_sign_in, `domain` for registered, invited_* and domain_*: host names, the only text in an email that a
   * requester chooses. `inviter` for invited_*: the address of a signed-in account. `website` for sign_in and app_sign_in: the registered domain or application,
   * whose owner sees the delivery as an event. `fromName`, `logoUrl` for sign_in: the branding that the website's owner chose.
   * `device`: the names of browser and system that requested the email. `guessed`: `yes` when someone is guessing the codes of the mailbox.
   */
  data: Record<string, string>;
};

/** An email to send: one row of the table `outbox`. */
export type Mail = MailDraft & {
  /** A UUID; for an email that signs in, the attempt's. The Message-ID derives from it, so that every retry sends the same email. */
  id: string;
  /** In the normal form of contract/emails.ts. */
  recipient: string;
  /** The request that it belongs to, for the log; not known to a retry by another process. */
  requestId?: string;
};

/** The link that an email carries, and what is entered, by method; null for an email that was requested in no window. */
export type MailSecrets = { link: string; entered: Readonly<Record<EnteredMethod, string>> | null };

/**
 * The result of a try to send an email. `temporary`: to be tried again; with `connection`, the mail server could not be reached, or
 * with `login` refused the user name and password; with `unconfirmed`, it had the whole email and did not reply. `refused`: permanently (a reply 5yz, RFC 5321 §4.2.1); with `local`, before the mail server got the email. `not_tried`: no connection
 * was free in time. `failed`: an error of this service, before the mail server got the email; to be tried again.
 */
export type SendResult =
  | 'sent'
  | 'not_tried'
  | { temporary: string; connection: true; login?: boolean }
  | { temporary: string; connection: false; unconfirmed?: boolean }
  | { refused: string; local?: true }
  | { failed: string };

const HOST = /^(?:[a-z0-9](?:[a-z0-9.-]{0,251}[a-z0-9])?|\[[0-9a-f:.]{2,45}\])(?::\d{0,5})?$/;

/**
 * Returns how an email shows a host name, or the scheme of a program with its colon.
 * @returns `name` with its A-labels decoded (RFC 5890), for a subject; `full` with the A-labels beside it, which tell look-alikes apart
 * @throws Error for anything else, since no other text of a requester may appear in an email
 */
export function shownHost(host: string): { name: string; full: string } {
  const ascii = HOST.test(host) ? host : normalHost(host);
  if (!ascii) throw new Error('The host in the email is not a valid host name');
  const [, labels, port] = /^(.*?)(:\d*)?$/.exec(ascii) ?? [];
  const decoded = labels.includes('xn--') ? domainToUnicode(labels) : '';
  if (decoded === '' || decoded === labels) return { name: ascii, full: ascii };
  const name = isolated(decoded + (port ?? ''));
  return { name, full: `${name} (${ascii})` };
}

// The form of the names that the parser of user agents knows (developers/browser.ts).
const DEVICE = /^[A-Za-z0-9][A-Za-z0-9 .+-]{0,39}(?: · [A-Za-z0-9][A-Za-z0-9 .+-]{0,39})?$/;

/** Returns the browser and system that requested an email, or an empty text. It is validated again here; the email is sent without an invalid one. */
export function shownDevice({ data: { device } }: MailDraft): string {
  return device !== undefined && DEVICE.test(device) ? device : '';
}

/** Returns whether an email warns of someone who guesses the codes of its mailbox. */
export const warnsOfGuesses = ({ data }: MailDraft): boolean => data.guessed === 'yes';

/** The branding of a website whose domain is proven; an empty text means the service's own. `logoUrl` may be the path of its uploaded icon. */
type Brand = { fromName: string; logoUrl: string; accent: string };

const NO_BRAND: Brand = { fromName: '', logoUrl: '', accent: '' };

/** Returns the branding of an email. It is validated again here; an invalid part is left out, and the email is still sent. */
export function brandOf({ kind, data: { fromName = '', logoUrl = '', accent = '' } }: MailDraft): Brand {
  if (kind !== 'sign_in') return NO_BRAND;
  return {
    fromName: fromNameFault(fromName) ? '' : fromName,
    logoUrl: logoUrlFault(logoUrl) && !uploadIdOf(logoUrl) ? '' : logoUrl,
    accent: accentFault(accent) ? '' : accent,
  };
}

/** English as in the other languages: the day before the month. */
const LOCALES: Record<LanguageCode, string> = { en: 'en-GB', lt: 'lt', lv: 'lv', uk: 'uk', ru: 'ru' };

const MINUTE_MS = 60_000;
const UUID_7 = /^([0-9a-f]{8})-([0-9a-f]{4})-7/;

/** Formats times of one language, and keeps the newest minute: emails of one time share it. */
class MinuteFormat {
  readonly #format: Intl.DateTimeFormat;
  #minute = Number.NaN;
  #text = '';

  constructor(language: LanguageCode) {
    this.#format = new Intl.DateTimeFormat(LOCALES[language], { dateStyle: 'long', timeStyle: 'short', timeZone: 'UTC' });
  }

  of(time: number): string {
    const minute = Math.floor(time / MINUTE_MS);
    if (minute !== this.#minute) {
      this.#minute = minute;
      this.#text = `${this.#format.format(minute * MINUTE_MS)} UTC`;
    }
    return this.#text;
  }
}

const formats = new Map<LanguageCode, MinuteFormat>();

/**
 * Returns when an email was requested, to the minute, in UTC and in the email's language. The time is that of its id, a UUID of
 * version 7 (RFC 9562 §5.7), so that every retry sends the same email; now for another id, as a preview has.
 */
export function requestTimeOf({ id, language }: Mail): string {
  const format = formats.get(language) ?? new MinuteFormat(language);
  formats.set(language, format);
  return format.of(requestedAtOf(id) ?? Date.now());
}

/** Returns when the email with this id was requested, in Unix milliseconds; null for an id without a time. */
export function requestedAtOf(id: string): number | null {
  const [, high, low] = UUID_7.exec(id) ?? [];
  return high === undefined ? null : Number.parseInt(high + low, 16);
}

/** The content of an email, without its layout. Its texts may contain placeholders. */
export type Content = {
  subject: string;
  /** What a list of emails shows after the subject. It is hidden in the email itself. */
  preview: string;
  title: string;
  paragraphs: string[];
  /** The button. Plain text has `introduction` and the address instead. */
  action: { introduction: string; label: string; href: string };
  /** The sentences that introduce what is entered, by method, where the email has it. */
  entered?: Readonly<Record<EnteredMethod, string>>;
  /** What an email with a code also says while someone is guessing the codes of its mailbox. */
  warning?: string;
  /** Small print at the end. */
  notes: string[];
};

/** Composes one kind of email; called once for each language. */
export type Template = (language: LanguageCode, service: { publicUrl: string }) => Content;

/**
 * `inviter`: the address of the account that invites. `logo` and `sender`: the address of the website's logo, and the name of the
 * sender. `request`: when the email was requested, and with which browser and system where they are known.
 */
export type PlaceholderName =
  | 'accent'
  | 'accentText'
  | 'accentEdge'
  | 'host'
  | 'domain'
  | 'inviter'
  | 'link'
  | EnteredMethod
  | 'logo'
  | 'sender'
  | 'request';

// Characters of Unicode's private use area: the texts do not contain them, and HTML leaves them unchanged.
const OPEN = '\u{e000}';
const CLOSE = '\u{e001}';
const PLACEHOLDER = new RegExp(`${OPEN}(\\w+)${CLOSE}`);

/** Returns the placeholder of a value that differs from email to email. */
export function placeholder(name: PlaceholderName): string {
  return OPEN + name + CLOSE;
}

/** Splits a text at its placeholders: text at the even indexes, names of placeholders at the odd ones. */
export function splitAtPlaceholders(text: string): string[] {
  return text.split(PLACEHOLDER);
}
