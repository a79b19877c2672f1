import type { SignInBoot } from '../../contract/pages.ts';
import { CLI_CLIENT_ID, maskEmail } from '../../contract/rules.ts';
import { type Applications, isApplicationId } from '../applications/applications.ts';
import { uploadPath } from '../uploads/upload-url.ts';
import { displayDomainOf } from '../websites/domains.ts';
import type { AccountsStore, LinkState } from './accounts-store.ts';
import { isRedirectOf, withCode } from './redirects.ts';
import type { Secrets } from './secrets.ts';

/** What the page of an opened link shows: nothing here uses the link. */
export type LinkPage = Pick<SignInBoot, 'link' | 'target' | 'language'>;

type Parts = { secrets: Secrets; accounts: AccountsStore; applications: Pick<Applications, 'redirectUrisOf'>; publicUrl: string };

const INVALID: LinkPage = { language: 'en', link: { state: 'invalid', again: '/auth' }, target: { kind: 'portal' } };

/**
 * Describes a mailed link for a browser that did not ask for it, or for a native client (RFC 8252) or an application, whose
 * page goes on to the redirect URI.
 */
export async function describeLink(parts: Parts, secret: string): Promise<LinkPage> {
  const known = parts.secrets.readLink(secret);
  const found = known && (await parts.accounts.linkState(known.id));
  if (!found) return INVALID;
  const { language } = found;
  if (found.clientId && isApplicationId(found.clientId)) return describeApplicationLink(parts, secret, found);
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

/** Goes on to the application's redirect URI, while that is one: its own browser or program knows the verifier, so nobody else can use the code. */
async function describeApplicationLink(
  { applications, publicUrl }: Parts,
  secret: string,
  { clientId, redirectUri, state, status, language }: LinkState,
): Promise<LinkPage> {
  const redirectUris = clientId && (await applications.redirectUrisOf(clientId));
  if (!redirectUris || !redirectUri || !state) return INVALID;
  if (!isRedirectOf({ id: clientId, redirectUris, kind: 'application' }, redirectUri)) return INVALID;
  const { hostname, origin } = new URL(redirectUri);
  const target = { kind: 'site', host: hostname, displayHost: displayDomainOf(hostname), iconUrl: null } as const;
  if (status !== 'open') return { language, target, link: { state: status, again: origin } };
  return { language, target, link: { state: 'native', redirectUrl: withCode(redirectUri, secret, state, publicUrl) } };
}
