import { createContext, useContext } from 'react';
import type { LanguageCode } from '../../contract/languages.ts';

export type TextKey = `auth.${string}`;

export type Translator = {
  language: LanguageCode;
  /** The text of a key with its `{name}` parts filled in. */
  t(key: TextKey, parts?: Record<string, string>): string;
};

/** A translator over the texts of one language; a key without a text shows itself. */
export function createTranslator(language: LanguageCode, texts: Record<string, string>): Translator {
  return {
    language,
    t: (key, parts = {}) => (texts[key] ?? key).replace(/\{(\w+)\}/g, (whole, name: string) => parts[name] ?? whole),
  };
}

export const TranslatorContext = createContext<Translator>(createTranslator('en', {}));

export const useTranslator = () => useContext(TranslatorContext);
