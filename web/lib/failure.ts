import { ApiError } from '../../contract/client.ts';

/** A fault in words: what happened and, where the service knows, what to do about it. */
export function wordsOf(error: unknown, fallback: string): string {
  if (!(error instanceof ApiError)) return fallback;
  if (error.code === 'unreachable') return 'The service cannot be reached. Check your connection and try again.';
  if (error.code === 'rate_limited') return `Too many requests. You can try again ${inSeconds(error.retryAfter ?? 60, 'en')}.`;
  if (!error.explained) return fallback;
  return [sentence(error.message), error.hint].filter(Boolean).join(' ');
}

/** A span from now in the words of a language: `in 2 minutes`. */
export function inSeconds(seconds: number, language: string): string {
  const format = new Intl.RelativeTimeFormat(language);
  return seconds < 90 ? format.format(Math.max(1, Math.ceil(seconds)), 'second') : format.format(Math.ceil(seconds / 60), 'minute');
}

const sentence = (text: string) => (/[.!?)]$/.test(text) ? text : `${text}.`);
