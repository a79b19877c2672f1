import { encodeWord } from 'nodemailer/lib/mime-funcs';
import { encode, wrap } from 'nodemailer/lib/qp';
import { buttonColors } from '../../contract/colors.ts';
import { normalEmail } from '../../contract/emails.ts';
import { ENTERED, ENTERED_METHODS } from '../../contract/entered.ts';
import type { LanguageCode } from '../../contract/languages.ts';
import { isThisMachine } from '../../contract/urls.ts';
import { domainOf, type Mailbox } from '../platform/sender.ts';
import {
  brandOf,
  type Content,
  type Mail,
  type MailKind,
  type MailSecrets,
  type PlaceholderName,
  placeholder,
  requestTimeOf,
  shownDevice,
  shownHost,
  splitAtPlaceholders,
  type Template,
} from './mail.ts';
import { invitedMember, invitedOwner } from './templates/invitations.ts';
import type { MailBranding } from './templates/layout.tsx';
import { portalSignIn, signIn } from './templates/link.ts';
import { domainLost, domainProven, passkeyAdded, registered } from './templates/notices.ts';

/** The content of the emails, by kind. */
export const templates: Readonly<Record<MailKind, Template>> = {
  sign_in: signIn,
  app_sign_in: signIn,
  portal_sign_in: portalSignIn,
  registered,
  invited_owner: invitedOwner,
  invited_member: invitedMember,
  domain_proven: domainProven,
  domain_lost: domainLost,
  passkey_added: passkeyAdded,
};

/** The sender of the emails. */
export type Sender = Mailbox & { publicUrl: string };

/** The emails of one kind and language, without the parts of their recipient and website. */
export type MailTemplate = {
  /**
   * Returns the whole message (RFC 5322), ASCII with CRLF line ends.
   * @throws Error when a part is missing or not valid; such an email can never be sent
   */
  fill(mail: Mail, secrets: MailSecrets | null): string;
};

type Placeholders = Partial<Record<PlaceholderName, string>>;

const LINK = /^https?:\/\/[\x21-\x7e]{1,4000}$/;
const BOUNDARY = '=_emailauth';

/**
 * Composes a kind of email in a language, which is slow and done once. The HTML is rendered by react-email, imported on first use.
 * @param branding whether it has placeholders for the website's logo and color
 * @param warns whether it warns of someone who guesses codes
 */
export async function compose(
  kind: MailKind,
  language: LanguageCode,
  sender: Sender,
  branding: MailBranding = { logo: false, accent: false },
  warns = false,
): Promise<MailTemplate> {
  const { htmlOf } = await import('./templates/layout.tsx');
  const { warning, ...content } = templates[kind](language, sender);
  if (warns && warning !== undefined) content.paragraphs = [...content.paragraphs, warning];
  const subject = splitAtPlaceholders(content.subject);
  const { origin, protocol, hostname } = new URL(sender.publicUrl);
  const text = encodedBody(plainText(content, hostname));
  // Clients fill a code into pages of trustworthy origins only (draft-goto-otp-token).
  const hasToken = content.entered !== undefined && (protocol === 'https:' || isThisMachine(hostname));
  const html = encodedBody(htmlOf(content, language, branding));
  const from = mailboxHeader(sender);
  const { beforeText, beforeHtml, end } = mimeParts(language);

  return {
    fill(mail, secrets) {
      if (normalEmail(mail.recipient) !== mail.recipient) throw new Error('The recipient of the email is not a valid address');
      const { fromName, logoUrl, accent } = brandOf(mail);
      const [host, domain] = [mail.data.host, mail.data.domain].map((name) => (name === undefined ? undefined : shownHost(name)));
      const placeholders = {
        ...placeholdersOf(mail, secrets),
        ...accentPlaceholders(accent),
        host: host?.full,
        domain: domain?.full,
        logo: logoUrl.startsWith('/') ? sender.publicUrl + logoUrl : logoUrl,
        sender: fromName || host?.name,
      };
      const headers = [
        `From: ${fromName ? mailboxHeader({ name: fromName, address: sender.address }) : from}`,
        `To: ${mail.recipient}`,
        `Subject: ${headerText(joined(subject, { ...placeholders, host: host?.name, domain: domain?.name }))}`,
        `Date: ${dateNow()}`,
        `Message-ID: <${mail.id}@${domainOf(sender)}>`,
        ...(hasToken ? [`OTP-Token: "${filledIn('code', placeholders)}"; origin="${origin}"`] : []),
      ].join('\r\n');
      return `${headers}\r\n${beforeText}${text(placeholders, (value) => value)}${beforeHtml}${html(placeholders, escapeHtml)}${end}`;
    },
  };
}

/** Returns the fixed headers of a message and the boundaries of its parts (RFC 2046 §5.1.4). */
function mimeParts(language: LanguageCode): { beforeText: string; beforeHtml: string; end: string } {
  const beforeText = [
    'Auto-Submitted: auto-generated',
    'X-Auto-Response-Suppress: All',
    `Content-Language: ${language}`,
    'MIME-Version: 1.0',
    `Content-Type: multipart/alternative; boundary="${BOUNDARY}"`,
    '',
    `--${BOUNDARY}`,
    'Content-Type: text/plain; charset=utf-8',
    'Content-Transfer-Encoding: quoted-printable',
    '\r\n',
  ].join('\r\n');
  const beforeHtml = [
    `\r\n--${BOUNDARY}`,
    'Content-Type: text/html; charset=utf-8',
    'Content-Transfer-Encoding: quoted-printable',
    '\r\n',
  ].join('\r\n');
  return { beforeText, beforeHtml, end: `\r\n--${BOUNDARY}--\r\n` };
}

