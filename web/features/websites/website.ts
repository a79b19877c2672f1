import type { CallName, Output } from '../../../contract/calls.ts';
import { DOMAIN_REQUIRED, normalDomain } from '../../../contract/urls.ts';

export type Website = Output<'listWebsites'>[number];
/** What each tab of a website's page gets. */
export type TabProps = { website: Website };
export type Claim = Output<'claimWebsite'>;

/** Returns why a text cannot be the domain of a website, or null. @param text without white space around it */
export function domainFault(text: string): string | null {
  if (text === '') return DOMAIN_REQUIRED;
  return normalDomain(text) ? null : 'Domain must be in format domain.tld (e.g., example.com)';
}

/**
 * What `useAct` does after a change of a website: it loads everything about websites again. It does not wait, so that a page can leave
 * a website that has ended.
 */
export const WEBSITES = {
  refreshes: [
    'listWebsites',
    'searchWebsites',
    'readWebsite',
    'websiteSetup',
    'websiteBranding',
    'websiteHistory',
    'websiteLog',
    'listMembers',
    'listInvitations',
  ],
  waits: false,
} as const satisfies { refreshes: readonly CallName[]; waits: false };
