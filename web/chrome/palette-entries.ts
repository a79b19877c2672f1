import { paths } from '../paths.ts';

/** An entry of the commands. `id` is unique among all; `kept`: the menu stays open and shows something else. */
export type Entry = { id: string; label: string; detail?: string; keywords?: string[]; note?: string; kept?: boolean; run: () => void };

export type Page = { href: string; label: string; keywords: string[] };

export const homePage: Page = { href: paths.landing, label: 'Home', keywords: ['start', 'landing'] };

export const publicPages: Page[] = [
  { href: paths.guide, label: 'Documentation', keywords: ['guide', 'help', 'integrate'] },
  { href: paths.register, label: 'Register a domain', keywords: ['website', 'site'] },
  { href: paths.status, label: 'Status', keywords: ['incidents', 'uptime'] },
  { href: paths.terms, label: 'Terms', keywords: ['legal', 'tos'] },
  { href: paths.privacy, label: 'Privacy', keywords: ['legal'] },
];

export const portalPages: Page[] = [
  { href: paths.websites, label: 'Websites', keywords: ['my', 'email', 'auth', 'service', 'domains'] },
  { href: paths.dashboard, label: 'Overview', keywords: ['dashboard', 'figures', 'statistics'] },
  { href: paths.applications, label: 'Applications and API keys', keywords: ['authentication', 'oauth', 'clients'] },
  { href: paths.live, label: 'Live Sign-ins', keywords: ['tail', 'log', 'events', 'debug'] },
  { href: paths.activity, label: 'Activity', keywords: ['audit', 'log', 'history'] },
  { href: paths.settings, label: 'Settings', keywords: ['name', 'organization', 'branding'] },
  { href: paths.profile, label: 'Profile', keywords: ['account', 'devices'] },
  { href: paths.developer, label: 'Developer Home', keywords: ['portal'] },
  { href: paths.analytics, label: 'Analytics', keywords: ['waitlist', 'soon'] },
  { href: paths.bugs, label: 'Bug Reports', keywords: ['waitlist', 'soon'] },
];

/**
 * Returns the entries that match a search, best first: every word of it is the start of a word of the label, else of the label or a
 * keyword.
 */
export function matchingEntries(entries: readonly Entry[], search: string): Entry[] {
  const words = search.toLowerCase().split(/\s+/).filter(Boolean);
  const beginIn = (text: string) => words.every((word) => ` ${text.toLowerCase()}`.includes(` ${word}`));
  const byLabel = entries.filter(({ label }) => beginIn(label));
  const byKeyword = entries.filter(({ label, keywords = [] }) => !beginIn(label) && beginIn([label, ...keywords].join(' ')));
  return [...byLabel, ...byKeyword];
}
