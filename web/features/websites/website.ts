import type { CallName, Output } from '../../../contract/calls.ts';
import type { SetupStep } from '../../../contract/setup.ts';
import { DOMAIN_REQUIRED, normalDomain } from '../../../contract/urls.ts';

export type Website = Output<'listWebsites'>[number];
/** A website of the list. */
export type ListedWebsite = Output<'searchWebsites'>['websites'][number];
/** What each tab of a website's page gets. */
export type TabProps = { website: Website };
export type Claim = Output<'claimWebsite'>;

/** The steps of the set-up, as pages name them. */
export const STEP_TITLES: Record<SetupStep, string> = {
  link: 'Link on your site',
  callback: 'Callback',
  sign_in: 'First sign-in',
  proof: 'Domain',
  mail: 'Email',
};

/** Returns the sum of the counts of some days. */
export const sumOf = (days: readonly number[]): number => days.reduce((sum, count) => sum + count, 0);

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
