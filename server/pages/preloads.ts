import { readdirSync, readFileSync } from 'node:fs';
import type { LanguageCode } from '../../contract/languages.ts';
import { isWebsitePage, WEBSITE_PAGES } from '../../contract/pages.ts';
import { DOCS_PATH, docPath, slugAt } from '../../docs/pages.ts';

/** A chunk in the manifest of the build. */
type Chunk = { file: string; isEntry?: true; imports?: string[] };

/**
 * What a page loads first, beside the scripts and styles of every page: its components, by the path in web/, the addresses that it fetches
 * for everyone, and those that it fetches for a signed-in developer.
 */
type Needs = { sources: string[]; fetched?: string[]; ownData?: string[] };

/** The first page of the list of websites, as web/lib/queries.ts asks for it. */
const WEBSITES = '/api/websites/search?q=&sort=added&page=1&limit=25';
const SETTINGS = '/api/user/settings';
const DEVICES = '/api/user/devices';
const PASSKEYS = '/api/user/passkeys';
const INVITATIONS = '/api/invitations';
/** In the language of the visitor. */
const TEXTS = '/api/translations/LANGUAGE/auth';

const OVERVIEW: Needs = {
  sources: ['features/overview/overview-page.tsx'],
  ownData: ['/api/overview', '/api/overview/logins?days=30', '/api/audit-logs?limit=4', WEBSITES],
};

const needs: Record<string, Needs> = {
  '/': { sources: ['features/landing/landing-page.tsx'] },
  [DOCS_PATH]: { sources: ['features/guide/guide-page.tsx'] },
  [docPath('register')]: { sources: ['features/registration/registration-pages.tsx'] },
  '/status': { sources: ['features/status/status-page.tsx'], fetched: ['/api/status'] },
  '/tos': { sources: ['features/legal/legal-pages.tsx'] },
  '/privacy': { sources: ['features/legal/legal-pages.tsx'] },
  '/iladmin': { sources: ['features/admin/login-stats-page.tsx'], fetched: ['/api/admin/session'] },
  '/admin': { sources: ['features/admin/admin-page.tsx'], fetched: ['/api/admin/session'] },
  '/developer': {
    sources: ['features/developer/developer-page.tsx', 'features/websites/invitations.tsx'],
    ownData: [INVITATIONS],
  },
  '/developer-email-auth': {
    sources: ['features/websites/websites-page.tsx', 'features/websites/invitations.tsx'],
    ownData: [WEBSITES, INVITATIONS],
  },
  '/dashboard': OVERVIEW,
  // It redirects to the dashboard.
  '/dashboard/overview': OVERVIEW,
  '/dashboard/activity': { sources: ['features/activity/activity-page.tsx'] },
  '/dashboard/auth': { sources: ['features/applications/applications-page.tsx'], ownData: ['/api/clients', '/api/api-keys'] },
  '/dashboard/analytics': { sources: ['features/waitlist/waitlist-pages.tsx'], ownData: ['/api/waitlist'] },
  '/dashboard/bugs': { sources: ['features/waitlist/waitlist-pages.tsx'], ownData: ['/api/waitlist'] },
  '/dashboard/settings': {
    sources: [
      'features/settings/settings-page.tsx',
      'features/devices/devices.tsx',
      'features/passkeys/passkeys-page.tsx',
      'features/connections/connections.tsx',
    ],
    ownData: [SETTINGS, '/api/websites', DEVICES, PASSKEYS, TEXTS.replace('LANGUAGE', 'en'), '/api/user/connections'],
  },
  '/passkeys': { sources: ['features/passkeys/passkeys-page.tsx'], fetched: [TEXTS], ownData: [PASSKEYS] },
  '/profile': { sources: ['features/profile/profile-page.tsx', 'features/devices/devices.tsx'], ownData: [SETTINGS, DEVICES] },
};

/**
 * Returns the elements that load the parts of the page at a path.
 * @param own null without a developer; else whether to load the page's own data
 * @param language of the visitor, for a page that has several
 */
