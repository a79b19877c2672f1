import { readdirSync } from 'node:fs';
import type { LanguageCode } from '../../contract/languages.ts';

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
