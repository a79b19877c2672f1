import { buttonColors } from '../../contract/colors.ts';
import type { LanguageCode } from '../../contract/languages.ts';
import { isThisMachine, normalEmail } from '../../contract/rules.ts';
import { brandOf, type Mail, type MailKind, type MailSecrets, shownDevice, shownHost } from './mail.ts';
import { escapeHtml, headerText, mailboxHeader, quotedPrintable } from './mime.ts';
import { requestTimeOf } from './request-time.ts';
import { type Content, type SlotName, slot, splitAtSlots, type Template } from './templates/content.ts';
import { invitedMember, invitedOwner } from './templates/invitations.ts';
import type { MailBranding } from './templates/layout.tsx';
import { domainLost, domainProven, passkeyAdded } from './templates/notices.ts';
import { registered } from './templates/registration.ts';
import { portalSignIn, signIn } from './templates/sign-in.ts';

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
export type Sender = { name: string; address: string; publicUrl: string; messageIdHost: string };

/** The emails of one kind and language, without the parts of their recipient and website. */
export type MailTemplate = {
  /**
   * Returns the whole message (RFC 5322), ASCII with CRLF line ends.
   * @throws Error when a part is missing or not valid; such an email can never be sent
   */
  fill(mail: Mail, secrets: MailSecrets | null): string;
};

type Slots = Partial<Record<SlotName, string>>;

const LINK = /^https?:\/\/[\x21-\x7e]{1,4000}$/;
const CODE = /^\d{6}$/;
const BOUNDARY = '=_emailauth';

/**
 * Composes a kind of email in a language, which is slow and done once. The HTML is rendered by react-email, imported on first use.
 * @param branding whether it has slots for the website's logo and color
 */
export async function compose(
  kind: MailKind,
  language: LanguageCode,
  sender: Sender,
  branding: MailBranding = { logo: false, accent: false },
): Promise<MailTemplate> {
  const { htmlOf } = await import('./templates/layout.tsx');
  const content = templates[kind](language, sender);
  const subject = splitAtSlots(content.subject);
  const { origin, protocol, hostname } = new URL(sender.publicUrl);
  const text = encodedBody(plainText(content, hostname));
  // Clients fill a code into pages of trustworthy origins only (draft-goto-otp-token).
  const hasToken = content.codeIntroduction !== null && (protocol === 'https:' || isThisMachine(hostname));
  const html = encodedBody(htmlOf(content, language, branding));
  const from = mailboxHeader(sender);
  const { beforeText, beforeHtml, end } = mimeParts(language);

  return {
    fill(mail, secrets) {
      if (normalEmail(mail.recipient) !== mail.recipient) throw new Error('The recipient of the email is not a valid address');
      const { fromName, logoUrl, accent } = brandOf(mail);
      const slots = { ...slotsOf(mail, secrets), ...accentSlots(accent) };
      slots.logo = logoUrl;
      slots.sender = fromName || slots.host;
      const headers = [
        `From: ${fromName ? mailboxHeader({ name: fromName, address: sender.address }) : from}`,
        `To: ${mail.recipient}`,
        `Subject: ${headerText(joined(subject, slots))}`,
        `Date: ${dateNow()}`,
        `Message-ID: <${mail.id}@${sender.messageIdHost}>`,
        ...(hasToken ? [`OTP-Token: "${filledSlot('code', slots)}"; origin="${origin}"`] : []),
      ].join('\r\n');
      return `${headers}\r\n${beforeText}${text(slots, (value) => value)}${beforeHtml}${html(slots, escapeHtml)}${end}`;
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
 * The link and the code are on lines of their own, so that they can be copied and programs find them. The last line binds the code to the
 * host of the page that asks for it, as origin-bound one-time codes of text messages do (WICG).
 */
function plainText({ title, paragraphs, action, codeIntroduction, notes }: Content, hostname: string): string {
  const [code, bound] =
    codeIntroduction === null ? [[], []] : [[`${codeIntroduction}\n${slot('code')}`], [`@${hostname} #${slot('code')}`]];
  return [title, ...paragraphs, `${action.introduction}\n${action.href}`, ...code, ...notes, ...bound].join('\n\n');
}

function slotsOf(mail: Mail, secrets: MailSecrets | null): Slots {
  const { host, domain, inviter } = mail.data;
  if (inviter !== undefined && normalEmail(inviter) !== inviter) throw new Error('The inviter in the email is not a valid address');
  if (secrets && !(LINK.test(secrets.link) && (secrets.code === null || CODE.test(secrets.code))))
    throw new Error('The email has no valid link or code');
  return {
    host: host === undefined ? undefined : shownHost(host),
    domain: domain === undefined ? undefined : shownHost(domain),
    inviter,
    link: secrets?.link,
    code: secrets?.code ?? undefined,
    request: [requestTimeOf(mail), shownDevice(mail)].filter(Boolean).join(' · '),
  };
}

function accentSlots(accent: string): Slots {
  if (accent === '') return {};
  const { fill, text, border } = buttonColors(accent);
  return { accent: fill, accentText: text, accentEdge: border.light ? '#868f89' : fill };
}

function joined(pieces: string[], slots: Slots): string {
  return pieces.map((piece, index) => (index % 2 === 0 ? piece : filledSlot(piece, slots))).join('');
}

function filledSlot(name: string, slots: Slots): string {
  const value = slots[name as SlotName];
  if (value === undefined) throw new Error(`The email has no ${name}`);
  return value;
}

/** Encodes the fixed text of a body once; each slot is put on separate lines, joined to the text by soft line breaks. */
function encodedBody(body: string): (slots: Slots, encode: (text: string) => string) => string {
  const pieces = splitAtSlots(body).map((piece, index) => (index % 2 === 0 ? quotedPrintable(piece) : piece));
  return (slots, encode) => {
    const filled: Slots = {};
    let whole = pieces[0];
    for (let index = 1; index < pieces.length; index += 2) {
      const name = pieces[index] as SlotName;
      filled[name] ??= quotedPrintable(encode(filledSlot(name, slots)));
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
