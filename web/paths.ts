import type { pages, WebsiteTab } from '../contract/pages.ts';

/** The paths of all pages that the web app links to. */
export const paths = {
  landing: '/',
  signIn: '/auth',
  signInOfSite: '/domain-auth',
  callback: '/auth/callback',
  legacyCallback: '/legacy-auth',
  link: '/auth/link',
  developer: '/developer',
  websites: '/developer-email-auth',
  dashboard: '/dashboard',
  overview: '/dashboard/overview',
  activity: '/dashboard/activity',
  applications: '/dashboard/auth',
  analytics: '/dashboard/analytics',
  bugs: '/dashboard/bugs',
  settings: '/dashboard/settings',
  profile: '/profile',
  passkeys: '/passkeys',
  status: '/status',
  admin: '/admin',
  loginStats: '/iladmin',
  guide: '/webservices/email-auth',
  register: '/webservices/email-auth/register',
  registered: '/webservices/email-auth/register/success',
  terms: '/tos',
  privacy: '/privacy',
} as const satisfies Record<string, keyof typeof pages>;

/** The built-in inbox of local mode. */
export const INBOX = '/dev/inbox';

/** The demo shop of local mode. */
export const DEMO = '/demo';

/** The pages of the documentation, as a pattern: docs/pages.ts lists them, which only they load. */
export const docPattern = `${paths.guide}/*`;

/** The beginning of the paths of all pages of websites. */
export const websitesFolder = `${paths.dashboard}/websites/`;

/** The pages of a website, as a pattern. */
export const websitePattern = `${websitesFolder}:domain/:tab?`;

/** Returns the path of a website's page, or of one of its tabs. */
export const websitePath = (domain: string, tab?: WebsiteTab) => `${websitesFolder}${encodeURIComponent(domain)}${tab ? `/${tab}` : ''}`;

/** Returns the path of the page after a registration, whose steps are filled in with the domain. */
export const registeredPath = (domain: string) => `${paths.registered}?domain=${encodeURIComponent(domain)}`;

/**
 * Returns the path to go to after a sign-in, which is always of this origin: `//host` and `/\host` would leave it.
 * @param target a path, or an absolute URL of this origin
 */
export function safePath(target: string, fallback: string, origin: string = location.origin): string {
  try {
    const url = new URL(target, origin);
    // /.//host parses as a path of this origin, but a browser would follow it to another host.
    if (url.origin !== origin || /^\/[/\\]/.test(url.pathname)) return fallback;
    return `${url.pathname}${url.search}${url.hash}`;
  } catch {
    return fallback;
  }
}
