import type { LanguageCode } from '../../contract/languages.ts';
import type { Mail } from './mail.ts';

/** English as in the other languages: the day before the month. */
const LOCALES: Record<LanguageCode, string> = { en: 'en-GB', lt: 'lt', lv: 'lv', uk: 'uk', ru: 'ru' };

const MINUTE_MS = 60_000;
const UUID_7 = /^([0-9a-f]{8})-([0-9a-f]{4})-7/;

/** Formats times of one language, and keeps the newest minute: emails of one time share it. */
class MinuteFormat {
  readonly #format: Intl.DateTimeFormat;
  #minute = Number.NaN;
  #text = '';

  constructor(language: LanguageCode) {
    this.#format = new Intl.DateTimeFormat(LOCALES[language], { dateStyle: 'long', timeStyle: 'short', timeZone: 'UTC' });
  }

  of(time: number): string {
    const minute = Math.floor(time / MINUTE_MS);
    if (minute !== this.#minute) {
      this.#minute = minute;
      this.#text = `${this.#format.format(minute * MINUTE_MS)} UTC`;
    }
    return this.#text;
  }
}

const formats = new Map<LanguageCode, MinuteFormat>();

/**
 * Returns when an email was requested, to the minute, in UTC and in the email's language. The time is that of its id, a UUID of
 * version 7 (RFC 9562 §5.7), so that every retry sends the same email; now for another id, as a preview has.
 */
export function requestTimeOf({ id, language }: Pick<Mail, 'id' | 'language'>): string {
  const format = formats.get(language) ?? new MinuteFormat(language);
  formats.set(language, format);
  return format.of(requestedAtOf(id) ?? Date.now());
}

/** Returns when the email with this id was requested, in Unix milliseconds; null for an id without a time. */
export function requestedAtOf(id: string): number | null {
  const [, high, low] = UUID_7.exec(id) ?? [];
  return high === undefined ? null : Number.parseInt(high + low, 16);
}
