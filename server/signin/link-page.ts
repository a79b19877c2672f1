import type { SignInBoot } from '../../contract/pages.ts';
import { CLI_CLIENT_ID, maskEmail } from '../../contract/rules.ts';
import { uploadPath } from '../uploads/upload-url.ts';
import { displayDomainOf } from '../websites/domains.ts';
import type { AccountsStore } from './accounts-store.ts';
import { withCode } from './redirects.ts';
import type { Secrets } from './secrets.ts';

/** What the page of an opened link shows: nothing here uses the link. */
export type LinkPage = Pick<SignInBoot, 'link' | 'target' | 'language'>;

const INVALID: LinkPage = { language: 'en', link: { state: 'invalid', again: '/auth' }, target: { kind: 'portal' } };

/**
 * Describes a mailed link for a browser that did not ask for it, or for a native client (RFC 8252), whose page goes on to
 * the program's loopback address.
 */
export async function describeLink(
  parts: { secrets: Secrets; accounts: AccountsStore; publicUrl: string },
  secret: string,
): Promise<LinkPage> {
  const known = parts.secrets.readLink(secret);
  const found = known && (await parts.accounts.linkState(known.id));
  if (!found) return INVALID;
  const { language } = found;
  const host = found.forwardUrl && new URL(found.forwardUrl).hostname;
  const target: LinkPage['target'] =
    found.domain && host
      ? { kind: 'site', host, displayHost: displayDomainOf(host), iconUrl: found.icon && uploadPath(found.icon) }
      : { kind: 'portal' };
  if (found.status !== 'open') {
    const query = new URLSearchParams({ ...(found.domain && found.forwardUrl && { forward_url: found.forwardUrl }), language });
    return { language, target, link: { state: found.status, again: `/auth?${query}` } };
  }
  if (found.kind !== 'app') return { language, target, link: { state: 'open', secret, maskedEmail: maskEmail(found.email) } };
  if (found.clientId !== CLI_CLIENT_ID || !found.redirectUri || !found.state) return INVALID;
  return { language, target, link: { state: 'native', redirectUrl: withCode(found.redirectUri, secret, found.state, parts.publicUrl) } };
}
