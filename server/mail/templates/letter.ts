import type { LanguageCode } from '../../../contract/languages.ts';

/** What a mail says, apart from how it looks. Its texts may hold slots. */
export type Letter = {
  subject: string;
  title: string;
  paragraphs: string[];
  action: { label: string; href: string };
  /** The sentence that introduces the six-digit code; null: the mail has none. */
  codeIntroduction: string | null;
  /** Small print at the end. */
  notes: string[];
};

/** Composes one kind of mail; called once for each language. */
export type Template = (language: LanguageCode, service: { publicUrl: string }) => Letter;

/** `logo` and `sender`: the address of the site's logo, and who the mail is from in words. */
export type SlotName = 'host' | 'domain' | 'link' | 'code' | 'logo' | 'sender';

// Characters of Unicode's private use area: no text of ours has them, and HTML leaves them as they are.
const OPEN = '\u{e000}';
const CLOSE = '\u{e001}';
const SLOT = new RegExp(`${OPEN}(\\w+)${CLOSE}`);

/** Stands in a letter's text for what differs from mail to mail. */
export function slot(name: SlotName): string {
  return OPEN + name + CLOSE;
}

/** Splits a text at its slots: fixed text at the even places, names of slots at the odd ones. */
export function splitAtSlots(text: string): string[] {
  return text.split(SLOT);
}
