import { type LanguageCode, languages } from '../../contract/languages.ts';
import { type Endpoint, handle } from '../platform/http/endpoint.ts';
import en from './texts/en.json' with { type: 'json' };
import lt from './texts/lt.json' with { type: 'json' };
import lv from './texts/lv.json' with { type: 'json' };
import ru from './texts/ru.json' with { type: 'json' };
import uk from './texts/uk.json' with { type: 'json' };

/** The texts of the sign-in pages: by language, then by key (`auth.welcome`, …). Every language has the keys of English. */
export const texts: Readonly<Record<LanguageCode, Readonly<Record<string, string>>>> = { en, lt, lv, uk, ru };

/** Binds the calls of the languages and their texts. */
export function languageEndpoints(): Endpoint[] {
  return [handle('languages', () => [...languages]), handle('translations', ({ language }) => texts[language])];
}
