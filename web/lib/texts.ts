import { createContext, useContext } from 'react';
import type { ApiError } from '../../contract/client.ts';
import type { LanguageCode } from '../../contract/languages.ts';
import type { FormFailure } from '../../contract/pages.ts';
import { isolated } from '../../contract/urls.ts';
import { formatWait } from './dates.ts';

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
    t: (key, parts = {}) =>
      (texts[key] ?? key).replace(/\{(\w+)\}/g, (whole, name: string) => (name in parts ? isolated(parts[name]) : whole)),
  };
}

/** Provides the texts in the language of the page. */
export const TranslatorContext = createContext<Translator>(createTranslator('en', {}));

/** Returns the translator of the page. */
export const useTranslator = () => useContext(TranslatorContext);

const errorTexts: Partial<Record<Failure['code'], TextKey>> = {
  unreachable: 'auth.error_offline',
  unavailable: 'auth.error_unavailable',
  rate_limited: 'auth.error_rate_limited',
  internal: 'auth.error_internal',
  bad_email: 'auth.error_email',
  international_email: 'auth.error_international_email',
  bad_link: 'auth.confirm_wrong_email',
  bad_forward_url: 'auth.error_forward_url',
  interaction_ended: 'auth.oidc_expired_text',
  site_recipients_used_up: 'auth.error_site_recipients',
  foreign_origin: 'auth.error_foreign_form',
  no_saved_login: 'auth.no_saved_login',
  needs_script: 'auth.code_needs_script',
  sign_in_too_old: 'auth.sign_in_too_old',
  passkey_required: 'auth.passkey_only_text',
  not_found: 'auth.not_found_text',
};

/** Texts for errors that are not the same on every page. */
export type OwnTexts = Partial<Record<Failure['code'], TextKey>>;

/** Returns the text for an error of a call in the language of the page, or the text of `fallback`. */
export function translateError(translator: Translator, error: unknown, fallback: TextKey, ownTexts?: OwnTexts): string {
  return isApiError(error) ? translateFailure(translator, error, fallback, ownTexts) : translator.t(fallback);
}

/** Returns the text for a failed call or form post in the language of the page, or the text of `fallback`. */
export function translateFailure({ language, t }: Translator, failure: Failure, fallback: TextKey, ownTexts: OwnTexts = {}): string {
  return t(isMailboxLimit(failure) ? 'auth.error_mailbox' : (ownTexts[failure.code] ?? errorTexts[failure.code] ?? fallback), {
    when: formatWait(failure.retryAfter ?? 60, language),
  });
}

/** Why a call or a form post failed. */
export type Failure = { code: ApiError['code'] | FormFailure['code']; field?: string; retryAfter?: number; triesLeft?: number };

/** `instanceof` would need the class, which is not in the first load of the page. */
export const isApiError = (error: unknown): error is ApiError => error instanceof Error && error.name === 'ApiError';

/** Whether the email address was refused, in general or for this link, so that the text belongs to its field. */
export const isAddressError = ({ code, field }: Failure) => code === 'bad_email' || code === 'bad_link' || field === 'email';

/** Whether the mailbox reached its limit of emails. It does not apply to a browser that was confirmed for the mailbox. */
const isMailboxLimit = ({ code, field }: Failure) => code === 'rate_limited' && field === 'email';
