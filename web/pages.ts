import type { CallName, Input } from '../contract/calls.ts';
import type { LanguageCode } from '../contract/languages.ts';
import { STATS_DAYS } from '../contract/limits.ts';
import { DOMAIN_OF_PATH, PORTAL_HOME, SIGN_IN_PATHS, VISITOR_LANGUAGE, websiteHome } from '../contract/pages.ts';

/** The path of each page. `:domain`: any; `?`: may be missing; `*`: the pages of the documentation, which docs/pages.ts lists. */
export const paths = {
  landing: '/',
  ...SIGN_IN_PATHS,
  developer: PORTAL_HOME,
  websites: '/developer-email-auth',
  dashboard: '/dashboard',
  website: '/dashboard/websites/:domain/:tab?',
  overview: '/dashboard/overview',
  activity: '/dashboard/activity',
  applications: '/dashboard/auth',
  analytics: '/dashboard/analytics',
  bugs: '/dashboard/bugs',
  settings: '/dashboard/settings',
  settingsBranding: '/dashboard/settings/branding',
  settingsSecurity: '/dashboard/settings/security',
  profile: '/profile',
  passkeys: '/passkeys',
  status: '/status',
  admin: '/admin',
  loginStats: '/iladmin',
  guide: '/webservices/email-auth',
  register: '/webservices/email-auth/register',
  registered: '/webservices/email-auth/register/success',
  doc: '/webservices/email-auth/*',
  terms: '/tos',
  privacy: '/privacy',
} as const;

export type PageName = keyof typeof paths;

/** The pages of a website, in the order of their links, with the text of the link. The path of the website itself leads to one of them. */
export const WEBSITE_TABS = {
  setup: 'Set up',
  stats: 'Statistics',
  log: 'Log',
  visitors: 'Visitors',
  branding: 'Branding',
  team: 'Team',
  settings: 'Settings',
} as const;
export type WebsiteTab = keyof typeof WEBSITE_TABS;

/** A component by its file in web/ and its export. */
export type Source = `features/${string}.tsx#${string}`;

/** A call with its input. */
type FirstCall = { [Name in CallName]: readonly [Name, Input<Name>] }[CallName];

/** A page of the portal entry. */
export type PortalPage = {
  /** What is around the page: the bar of a public page; that of the portal with its sidebar, for a signed-in developer only; or nothing. */
  frame: 'public' | 'portal' | 'none';
  /** Its component, which gets `notFound`, what to show where there is nothing at the path. */
  component: Source;
  /** Components of other features, by the property of the page's component that gets them. */
  parts?: Record<string, Source>;
  /** A component of another feature above the page, which does not wait for it. */
  above?: Source;
  /** A component around the page, also for whom is not signed in. */
  around?: Source;
  /** The first calls of a signed-in developer that are made in advance, when the pointer is on a link to the page. */
  prefetches?: readonly FirstCall[];
};

/** A page that the service renders, the same for everyone (web/static-server.tsx). */
type StaticPage = { frame: 'static' };

/** A page of any entry, or one that redirects. */
export type Page = PortalPage | StaticPage | { frame: 'signin' } | { frame: 'redirect'; to: PageName };

/** Returns the components of a page. */
export const sourcesOf = ({ component, above, around, parts = {} }: PortalPage): Source[] =>
  [component, above, around, ...Object.values(parts)].filter((source) => source !== undefined);

const INVITATIONS = 'features/websites/invitations.tsx#Invitations';
const DEVICES = 'features/devices/devices.tsx#Devices';

/** Websites on one page of their list. */
export const WEBSITES_PER_PAGE = 25;
/** The newest websites that the home of the developer shows. */
export const HOME_WEBSITES = 6;
/** The newest entries of the audit log that the overview shows. */
export const RECENT_ENTRIES = 4;
const HOME_LIST = ['searchWebsites', { q: '', sort: 'added', order: 'desc', page: 1, limit: HOME_WEBSITES }] as const;
const FIRST_WEBSITES = ['searchWebsites', { q: '', sort: 'added', order: 'desc', page: 1, limit: WEBSITES_PER_PAGE }] as const;

