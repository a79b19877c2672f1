/** The languages of the sign-in pages and the emails; the first is the default. */
export const languages = [
  { code: 'en', name: 'English', flagEmoji: '🇬🇧' },
  { code: 'lt', name: 'Lietuvių', flagEmoji: '🇱🇹' },
  { code: 'lv', name: 'Latviešu', flagEmoji: '🇱🇻' },
  { code: 'uk', name: 'Українська', flagEmoji: '🇺🇦' },
  { code: 'ru', name: 'Русский', flagEmoji: '🇷🇺' },
] as const;

export type LanguageCode = (typeof languages)[number]['code'];

/** The codes of `languages`, in its order. */
export const languageCodes = languages.map((language) => language.code) as unknown as readonly [LanguageCode, ...LanguageCode[]];

/** Returns the supported language that `input` names, or English. */
export function languageOf(input: unknown): LanguageCode {
  return languageCodes.find((code) => code === input) ?? 'en';
}
