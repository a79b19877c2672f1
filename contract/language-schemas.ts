import { z } from 'zod';
import { languageCodes } from './languages.ts';

export const Language = z.object({ code: z.enum(languageCodes), name: z.string(), flagEmoji: z.string() });
/** A language code; a missing or unsupported one becomes English. */
export const LanguageChoice = z.enum(languageCodes).catch('en').default('en');
export const LanguageParams = z.object({ language: z.enum(languageCodes) });
/** Texts by key; every key begins with `auth.`. */
export const Translations = z.record(z.string(), z.string());