/**
 * The link and what is entered are on lines of their own, so that they can be copied and programs find them. The last line binds the code
 * to the host of the page that asks for it, as origin-bound one-time codes of text messages do (WICG).
 */
function plainText({ title, paragraphs, action, entered, notes }: Content, hostname: string): string {
  const introduced = entered ? ENTERED_METHODS.map((method) => `${entered[method]}\n${placeholder(method)}`) : [];
  const bound = entered ? [`@${hostname} #${placeholder('code')}`] : [];
  return [title, ...paragraphs, `${action.introduction}\n${action.href}`, ...introduced, ...notes, ...bound].join('\n\n');
}

function placeholdersOf(mail: Mail, secrets: MailSecrets | null): Placeholders {
  const { inviter } = mail.data;
  if (inviter !== undefined && normalEmail(inviter) !== inviter) throw new Error('The inviter in the email is not a valid address');
  const { link, entered } = secrets ?? {};
  const isValid = ENTERED_METHODS.every((method) => !entered || ENTERED[method].pattern.test(entered[method]));
  if (link !== undefined && !(LINK.test(link) && isValid)) throw new Error('The email has no valid link or code');
  return {
    inviter,
    link,
    ...entered,
    request: [requestTimeOf(mail), shownDevice(mail)].filter(Boolean).join(' · '),
  };
}

function accentPlaceholders(accent: string): Placeholders {
  if (accent === '') return {};
  const { fill, text, border } = buttonColors(accent);
  return { accent: fill, accentText: text, accentEdge: border.light ? '#868f89' : fill };
}

function joined(pieces: string[], placeholders: Placeholders): string {
  return pieces.map((piece, index) => (index % 2 === 0 ? piece : filledIn(piece, placeholders))).join('');
}

function filledIn(name: string, placeholders: Placeholders): string {
  const value = placeholders[name as PlaceholderName];
  if (value === undefined) throw new Error(`The email has no ${name}`);
  return value;
}

/** Encodes the fixed text of a body once; each placeholder is put on separate lines, joined to the text by soft line breaks. */
function encodedBody(body: string): (placeholders: Placeholders, encode: (text: string) => string) => string {
  const pieces = splitAtPlaceholders(body).map((piece, index) => (index % 2 === 0 ? quotedPrintable(piece) : piece));
  return (placeholders, encode) => {
    const filled: Placeholders = {};
    let whole = pieces[0];
    for (let index = 1; index < pieces.length; index += 2) {
      const name = pieces[index] as PlaceholderName;
      filled[name] ??= quotedPrintable(encode(filledIn(name, placeholders)));
      whole += `=\r\n${filled[name]}=\r\n${pieces[index + 1]}`;
    }
    return whole;
  };
}

let second = 0;
let date = '';

/** Returns the current date (RFC 5322 §3.3), formatted once a second. */
function dateNow(): string {
  const now = Math.floor(Date.now() / 1000);
  if (now !== second) {
    second = now;
    date = new Date(now * 1000).toUTCString().replace('GMT', '+0000');
  }
  return date;
}

/** RFC 2045 §6.7: at most 76 characters in a line, with the soft line break and an escaped dot. */
const MAX_LINE = 73;

/**
 * Returns a text with LF line ends in quoted-printable (RFC 2045 §6.7), without a line break at its end.
 * A soft line break and more quoted-printable text may follow. No line begins with a dot, which SMTP would have to double
 * (RFC 5321 §4.5.2).
 */
export function quotedPrintable(text: string): string {
  return wrap(encode(text.replaceAll('\n', '\r\n')), MAX_LINE).replace(/^\./gm, '=2E');
}

/** Returns the value of an unstructured header (RFC 5322 §2.2.1), folded: unchanged when it is ASCII, else as encoded words (RFC 2047). */
export function headerText(text: string): string {
  const clean = text.replace(/\p{Cc}+/gu, ' ');
  if (/^[\x20-\x7e]*$/.test(clean) && !clean.includes('=?')) return clean.replace(/(.{40,70}) (?=\S)/g, '$1\r\n ');
  return encodedWords(clean);
}

/** Returns the value of an address header with one mailbox (RFC 5322 §3.4). */
export function mailboxHeader(mailbox: Mailbox): string {
  const name = mailbox.name.replace(/\p{Cc}+/gu, ' ').trim();
  if (name === '') return mailbox.address;
  const quoted = `"${name.replace(/[\\"]/g, '\\$&')}"`;
  const phrase = /^[\x20-\x7e]{1,70}$/.test(quoted) && !name.includes('=?') ? quoted : encodedWords(name);
  // RFC 5322 §2.1.1: lines of at most 78 characters.
  const space = phrase.length + mailbox.address.length > 60 ? '\r\n ' : ' ';
  return `${phrase}${space}<${mailbox.address}>`;
}

/** RFC 2047 §2: 76 characters in a line, of which the first begins with the name of the header. */
const MAX_WORD = 64;

const encodedWords = (text: string) => encodeWord(text, 'B', MAX_WORD).replaceAll(' ', '\r\n ');

const ENTITIES: Record<string, string> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;', "'": '&#39;' };

/** Escapes a text for HTML, in an element or a quoted attribute. */
export function escapeHtml(text: string): string {
  return text.replace(/[&<>"']/g, (character) => ENTITIES[character]);
}
