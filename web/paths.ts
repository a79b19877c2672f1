import type { pages } from '../contract/pages.ts';

/** Every page that this app links to. */
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
  applications: '/dashboard/auth',
  analytics: '/dashboard/analytics',
  bugs: '/dashboard/bugs',
  settings: '/dashboard/settings',
  profile: '/profile',
  status: '/status',
  admin: '/admin',
  loginStats: '/iladmin',
  guide: '/webservices/email-auth',
  register: '/webservices/email-auth/register',
  registered: '/webservices/email-auth/register/success',
  terms: '/tos',
  privacy: '/privacy',
} as const satisfies Record<string, keyof typeof pages>;

/** The pages of the documentation, as a pattern: docs/pages.ts lists them, which only they load. */
export const docPattern = `${paths.guide}/*`;

/** The page after a registration, which fills its steps with the domain. */
export const registeredPath = (domain: string) => `${paths.registered}?domain=${encodeURIComponent(domain)}`;
