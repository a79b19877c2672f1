import type { ApiError } from '../../../contract/client.ts';

/** `instanceof` would need the class, which is not in the first load of the page. */
export const isApiError = (error: unknown): error is ApiError => error instanceof Error && error.name === 'ApiError';

/** Whether the email address was refused, in general or for this link, so that the text belongs to its field. */
export const isAddressError = (error: unknown) =>
  isApiError(error) && (error.code === 'bad_email' || error.code === 'bad_link' || error.field === 'email');

/** Whether the mailbox reached its limit of emails. It does not apply to a browser that was confirmed for the mailbox. */
export const isMailboxLimit = (error: unknown) => isApiError(error) && error.code === 'rate_limited' && error.field === 'email';
