import type { ApiError } from '../../../contract/client.ts';
import type { FormFailure } from '../../../contract/pages.ts';

/** Why a call or a form post failed. */
export type Failure = { code: ApiError['code'] | FormFailure['code']; field?: string; retryAfter?: number };

/** `instanceof` would need the class, which is not in the first load of the page. */
export const isApiError = (error: unknown): error is ApiError => error instanceof Error && error.name === 'ApiError';

/** Whether the email address was refused, in general or for this link, so that the text belongs to its field. */
export const isAddressError = ({ code, field }: Failure) => code === 'bad_email' || code === 'bad_link' || field === 'email';

/** Whether the mailbox reached its limit of emails. It does not apply to a browser that was confirmed for the mailbox. */
export const isMailboxLimit = ({ code, field }: Failure) => code === 'rate_limited' && field === 'email';