export type PreloadsOf = (path: string, own: { pageData: boolean } | null, language?: LanguageCode) => string;

/**
 * Returns a function that makes a browser load the parts and the data of a page together with the first script, not only once that has
 * run and knows the developer.
 * @throws Error when the web app is not built
 */
export function pagePreloads(webRoot: string): PreloadsOf {
  const chunks: Record<string, Chunk> = readJson(`${webRoot}chunks.json`);
  const docs: Record<string, string> = readJson(`${webRoot}docs.json`);
  const needsOf = (path: string): Needs | null => {
    const slug = slugAt(path);
    if (path in needs) return needs[path];
    if (slug) return { sources: ['features/docs/doc-page.tsx'], fetched: [docs[slug]] };
    return isWebsitePage(path) ? needsOfWebsite(path) : null;
  };
  return (path, own, language = 'en') => {
    const page = needsOf(path);
    if (!page) return '';
    const files = new Set<string>();
    for (const source of page.sources) addFiles(source, chunks, files);
    const data = own ? ['/api/auth/session', ...((own.pageData && page.ownData) || [])] : [];
    return [
      ...[...files].map((file) => `<link rel="modulepreload" href="/${file}" />`),
      // `crossorigin`, like a fetch of a script.
      ...[...(page.fetched ?? []), ...data].map(
        (address) =>
          `<link rel="preload" as="fetch" href="${address.replace('LANGUAGE', language).replaceAll('&', '&amp;')}" crossorigin />`,
      ),
    ].join('');
  };
}

function needsOfWebsite(path: string): Needs {
  const [domain, tab] = path.slice(WEBSITE_PAGES.length).split('/');
  const sources = ['features/websites/website-page.tsx', `features/websites/${tab || 'stats'}-tab.tsx`];
  // A domain has no other characters, and would be a part of the element.
  return { sources, ownData: /^[a-z0-9.-]+$/.test(domain) ? [`/api/websites/mine/${domain}`] : [] };
}

/** Adds the files of a chunk and of its imports, without those of the first script. */
function addFiles(key: string, chunks: Record<string, Chunk>, files: Set<string>): void {
  const chunk = chunks[key];
  if (!chunk) throw new Error(`The web app has no chunk for ${key}. Run: npm run build`);
  if (chunk.isEntry || files.has(chunk.file)) return;
  files.add(chunk.file);
  for (const imported of chunk.imports ?? []) addFiles(imported, chunks, files);
}

function readJson(path: string) {
  try {
    return JSON.parse(readFileSync(path, 'utf8'));
  } catch (cause) {
    throw new Error('The web app is not built. Run: npm run build', { cause });
  }
}

const SUBSETS: Record<LanguageCode, readonly string[]> = {
  en: ['latin'],
  lt: ['latin', 'latin-ext'],
  lv: ['latin', 'latin-ext'],
  uk: ['latin', 'cyrillic'],
  ru: ['latin', 'cyrillic'],
};

/**
 * Returns a function from a language to the elements that make a browser load its fonts together with the page, not only once it
 * has the styles.
 */
export function fontPreloads(assetsRoot: string): (language: LanguageCode) => string {
  const files = readdirSync(assetsRoot).filter((name) => name.endsWith('.woff2'));
  const linkOf = (subset: string) => {
    const file = files.find((name) => name.startsWith(`geist-${subset}-wght-normal-`));
    if (!file) throw new Error(`The web app has no font for ${subset}. Run: npm run build`);
    // Fonts are fetched as `crossorigin`, even of the same origin; otherwise the browser would load them twice.
    return `<link rel="preload" as="font" type="font/woff2" href="/assets/${file}" crossorigin />`;
  };
  const links = new Map(Object.entries(SUBSETS).map(([language, subsets]) => [language, subsets.map(linkOf).join('')]));
  return (language) => links.get(language) ?? '';
}
