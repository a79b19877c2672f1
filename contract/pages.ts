import type { LanguageCode } from './languages.ts';

/**
 * Every page of the web app and the Vite entry that shows it, except the pages of the documentation (docs/pages.ts), which
 * the portal shows. The server responds to these paths with 200 and to any other page with the 404 page.
 */
export const pages = {
  '/auth': 'signin',
  '/domain-auth': 'signin',
  '/auth/callback': 'signin',
  '/legacy-auth': 'signin',
  '/auth/link': 'signin',
  '/': 'portal',
  '/developer': 'portal',
  '/developer-email-auth': 'portal',
  '/developer-email-auth/live': 'portal',
  '/dashboard': 'portal',
  '/dashboard/overview': 'portal',
  '/dashboard/auth': 'portal',
  '/dashboard/analytics': 'portal',
  '/dashboard/bugs': 'portal',
  '/dashboard/settings': 'portal',
  '/profile': 'portal',
  '/status': 'portal',
  '/admin': 'portal',
  '/iladmin': 'portal',
  '/webservices/email-auth': 'portal',
  '/webservices/email-auth/register': 'portal',
  '/webservices/email-auth/register/success': 'portal',
  '/tos': 'portal',
  '/privacy': 'portal',
} as const;

export type PageEntry = (typeof pages)[keyof typeof pages];

/** Id of the JSON data block in signin.html that contains a SignInBoot. */
export const BOOT_ELEMENT = 'boot';

/** Data that the server writes into the sign-in page, so that the page needs no further request before its first paint. */
export type SignInBoot = {
  language: LanguageCode;
  /** Text by key (`auth.welcome`, …) in `language`. */
  texts: Record<string, string>;
  /** What the visitor signs in to, by the forward_url or link of the page. */
  target:
    | { kind: 'portal' }
    /** `host` as A-label, `displayHost` decoded; where they differ the page shows both. */
    | { kind: 'site'; host: string; displayHost: string; iconUrl: string | null }
    | { kind: 'unsupported'; host: string; displayHost: string; reason: 'not_registered' | 'bad_forward_url' };
  /** On /auth/link: the emailed link that was opened. */
  link?: /** The page prompts for the address and sends it with the link's secret, which is in its own URL. */
    | { state: 'open'; maskedEmail: string }
    /** The link of a native client: the page redirects to `redirectUrl`. */
    | { state: 'native'; redirectUrl: string }
    /** `again`: where to start over. `withdrawn`: the website was registered again after the email was sent. */
    | { state: 'used' | 'expired' | 'withdrawn' | 'invalid'; again: string };
};
