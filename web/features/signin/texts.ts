import { createContext, useContext } from 'react';
import type { ApiError } from '../../../contract/client.ts';
import type { LanguageCode } from '../../../contract/languages.ts';
import { inSeconds } from '../../lib/dates.ts';
import { isApiError, isMailboxLimit } from './requests.ts';

export type TextKey = `auth.${string}`;

type Translator = {
  language: LanguageCode;
  /** Returns the text of a key with its `{name}` parts filled in. */
  t(key: TextKey, parts?: Record<string, string>): string;
};

/** Returns a translator for the texts of one language. The text of an unknown key is the key. */
export function createTranslator(language: LanguageCode, texts: Record<string, string>): Translator {
  return {
    language,
    t: (key, parts = {}) => (texts[key] ?? key).replace(/\{(\w+)\}/g, (whole, name: string) => parts[name] ?? whole),
  };
}

export const TranslatorContext = createContext<Translator>(createTranslator('en', {}));

export const useTranslator = () => useContext(TranslatorContext);

const errorTexts: Partial<Record<ApiError['code'], TextKey>> = {
  unreachable: 'auth.error_offline',
  unavailable: 'auth.error_unavailable',
  rate_limited: 'auth.error_rate_limited',
  internal: 'auth.error_internal',
  bad_email: 'auth.error_email',
  bad_link: 'auth.confirm_wrong_email',
  bad_forward_url: 'auth.error_forward_url',
  interaction_ended: 'auth.oidc_expired_text',
  site_recipients_used_up: 'auth.error_site_recipients',
};

/** Returns the text for an error in the language of the page, or the text of `fallback`. */
export function failureText({ language, t }: Translator, error: unknown, fallback: TextKey): string {
  if (!isApiError(error)) return t(fallback);
  return t(isMailboxLimit(error) ? 'auth.error_mailbox' : (errorTexts[error.code] ?? fallback), {
    when: inSeconds(error.retryAfter ?? 60, language),
  });
}
