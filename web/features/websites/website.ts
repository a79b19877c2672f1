import type { CallName, Output } from '../../../contract/calls.ts';

export type Website = Output<'listWebsites'>[number];
/** What each tab of a website's page gets. */
export type TabProps = { website: Website };
export type Claim = Output<'claimWebsite'>;

/**
 * What `useAct` does after a change of a website: it loads everything about websites again. It does not wait, so that a page can leave
 * a website that has ended.
 */
export const WEBSITES = {
  refreshes: [
    'listWebsites',
    'searchWebsites',
    'readWebsite',
    'websiteBranding',
    'websiteHistory',
    'websiteLog',
    'listMembers',
    'listInvitations',
  ],
  waits: false,
} as const satisfies { refreshes: readonly CallName[]; waits: false };
