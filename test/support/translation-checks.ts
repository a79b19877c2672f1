import type { LanguageCode } from '../../contract/languages.ts';
import { foreignLetters, quotes, termRules } from './translation-terms.ts';

type Budget = { keys: RegExp; max: number; reason: string };

const keysOf = (...names: string[]) => new RegExp(`^auth\\.(?:${names.join('|')})$`);

const HEADING = 'a heading of three lines on a phone';
const PARAGRAPH = { max: 260, reason: 'a paragraph on a phone' };

/** The greatest lengths of texts, in characters and without what placeholders stand for; the first row that fits a key applies. */
const budgets: readonly Budget[] = [
  { keys: keysOf('\\w+_(?:text|wrong)'), ...PARAGRAPH },
  { keys: keysOf('\\w+_title'), max: 60, reason: HEADING },
  {
    keys: keysOf('terms', 'privacy', 'language_label', 'cancel', 'dismiss', 'passkeys_(?:rename|remove|close|sign_in)_button'),
    max: 20,
    reason: 'a link of the footer, a label or the smallest button',
  },
  { keys: keysOf('use_different_email', 'resend'), max: 22, reason: 'one of two buttons in a row' },
  {
    keys: keysOf(
      '(?:send|open|continue|browser|native|start|back|theme)_\\w*',
      '\\w+_(?:button|apply|stay|yes|continue|skip|address)',
      'resend_in',
      'sending',
      'signing_in',
      'logging_in',
      'remove_account',
    ),
    max: 32,
    reason: 'a button in a card on a screen of 320 px',
  },
  { keys: /_label$|^auth\.(?:check_email|welcome|portal_\w+|(?:callback|quick_login|saved_login)_failed)$/, max: 60, reason: HEADING },
  { keys: keysOf('passkeys_(?:synced|one_device|created|used|unused)'), max: 24, reason: 'one of three facts in a line' },
  { keys: /^auth\.oidc_scope_/, max: 60, reason: 'an entry of a list' },
  { keys: /^/, ...PARAGRAPH },
];

/** A longer word does not fit into a button on a screen of 320 px. */
const MAX_WORD = 20;

const PLACEHOLDER = /\{\w+\}/g;
const QUOTES = /["“”„«»‹›]/g;

const placeholdersOf = (text: string) => (text.match(PLACEHOLDER) ?? []).sort().join(' ');

/**
 * Returns what is wrong with the texts of a language, one sentence per fault, which names file, key and limit.
 * @param file for the sentences
 * @param english the texts whose keys and placeholders every language has
 */
export function faultsOfTexts(
  file: string,
  language: LanguageCode,
  texts: Readonly<Record<string, string>>,
  english: Readonly<Record<string, string>>,
): string[] {
  const missing = Object.keys(english).filter((key) => !(key in texts));
  const unknown = Object.keys(texts).filter((key) => !(key in english));
  const known = Object.entries(texts).filter(([key]) => key in english);
  return [
    ...missing.map((key) => `${file}: "${key}" is missing.`),
    ...unknown.map((key) => `${file}: "${key}" is not a key of English.`),
    ...known.flatMap(([key, text]) =>
      [...placeholderFaults(text, english[key]), ...lengthFaults(key, text), ...faultsOfWording(language, text)].map(
        (fault) => `${file}: "${key}" ${fault}`,
      ),
    ),
  ];
}

function placeholderFaults(text: string, english: string): string[] {
  const [own, expected] = [placeholdersOf(text), placeholdersOf(english)];
  return own === expected ? [] : [`has the placeholders ${own || '(none)'} instead of ${expected || '(none)'}.`];
}

function lengthFaults(key: string, text: string): string[] {
  const { max, reason } = budgets.find(({ keys }) => keys.test(key)) as Budget;
  return overLength(text, max, reason);
}

/** Returns a fault when a text without its placeholders is longer than `max` characters. */
export function overLength(text: string, max: number, reason: string): string[] {
  const { length } = text.replace(PLACEHOLDER, '');
  return length > max ? [`has ${length} characters, at most ${max} are allowed: it is ${reason}.`] : [];
}

/** Returns what is wrong with the words and characters of a text: terms, quotation marks, long words, white space. */
export function faultsOfWording(language: LanguageCode, text: string): string[] {
  const words = text.replace(PLACEHOLDER, ' ').split(/[\s/]+/);
  const long = words.filter((word) => word.length > MAX_WORD);
  const avoided = termRules[language].flatMap(({ avoid, use }) => {
    const found = avoid.exec(text)?.[0];
    return found === undefined ? [] : [`contains "${found}", which this language does not use: write "${use}".`];
  });
  const foreign = foreignLetters[language].exec(text)?.[0];
  const isStray = text.trim() === '' || text !== text.trim().normalize('NFC') || /[^\S\u00a0\n] |\t/.test(text);
  return [
    ...avoided,
    ...(foreign === undefined ? [] : [`contains "${foreign}", which is not a letter of this language.`]),
    ...quoteFaults(language, text),
    ...long.map(
      (word) => `has the word "${word}" of ${word.length} characters, at most ${MAX_WORD} are allowed: it is wider than a button.`,
    ),
    ...(isStray ? ['is empty, has stray white space or is not in NFC.'] : []),
  ];
}

function quoteFaults(language: LanguageCode, text: string): string[] {
  const marks = quotes[language];
  const found = (text.match(QUOTES) ?? []).join('');
  const expected = marks ? marks.join('').repeat(found.length / 2) : '';
  const apostrophe = language === 'uk' && /\p{L}['`]\p{L}/u.test(text);
  return [
    ...(found === expected ? [] : [`has the quotation marks ${found}: write ${marks ? marks.join('…') : 'none'}.`]),
    ...(apostrophe ? ['has a straight apostrophe: write ’.'] : []),
  ];
}
