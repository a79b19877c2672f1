import { createHash } from 'node:crypto';
import type { IncomingMessage } from 'node:http';
import { createRequire } from 'node:module';
import { parse } from 'cookie';
import { accentFault, buttonColors } from '../../contract/colors.ts';
import type { LanguageCode } from '../../contract/languages.ts';
import { BOOT_ELEMENT, type SignInBoot, type SignInPage } from '../../contract/pages.ts';
import { hintCookies, mergeAccounts, readRememberedAccounts } from '../../contract/remembered.ts';
import { texts } from '../languages/languages.ts';

/** Renders a sign-in page (web/signin-server.tsx). */
type RenderSignIn = (boot: SignInBoot) => { html: string; title: string };

/** Loads the renderer from the built web app. */
export function loadRenderer(webRoot: string): RenderSignIn {
  return createRequire(import.meta.url)(`${webRoot}renderer/signin.cjs`).renderSignIn;
}

/** Returns the data by which a page is rendered: what a feature decided, and what follows from the request. */
export function bootOf(page: SignInPage, request: IncomingMessage): SignInBoot {
  const [path, query] = splitUrl((request as { originalUrl?: string }).originalUrl ?? request.url ?? '');
  return { path, search: query, ...page, accounts: page.steps ? accountsOf(request) : [], texts: textsOf(page) };
}

function splitUrl(url: string): [path: string, search: string] {
  const at = url.indexOf('?');
  return at < 0 ? [url, ''] : [url.slice(0, at), url.slice(at)];
}

/** Returns the accounts in the hint cookies, without their keys. */
function accountsOf({ headers }: IncomingMessage): SignInBoot['accounts'] {
  if (!headers.cookie) return [];
  const cookies = parse(headers.cookie);
  const accounts = [hintCookies.remembered, hintCookies.previous].flatMap((name) => readRememberedAccounts(cookies[name]));
  return mergeAccounts(accounts).map(({ email, timestamp }) => ({ email, timestamp }));
}

/** Returns the texts of every language without those of some pages. */
const textsWithout = (pages: RegExp) =>
  Object.fromEntries(
    Object.entries(texts).map(([language, all]) => [language, Object.fromEntries(Object.entries(all).filter(([key]) => !pages.test(key)))]),
  );

/** The page of one's passkeys is not one of the sign-in pages. */
const allTexts = textsWithout(/^auth\.passkeys_/);
/** Those of authorization requests make up a third. */
const siteTexts = textsWithout(/^auth\.(?:oidc|passkeys)_/);

const textsOf = ({ language, authorization, link }: SignInPage) =>
  (authorization || link?.state === 'other_browser' ? allTexts : siteTexts)[language];

/** Returns whether a page contains a secret, an address or what a form posted, so that nothing may keep it. */
export function isPrivate({ accounts, addPasskey, authorization, leaving, link, offer, search, steps }: SignInBoot): boolean {
  const person = steps && (steps.email || steps.signedInAs || steps.attempt);
  return Boolean(
    addPasskey || authorization || leaving || link || offer || person || accounts.length > 0 || /[?&](?:t|code|token)=/.test(search),
  );
}

/** In the built signin.html. */
const OWN_ICON = /<link rel="icon"[^<>]*>/;

/**
 * Returns a function that makes the whole document of a page from the built signin.html.
 * @param preloadsOf the elements for the fonts of a language
 */
export function signInDocument(
  html: string,
  preloadsOf: (language: LanguageCode) => string,
  render: RenderSignIn,
): (boot: SignInBoot) => string {
  const templates = new Map<LanguageCode, string[]>();
  const ownIcon = OWN_ICON.exec(html)?.[0] ?? '';
  const templateOf = (language: LanguageCode) => {
    const known =
      templates.get(language) ??
      html
        .replace(/<html lang="\w+"/, `<html lang="${language}"`)
        .replace('<title>', `${preloadsOf(language)}<title>`)
        .replace(OWN_ICON, '<!--icon-->')
        .split(/<!--(?:icon|title|page|boot)-->/);
    templates.set(language, known);
    return known;
  };
  return (boot) => {
    const [start, afterIcon, afterTitle, afterPage, end] = templateOf(boot.language);
    const page = render(boot);
    // A `<` in a text could end the script element.
    const data = JSON.stringify(boot).replaceAll('<', '\\u003c');
    const title = page.title.replaceAll('&', '&amp;').replaceAll('<', '&lt;');
    const { iconUrl, style } = websiteHeadOf(boot.target);
    const icon = iconUrl ? `<link rel="icon" href="${iconUrl}">` : ownIcon;
    const head = style ? afterTitle.replace('</title>', () => `</title><style>${style.css}</style>`) : afterTitle;
    return `${start}${icon}${afterIcon}${title}${head}${page.html}${afterPage}<script type="application/json" id="${BOOT_ELEMENT}">${data}</script>${end}`;
  };
}

/** What the head of a sign-in page contains for the website that the page is for. */
export type WebsiteHead = {
  /** The path of the website's icon; null: the page has that of the service. */
  iconUrl: string | null;
  /** The style sheet with the website's color, and its hash as a source expression of CSP Level 3 §2.3.1; null: none. */
  style: { css: string; hash: string } | null;
};

const PLAIN: WebsiteHead = { iconUrl: null, style: null };

/** Returns the head of the page for a target. */
export function websiteHeadOf(target: SignInBoot['target']): WebsiteHead {
  if (target.kind !== 'site') return PLAIN;
  const { iconUrl, accent } = target;
  if (!accent || accentFault(accent)) return { iconUrl, style: null };
  const css = cssOf(accent);
  return { iconUrl, style: { css, hash: `'sha256-${createHash('sha256').update(css).digest('base64')}'` } };
}

/** Returns the style sheet that sets the colors of web/ui/theme.css for buttons. Its selector is more specific, since that style sheet comes later. */
function cssOf(accent: string): string {
  const { fill, hover, text, border } = buttonColors(accent);
  const edge = (needed: boolean) => (needed ? 'var(--color-edge)' : 'transparent');
  return `:root:root{--color-action:${fill};--color-action-hover:${hover};--color-on-action:${text};--color-action-edge:light-dark(${edge(border.light)},${edge(border.dark)})}`;
}

/** Returns a Content-Security-Policy that allows the style sheet of a page in addition. */
export const withStyle = (policy: string, style: WebsiteHead['style']): string =>
  style ? policy.replace("style-src 'self'", `style-src 'self' ${style.hash}`) : policy;