/** What each page is: the router, and the service by the build (web/build-pages.ts), follow from it. */
export const pages = {
  signIn: { frame: 'signin' },
  signInOfSite: { frame: 'signin' },
  callback: { frame: 'signin' },
  legacyCallback: { frame: 'signin' },
  link: { frame: 'signin' },

  websites: {
    frame: 'portal',
    component: 'features/websites/websites-page.tsx#WebsitesPage',
    above: INVITATIONS,
    prefetches: [FIRST_WEBSITES],
  },
  website: {
    frame: 'portal',
    component: 'features/websites/website-page.tsx#WebsitePage',
  },
  dashboard: {
    frame: 'portal',
    component: 'features/overview/overview-page.tsx#OverviewPage',
    prefetches: [['overview', {}], ['accountLogins', { days: STATS_DAYS }], ['auditLogs', { limit: RECENT_ENTRIES }], FIRST_WEBSITES],
  },
  overview: { frame: 'redirect', to: 'dashboard' },
  applications: {
    frame: 'portal',
    component: 'features/applications/applications-page.tsx#ApplicationsPage',
  },
  activity: {
    frame: 'portal',
    component: 'features/activity/activity-page.tsx#ActivityPage',
  },
  settings: {
    frame: 'portal',
    component: 'features/settings/settings-page.tsx#SettingsPage',
  },
  settingsBranding: {
    frame: 'portal',
    component: 'features/settings/branding-page.tsx#BrandingPage',
  },
  settingsSecurity: {
    frame: 'portal',
    component: 'features/settings/security-page.tsx#SecurityPage',
    parts: {
      devices: DEVICES,
      passkeys: 'features/passkeys/passkeys-page.tsx#Passkeys',
      connections: 'features/connections/connections.tsx#Connections',
    },
  },
  profile: {
    frame: 'portal',
    component: 'features/profile/profile-page.tsx#ProfilePage',
    parts: { devices: DEVICES },
  },
  developer: {
    frame: 'portal',
    component: 'features/developer/developer-page.tsx#DeveloperPage',
    parts: { websites: 'features/websites/website-cards.tsx#WebsiteCards' },
    prefetches: [HOME_LIST],
    above: INVITATIONS,
    around: 'features/developer/developer-page.tsx#TokenLogin',
  },
  analytics: {
    frame: 'portal',
    component: 'features/waitlist/waitlist-pages.tsx#AnalyticsPage',
  },
  bugs: {
    frame: 'portal',
    component: 'features/waitlist/waitlist-pages.tsx#BugsPage',
  },
  passkeys: {
    frame: 'none',
    component: 'features/passkeys/passkeys-page.tsx#PasskeysPage',
  },

  landing: {
    frame: 'static',
  },
  guide: {
    frame: 'static',
  },
  register: {
    frame: 'public',
    component: 'features/registration/registration-pages.tsx#RegisterPage',
  },
  registered: { frame: 'public', component: 'features/registration/registration-pages.tsx#RegisteredPage' },
  doc: { frame: 'static' },
  status: {
    frame: 'public',
    component: 'features/status/status-page.tsx#StatusPage',
  },
  terms: {
    frame: 'static',
  },
  privacy: {
    frame: 'static',
  },
  admin: { frame: 'public', component: 'features/admin/admin-page.tsx#AdminPage' },
  loginStats: { frame: 'public', component: 'features/admin/login-stats-page.tsx#LoginStatsPage' },
} as const satisfies Record<PageName, Page>;

/** The head of a page, beside what all have. */
export type Head = {
  /** The texts for search engines and link previews, of a page that may be listed. `markdown`: the path of the page as Markdown. */
  texts?: { title: string; description: string; markdown?: string };
  /** The calls that it makes first. */
  calls?: readonly FirstCall[];
  /** The calls that it makes first for a signed-in developer, beside those that are prefetched. */
  developerCalls?: readonly FirstCall[];
};

