import { ApiError, createClient } from '../../contract/client.ts';
import { formatWait } from './dates.ts';

/** The calls of the API, of this origin. */
export const api = createClient();

/** Returns what happened as a sentence and, when the service has a hint, what to do next. @param fallback for errors that the service did not describe */
export function errorText(error: unknown, fallback: string): string {
  if (!(error instanceof ApiError)) return fallback;
  if (error.code === 'unreachable') return 'The service cannot be reached. Check your connection and try again.';
  if (error.code === 'rate_limited') return `Too many requests. You can try again ${formatWait(error.retryAfter ?? 60, 'en')}.`;
  if (!error.explained) return fallback;
  return [sentence(error.message), error.hint].filter(Boolean).join(' ');
}

const sentence = (text: string) => (/[.!?)]$/.test(text) ? text : `${text}.`);
