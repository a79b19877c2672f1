import { ApiError } from '../../../contract/client.ts';
import { inSeconds } from '../../lib/failure.ts';
import type { TextKey, Translator } from '../../lib/i18n.ts';

const texts: Partial<Record<ApiError['code'], TextKey>> = {
  unreachable: 'auth.error_offline',
  unavailable: 'auth.error_unavailable',
  rate_limited: 'auth.error_rate_limited',
  internal: 'auth.error_internal',
  bad_email: 'auth.error_email',
  bad_forward_url: 'auth.error_forward_url',
  site_recipients_used_up: 'auth.error_site_recipients',
};

/** A fault in the page's language: its own sentence where it has one, else the text of `fallback`. */
export function failureText({ language, t }: Translator, error: unknown, fallback: TextKey): string {
  if (!(error instanceof ApiError)) return t(fallback);
  return t(isMailboxLimit(error) ? 'auth.error_mailbox' : (texts[error.code] ?? fallback), {
    when: inSeconds(error.retryAfter ?? 60, language),
  });
}

/** Whether the address itself was refused, so that the sentence belongs to its field. */
export const isAddressFault = (error: unknown) => error instanceof ApiError && (error.code === 'bad_email' || error.field === 'email');

/** Whether the mailbox has got too many mails, which a browser that is confirmed for it may pass. */
export const isMailboxLimit = (error: unknown) => error instanceof ApiError && error.code === 'rate_limited' && error.field === 'email';
