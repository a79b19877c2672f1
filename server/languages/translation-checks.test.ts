import { expect, test } from 'vitest';
import type { LanguageCode } from '../../contract/languages.ts';
import { faultsOfTexts } from '../../test/support/translation-checks.ts';
import { texts } from './languages.ts';

/** Returns the faults of some texts of a language, and of a key without a text. */
const faultsOf = (language: LanguageCode, changes: Record<string, string>, removed?: string) => {
  const english = Object.fromEntries(
    [...Object.keys(changes), removed].flatMap((key) => (key && key in texts.en ? [[key, texts.en[key]]] : [])),
  );
  return faultsOfTexts(`${language}.json`, language, changes, english);
};

test.each<[string, LanguageCode, Record<string, string>, RegExp]>([
  ['an unknown key', 'lt', { 'auth.hello': 'Labas' }, /^lt\.json: "auth\.hello" is not a key of English/],
  [
    'a missing placeholder',
    'lt',
    { 'auth.magic_link_sent': 'Išsiųsta.' },
    /^lt\.json: "auth\.magic_link_sent" has the placeholders \(none\) instead of \{email\}/,
  ],
  [
    'another placeholder',
    'ru',
    { 'auth.confirm_button': 'Войти на {domain}' },
    /"auth\.confirm_button" has the placeholders \{domain\} instead of \{host\}/,
  ],
  [
    'a long button',
    'uk',
    { 'auth.send_magic_link': 'Надіслати мені безпечне посилання для входу' },
    /"auth\.send_magic_link" has 43 characters, at most 32 are allowed/,
  ],
  ['a long title', 'lv', { 'auth.confirm_title': 'Lūdzu, '.repeat(9).trim() }, /"auth\.confirm_title" has 62 characters, at most 60/],
  ['a long paragraph', 'en', { 'auth.browser_text': 'Text '.repeat(60).trim() }, /"auth\.browser_text" has 299 characters, at most 260/],
  [
    'a word wider than a button',
    'lt',
    { 'auth.resend': 'Donaudampfschifffahrt' },
    /"auth\.resend" has the word "Donaudampfschifffahrt" of 21 characters, at most 20/,
  ],
  [
    'two words for one concept',
    'lv',
    { 'auth.confirm_title': 'Apstipriniet pieteikšanos' },
    /"auth\.confirm_title" contains "pieteik".*write "pierakstīties/,
  ],
  ['a wrong verb', 'uk', { 'auth.code_spent': 'Запросіть новий лист.' }, /contains "Запросіть".*write "отримайте/],
  ['another form of address', 'ru', { 'auth.code_wrong': 'Введи код.' }, /contains "Введи".*write "вы"/],
  [
    'the quotation marks of another language',
    'lv',
    { 'auth.callback_wrong_state': 'Nederīgs parametrs “state”' },
    /has the quotation marks “”: write „…”/,
  ],
  [
    'a quotation mark without its pair',
    'uk',
    { 'auth.callback_wrong_state': 'Неправильний параметр «state' },
    /has the quotation marks «: write «…»/,
  ],
  ['a straight apostrophe', 'uk', { 'auth.oidc_scope_profile': "Бачити ваше ім'я" }, /has a straight apostrophe/],
  ['a letter of a neighboring language', 'lv', { 'auth.terms': 'Jūsų' }, /"auth\.terms" contains "ų", which is not a letter/],
  ['a Latin letter in a Cyrillic word', 'ru', { 'auth.terms': 'Уcловия' }, /contains "Уc", which is not a letter/],
  ['an empty text', 'ru', { 'auth.terms': ' ' }, /"auth\.terms" is empty/],
  ['decomposed letters', 'lv', { 'auth.privacy': 'Privātums'.normalize('NFD') }, /not in NFC/],
])('reports %s', (_, language, changes, message) => {
  const faults = faultsOf(language, changes);
  expect(faults).toHaveLength(1);
  expect(faults[0]).toMatch(message);
});

test('reports a missing key', () => {
  expect(faultsOf('ru', {}, 'auth.terms')).toEqual(['ru.json: "auth.terms" is missing.']);
});
