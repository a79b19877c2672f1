import { readdirSync, readFileSync } from 'node:fs';
import type { LanguageCode } from '../../contract/languages.ts';
import { type BuiltPage, DOMAIN_OF_PATH, VISITOR_LANGUAGE } from '../../contract/pages.ts';

/** A page that the portal's entry shows. */
export type BuiltPortalPage = Extract<BuiltPage, { entry: 'portal' }>;

/** The pages of the built web app by their path. */
export type BuiltPages = Record<string, BuiltPage>;

/** Returns a file of the built web app. @throws Error when it is not built */
export function readBuilt(file: string): string {
  try {
    return readFileSync(file, 'utf8');
  } catch (cause) {
    throw new Error('The web app is not built. Run: npm run build', { cause });
  }
}

/** Returns the page at a path, with the domain of the path in its addresses; null where there is none. */
export function builtPageAt(pages: BuiltPages, path: string): BuiltPage | null {
  const [, section, list, domain, ...tab] = path.split('/');
  const ofWebsite = domain ? pages[['', section, list, ':domain', ...tab].join('/')] : undefined;
  if (ofWebsite?.entry !== 'portal') return pages[path] ?? null;
  // A domain has no other characters, and would be a part of an element.
  const isDomain = /^[a-z0-9.-]+$/.test(domain);
  return {
    ...ofWebsite,
    developerCalls: isDomain ? ofWebsite.developerCalls.map((address) => address.replace(DOMAIN_OF_PATH, domain)) : [],
  };
}

/**
 * Returns the elements that make a browser load the scripts and the data of a page together with the first script, not only once that has
 * run and knows the developer.
 * @param developer null without one; else whether to load the page's own data
 * @param language of the visitor, for a page that has several
 */
export function preloadsOf(
  { scripts, calls, developerCalls }: BuiltPortalPage,
  developer: { pageData: boolean } | null,
  language: LanguageCode,
): string {
  const data = developer ? ['/api/auth/session', ...(developer.pageData ? developerCalls : [])] : [];
  const addresses = [...calls, ...data].map((address) => address.replace(VISITOR_LANGUAGE, language).replaceAll('&', '&amp;'));
  return [
    ...scripts.map((script) => `<link rel="modulepreload" href="/${script}" />`),
    // `crossorigin`, like a fetch of a script.
    ...addresses.map((address) => `<link rel="preload" as="fetch" href="${address}" crossorigin />`),
  ].join('');
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