/** The heads of the pages, which the service sends. They stand beside the table, because a browser needs none. */
export const heads: { [Name in PageName]?: Head } = {
  landing: {
    texts: {
      title: 'Passwordless email auth for vibe coding',
      description: 'Passwordless email sign-in for any site: magic links, single-use tokens, set up in under 2 minutes.',
      markdown: '/llms.txt',
    },
  },
  guide: {
    texts: {
      title: 'Email Authentication',
      description: 'How a website signs its visitors in by email: prompts for AI assistants, four manual steps, code for each framework.',
      markdown: '/webservices/email-auth.md',
    },
  },
  register: {
    texts: {
      title: 'Register your domain',
      description: 'Register a domain with a linked email. It is active immediately, and the code for your framework is next to the form.',
    },
  },
  status: {
    texts: { title: 'Status', description: 'Whether the sign-in service works, measured by the service itself.' },
    calls: [['status', {}]],
  },
  terms: { texts: { title: 'Terms of Service', description: 'The terms for registering a website with Email Auth.' } },
  privacy: { texts: { title: 'Privacy Policy', description: 'Which personal data Email Auth stores, for what purpose and how long.' } },
  websites: { developerCalls: [['listInvitations', {}]] },
  website: { developerCalls: [['readWebsite', { domain: DOMAIN_OF_PATH }]] },
  applications: {
    developerCalls: [
      ['listClients', {}],
      ['listApiKeys', {}],
    ],
  },
  settings: { developerCalls: [['settings', {}]] },
  settingsBranding: {
    developerCalls: [
      ['settings', {}],
      ['listWebsites', {}],
    ],
  },
  settingsSecurity: {
    developerCalls: [
      ['listDevices', {}],
      ['listPasskeys', {}],
      ['translations', { language: 'en' }],
      ['listConnections', {}],
    ],
  },
  profile: {
    developerCalls: [
      ['settings', {}],
      ['listDevices', {}],
    ],
  },
  developer: { developerCalls: [['listInvitations', {}]] },
  analytics: { developerCalls: [['waitlist', {}]] },
  bugs: { developerCalls: [['waitlist', {}]] },
  passkeys: { calls: [['translations', { language: VISITOR_LANGUAGE as LanguageCode }]], developerCalls: [['listPasskeys', {}]] },
  admin: { calls: [['adminSession', {}]] },
  loginStats: { calls: [['adminSession', {}]] },
};

/** The call that the set-up of a website makes first, beside those of every page of a website. */
export const SETUP_CALL = ['websiteSetup', { domain: DOMAIN_OF_PATH }] as const satisfies FirstCall;

/** Returns the page of the portal entry at a path, with its pattern; undefined where there is none. */
export function pageAt(path: string): { path: string; page: Exclude<Page, { frame: 'signin' | 'static' }> } | undefined {
  for (const name of Object.keys(pages) as PageName[]) {
    const page: Page = pages[name];
    if (!matches(paths[name], path)) continue;
    return page.frame === 'signin' || page.frame === 'static' ? undefined : { path: paths[name], page };
  }
  return undefined;
}

/** Returns whether a path is one of those that a path of the table stands for. It may end with a slash, which is not a part of it. */
function matches(pattern: string, path: string): boolean {
  const wanted = pattern.split('/');
  const given = (path.length > 1 && path.endsWith('/') ? path.slice(0, -1) : path).split('/');
  const hasAll = wanted.every((part, i) => {
    if (part.endsWith('?')) return given[i] !== '';
    return part === '*' || part.startsWith(':') ? Boolean(given[i]) : part === given[i];
  });
  return hasAll && (given.length <= wanted.length || wanted.includes('*'));
}

/** The page of the documentation that comes first. docs/pages.ts has all of them. */
export const QUICK_START = `${paths.guide}/quick-start`;

/** The built-in inbox of local mode. */
export const INBOX = '/dev/inbox';

/** Returns the path of the newest email to an address in the built-in inbox. */
export const newestEmailPath = (email: string) => `${INBOX}/newest?q=${encodeURIComponent(email)}`;

/** The demo shop of local mode. */
export const DEMO = '/demo';

/** Returns the path of a website, or of one of its tabs. */
export const websitePath = (domain: string, tab?: WebsiteTab) => `${websiteHome(domain)}${tab ? `/${tab}` : ''}`;

/** Returns the path of the page after a registration, whose steps are filled in with the domain. */
export const registeredPath = (domain: string) => `${paths.registered}?domain=${encodeURIComponent(domain)}`;
