import { z } from 'zod';

/** The languages of the sign-in pages and the emails; the first is the default. */
export const languages = [
  { code: 'en', name: 'English', flagEmoji: '🇬🇧' },
  { code: 'lt', name: 'Lietuvių', flagEmoji: '🇱🇹' },
  { code: 'lv', name: 'Latviešu', flagEmoji: '🇱🇻' },
  { code: 'uk', name: 'Українська', flagEmoji: '🇺🇦' },
  { code: 'ru', name: 'Русский', flagEmoji: '🇷🇺' },
] as const;

export type LanguageCode = (typeof languages)[number]['code'];

const codes = languages.map((language) => language.code) as unknown as readonly [LanguageCode, ...LanguageCode[]];

export const Language = z.object({ code: z.enum(codes), name: z.string(), flagEmoji: z.string() });
/** A language code; a missing or unsupported one becomes English. */
export const LanguageChoice = z.enum(codes).catch('en').default('en');
export const LanguageParams = z.object({ language: z.enum(codes) });
/** Texts by key; every key begins with `auth.`. */
export const Translations = z.record(z.string(), z.string());

/** Returns the supported language that `input` names, or English. */
export function languageOf(input: unknown): LanguageCode {
  return codes.find((code) => code === input) ?? 'en';
}
