import type { SignInBoot } from '../../contract/pages.ts';
import { CLI_CLIENT_ID } from '../../contract/pkce.ts';
import { maskEmail } from '../../contract/rules.ts';
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

/** Describes a mailed link for a browser in which it may not be used without the address, or for a native client (RFC 8252). */
export async function describeLink(parts: Parts, secret: string): Promise<LinkPage> {
  const known = parts.secrets.readLink(secret);
  const found = known && (await parts.accounts.linkState(known.id));
  if (!found) return INVALID;
  if (found.clientId && isApplicationId(found.clientId)) return describeApplicationLink(parts, found);
  const { language } = found;
  const target = targetOf(found);
  if (found.status !== 'open') return { language, target, link: { state: found.status, again: beginAgain(found) } };
  if (found.kind !== 'app') return { language, target, link: { state: 'open', maskedEmail: maskEmail(found.email) } };
  if (found.clientId !== CLI_CLIENT_ID || !found.redirectUri || !found.state) return INVALID;
  return { language, target, link: { state: 'native', redirectUrl: withCode(found.redirectUri, secret, found.state, parts.publicUrl) } };
}

function targetOf({ domain, forwardUrl, icon }: LinkState): LinkPage['target'] {
  if (!domain || !forwardUrl) return { kind: 'portal' };
  const host = new URL(forwardUrl).hostname;
  return { kind: 'site', host, displayHost: displayDomainOf(host), iconUrl: icon && uploadPath(icon) };
}

/** The sign-in page for the same target, or the website itself when nobody can sign in to it through this service any more. */
function beginAgain({ domain, forwardUrl, registered, language }: LinkState): string {
  if (!domain || !forwardUrl) return `/auth?${new URLSearchParams({ language })}`;
  return registered ? `/auth?${new URLSearchParams({ forward_url: forwardUrl, language })}` : new URL(forwardUrl).origin;
}

/** An application's link asks for the address, while its redirect URI may be used; nothing of the code is in the page before. */
async function describeApplicationLink({ applications }: Parts, found: LinkState): Promise<LinkPage> {
  const { clientId, redirectUri, status, language } = found;
  const redirectUris = clientId && (await applications.redirectUrisOf(clientId));
  if (!redirectUris || !redirectUri || status === 'withdrawn') return INVALID;
  if (!isRedirectOf({ id: clientId, redirectUris, kind: 'application' }, redirectUri)) return INVALID;
  const { hostname, origin } = new URL(redirectUri);
  const target = { kind: 'site', host: hostname, displayHost: displayDomainOf(hostname), iconUrl: null } as const;
  if (status !== 'open') return { language, target, link: { state: status, again: origin } };
  return { language, target, link: { state: 'open', maskedEmail: maskEmail(found.email) } };
}
