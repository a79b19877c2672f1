import type { LanguageCode } from '../../../contract/languages.ts';

/** The content of an email, without its layout. Its texts may contain slots. */
export type Content = {
  subject: string;
  /** What a list of emails shows after the subject. It is hidden in the email itself. */
  preview: string;
  title: string;
  paragraphs: string[];
  /** The button. Plain text has `introduction` and the address instead. */
  action: { introduction: string; label: string; href: string };
  /** The sentence that introduces the six-digit code; null when the email has none. */
  codeIntroduction: string | null;
  /** Small print at the end. */
  notes: string[];
};

/** Composes one kind of email; called once for each language. */
export type Template = (language: LanguageCode, service: { publicUrl: string }) => Content;

/**
 * `inviter`: the address of the account that invites. `logo` and `sender`: the address of the website's logo, and the name of the
 * sender. `request`: when the email was requested, and with which browser and system where they are known.
 */
export type SlotName =
  | 'accent'
  | 'accentText'
  | 'accentEdge'
  | 'host'
  | 'domain'
  | 'inviter'
  | 'link'
  | 'code'
  | 'logo'
  | 'sender'
  | 'request';

// Characters of Unicode's private use area: the texts do not contain them, and HTML leaves them unchanged.
const OPEN = '\u{e000}';
const CLOSE = '\u{e001}';
const SLOT = new RegExp(`${OPEN}(\\w+)${CLOSE}`);

/** Returns the placeholder of a value that differs from email to email. */
export function slot(name: SlotName): string {
  return OPEN + name + CLOSE;
}

/** Splits a text at its slots: text at the even indexes, names of slots at the odd ones. */
export function splitAtSlots(text: string): string[] {
  return text.split(SLOT);
}
