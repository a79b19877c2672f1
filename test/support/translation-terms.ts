import type { LanguageCode } from '../../contract/languages.ts';

/** A word that a language's texts do not use, and the one that they use instead: docs/translations.md has the terms. */
export type TermRule = { avoid: RegExp; use: string };

/** Returns a pattern for whole words, in any alphabet. */
const word = (pattern: string) => new RegExp(`(?<!\\p{L})(?:${pattern})(?!\\p{L})`, 'iu');
/** Returns a pattern for words that begin so. */
const stem = (pattern: string) => new RegExp(`(?<!\\p{L})(?:${pattern})`, 'iu');

export const termRules: Readonly<Record<LanguageCode, readonly TermRule[]>> = {
  en: [
    { avoid: word('e-mail'), use: 'email' },
    { avoid: word('ask for|ask again|asked for'), use: 'request' },
    { avoid: word('type'), use: 'enter' },
    { avoid: word('nobody|somebody'), use: 'no one, someone' },
  ],
  lt: [
    { avoid: stem('uždar'), use: 'užverti' },
    { avoid: stem('atidar'), use: 'atverti' },
    { avoid: stem('nukirp'), use: 'sutrumpinta' },
    { avoid: word('į prisijungimą'), use: 'prie prisijungimo' },
    { avoid: word('tu|tavo|įvesk|spausk'), use: 'jūs' },
  ],
  lv: [
    { avoid: stem('(?:ne)?pietei[ck]|(?:ne)?piesak(?!n)'), use: 'pierakstīties, pierakstīšanās' },
    { avoid: stem('pārlūkprogramm'), use: 'pārlūks' },
    { avoid: /jaun\p{L}* e-past|e-pastā(?!\p{L})|vēl vienu e-past/iu, use: 'vēstule' },
    { avoid: word('tu|tavs|tava|ievadi|nospied'), use: 'jūs' },
  ],
  uk: [
    { avoid: stem('запросіть|запросил|замов|попросіть'), use: 'отримайте новий лист' },
    { avoid: stem('вилуч'), use: 'видалити' },
    { avoid: stem('ввійти|логін|залогін'), use: 'увійти, вхід' },
    { avoid: word('ти|твій|твоя|введи|натисни'), use: 'ви' },
  ],
  ru: [
    { avoid: stem('закаж|заказ|попрос(?!ят)'), use: 'запросите новое письмо' },
    { avoid: stem('логин|залогин|авториз(?!ации)'), use: 'войти, вход' },
    { avoid: stem('учётн|учетн'), use: 'аккаунт' },
    { avoid: word('в портал'), use: 'на портал' },
    { avoid: word('ты|твой|твоя|введи|нажми'), use: 'вы' },
  ],
};

/** Letters that a language does not have: one of its words was typed in another language. */
export const foreignLetters: Readonly<Record<LanguageCode, RegExp>> = {
  en: /[^\p{ASCII}’–—…]/u,
  lt: /[āēģīķļņ\p{Script=Cyrillic}]/iu,
  lv: /[ąęėįų\p{Script=Cyrillic}]/iu,
  uk: /[ёъыэ]|\p{Script=Latin}\p{Script=Cyrillic}|\p{Script=Cyrillic}\p{Script=Latin}/iu,
  ru: /[ґєії]|\p{Script=Latin}\p{Script=Cyrillic}|\p{Script=Cyrillic}\p{Script=Latin}/iu,
};

/** The opening and closing quotation mark of each language. English texts have none. */
export const quotes: Readonly<Record<LanguageCode, readonly [open: string, close: string] | null>> = {
  en: null,
  lt: ['„', '“'],
  lv: ['„', '”'],
  uk: ['«', '»'],
  ru: ['«', '»'],
};
