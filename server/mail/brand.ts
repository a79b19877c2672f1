import { fromNameFault, logoUrlFault } from '../../contract/rules.ts';
import type { Mail } from './mail.ts';

/** The branding of a website whose domain is proven; an empty text: as the service's own. */
export type Brand = { fromName: string; logoUrl: string };

const none: Brand = { fromName: '', logoUrl: '' };

/**
 * The brand of a mail. It is looked at once more where the mail is written: what is not in its form is left out, and the
 * mail goes out all the same.
 */
export function brandOf({ kind, data: { fromName, logoUrl } }: Pick<Mail, 'kind' | 'data'>): Brand {
  if (kind !== 'sign_in' || (fromName === undefined && logoUrl === undefined)) return none;
  return {
    fromName: fromName === undefined || fromNameFault(fromName) ? '' : fromName,
    logoUrl: logoUrl === undefined || logoUrlFault(logoUrl) ? '' : logoUrl,
  };
}
