import { createHash } from 'node:crypto';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { fileURLToPath } from 'node:url';
import type { LanguageCode } from '../../contract/languages.ts';
import type { BuiltPage, PageTexts, SignInPage } from '../../contract/pages.ts';
import { hintCookies, SESSION_SEEN_COOKIE } from '../../contract/remembered.ts';
import type { Config } from '../platform/config.ts';
import { pageHeaders, type SetHeaders } from '../platform/http/protection.ts';
import { inAscii } from '../platform/http/reading.ts';
import { visitorLanguage } from '../signin/pages.ts';
import { type BuiltPages, type BuiltPortalPage, builtPageAt, fontPreloads, preloadsOf, readBuilt } from './built-web.ts';
import { bootOf, isPrivate, loadRenderer, signInDocument, type WebsiteHead, websiteHeadOf, withStyle } from './renderer.ts';
import { createStaticPages, type RenderedPage, type StaticPage } from './static-pages.ts';

// The same path from server/pages/ and from the bundle in dist/server/.
const webRoot = fileURLToPath(new URL('../../dist/web/', import.meta.url));

/** The policy of a preview: no scripts, and nothing can be sent. */
const PREVIEW_POLICY =
  "default-src 'none'; style-src 'self'; img-src 'self'; font-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'self'; sandbox allow-same-origin";

const PRODUCT = 'Email Auth';

/** The built web app. */
export type WebApp = {
  /** Sets the headers of its pages and files. */
  headers: SetHeaders;
  /** The directory of its files, whose names contain their hash. */
  assetsRoot: string;
  /** The path of its icon. */
  icon: string;
  /** Renders a sign-in page and sends it. The back-forward cache keeps one that shows nothing of a person or an attempt. */
  sendSignIn(response: ServerResponse, page: SignInPage, status?: number): void;
  /** Sends a sign-in page in a theme, without scripts and accounts, for a frame in a page of this origin. */
  sendSignInPreview(response: ServerResponse, page: SignInPage, theme: 'light' | 'dark'): void;
  /** Returns the page at a path, or null where there is none. */
  pageAt(path: string): BuiltPage | null;
  /** Sends a page of the portal. The back-forward cache keeps a public one. */
  sendPortal(response: ServerResponse, page: BuiltPortalPage): void;
  /** Sets the headers of a static page. */
  staticHeaders: SetHeaders;
  /** Returns a static page. */
  renderStatic(page: StaticPage): Promise<RenderedPage>;
};

/** Returns the built web app with its pages in memory. @throws Error when it is not built */
export function loadWebApp({ publicUrl, secure, evp, mode, smtpUrl }: Config): WebApp {
  const pages: BuiltPages = JSON.parse(readBuilt(`${webRoot}pages.json`));
  const fontsOf = fontPreloads(`${webRoot}assets`);
  const inEnglish = (name: string) => {
    const html = addToHead(readBuilt(`${webRoot}${name}.html`), fontsOf('en'));
    // For web/lib/local-mode.ts.
    return mode === 'local' ? html.replace('<html ', `<html data-local="${smtpUrl ? 'smtp' : 'inbox'}" `) : html;
  };
  const html = { signin: readBuilt(`${webRoot}signin.html`), portal: inEnglish('index'), static: inEnglish('static') };
  const headers = pageHeaders(secure, [...new Set(Object.values(html).flatMap(inlineScriptHashes))]);
  const documentOfPortal = portalDocuments(html.portal, publicUrl, pages);
  const renderStatic = createStaticPages(
    webRoot,
    { origin: publicUrl, isLocal: mode === 'local', hasInbox: mode === 'local' && !smtpUrl },
    (page) =>
      page
        ? describe(html.static, publicUrl + page.path, page.texts)
        : addToHead(html.static, NOT_LISTED).replace('<title>', '<title>404 Page Not Found · '),
  );
  const staticStyle = inlineStyleOf(html.static);
  let documentOf: ReturnType<typeof signInDocument> | undefined;
  const send = (
    response: ServerResponse,
    status: number,
    body: string,
    { isStored, mayHaveOpener = false, style = null }: { isStored: boolean; mayHaveOpener?: boolean; style?: WebsiteHead['style'] },
  ) => {
    headers(response.req as IncomingMessage, response, () => {});
    response.setHeader('Content-Security-Policy', withStyle(String(response.getHeader('Content-Security-Policy')), style));
    if (mayHaveOpener) response.setHeader('Cross-Origin-Opener-Policy', 'unsafe-none');
    response.statusCode = status;
    response.setHeader('Content-Type', 'text/html; charset=utf-8');
    response.setHeader('Cache-Control', isStored ? 'private, no-cache' : 'no-store');
    response.setHeader('Content-Length', Buffer.byteLength(body));
    response.end(body);
  };
  return {
    headers,
    assetsRoot: `${webRoot}assets`,
    icon: /rel="icon" href="([^"]+)"/.exec(html.portal)?.[1] ?? '',
    sendSignIn: (response, page, status = 200) => {
      if (page.verification && evp?.originTrialToken) response.setHeader('Origin-Trial', evp.originTrialToken);
      if (page.leaving) response.setHeader('Refresh', `0; url=${inAscii(page.leaving.url)}`);
      documentOf ??= signInDocument(html.signin, fontsOf, loadRenderer(webRoot));
      const boot = bootOf(page, response.req);
      send(response, status, documentOf(boot), {
        isStored: status === 200 && !isPrivate(boot),
        mayHaveOpener: isOfWebsite(page),
        style: websiteHeadOf(page.target).style,
      });
    },
    sendSignInPreview: (response, page, theme) => {
      documentOf ??= signInDocument(html.signin, fontsOf, loadRenderer(webRoot));
      const document = documentOf({ ...bootOf(page, response.req), accounts: [] });
      const policy = withStyle(PREVIEW_POLICY, websiteHeadOf(page.target).style);
      headers(response.req as IncomingMessage, response, () => {});
      response.setHeader('Content-Security-Policy', policy);
      response.setHeader('X-Frame-Options', 'SAMEORIGIN');
      response.setHeader('Content-Type', 'text/html; charset=utf-8');
      response.setHeader('Cache-Control', 'no-store');
      // Sets the attributes that the page's scripts would set. The scripts are removed, because the policy blocks them and browsers would report that.
      response.end(withoutScripts(document).replace('<html ', `<html data-theme="${theme}" data-script="running" `));
    },
    pageAt: (path) => builtPageAt(pages, plainPath(path)),
    sendPortal: (response, page) => {
      // A public page is the same for everyone.
      if (page.texts) return send(response, 200, documentOfPortal(page), { isStored: true });
      const { req } = response;
      send(response, 200, documentOfPortal(page, dataOf(req), visitorLanguage(req)), { isStored: false });
    },
    staticHeaders: (request, response, next) => {
      headers(request, response, () => {});
      response.setHeader('Content-Security-Policy', withStyle(String(response.getHeader('Content-Security-Policy')), staticStyle));
      next();
    },
    renderStatic,
  };
}

/** Returns which data the page of a request needs: none without a developer; the page's own depends on the query. */
const dataOf = ({ url = '', headers: { cookie = '' } }: IncomingMessage) =>
  cookie.includes(`${hintCookies.key}=`) ? { pageData: !url.includes('?') && cookie.includes(`${SESSION_SEEN_COOKIE}=`) } : null;

/** Whether a page belongs to the sign-in of a website, which may open it in a popup and keep the reference to it. */
const isOfWebsite = ({ target, link }: SignInPage) => target.kind === 'site' && !link;

/** Returns a path without its trailing slash. */
export const plainPath = (path: string) => (path.length > 1 ? path.replace(/\/$/, '') : path);

const withoutScripts = (html: string) =>
  html
    .split('</script>')
    .map((part) => part.split('<script')[0])
    .join('');

/** Returns the hash of each inline script as a source expression of CSP Level 3 §2.3.1. */
function inlineScriptHashes(html: string): string[] {
  return [...html.matchAll(/<script>([\s\S]*?)<\/script>/g)].map(
    ([, script]) => `'sha256-${createHash('sha256').update(script).digest('base64')}'`,
  );
}

/** Returns the style sheet of a document as `withStyle` takes it. */
function inlineStyleOf(html: string): WebsiteHead['style'] {
  const [, css = ''] = html.split(/<\/?style>/);
  return { css, hash: `'sha256-${createHash('sha256').update(css).digest('base64')}'` };
}

const NOT_LISTED = '<meta name="robots" content="noindex" />';

/**
 * Returns a function that returns the document of a page: the portal's with the title, description, canonical address and link preview of
 * the page. One that has none asks search engines not to list it.
 */
export function portalDocuments(html: string, publicUrl: string, pages: BuiltPages) {
  const plain = addToHead(html, NOT_LISTED);
  const listed = new Map<BuiltPage, string>();
  for (const [path, page] of Object.entries(pages)) {
    if (page.entry !== 'portal' || !page.texts) continue;
    listed.set(page, addToHead(describe(html, publicUrl + path, page.texts), preloadsOf(page, null, 'en')));
  }
  return (page: BuiltPortalPage, developer: Parameters<typeof preloadsOf>[1] = null, language: LanguageCode = 'en') =>
    listed.get(page) ?? addToHead(plain, preloadsOf(page, developer, language));
}

function describe(html: string, address: string, { title: ownTitle, description, markdown }: PageTexts): string {
  const title = `${ownTitle} · ${PRODUCT}`;
  const page = html
    .replace(/<title>[^<]*<\/title>/, () => `<title>${title}</title>`)
    .replace(/(<meta name="description" content=")[^"]*/, (_, start: string) => start + description);
  return addToHead(
    page,
    `<link rel="canonical" href="${address}" /><meta property="og:title" content="${title}" />` +
      `<meta property="og:description" content="${description}" /><meta property="og:url" content="${address}" />` +
      `<meta property="og:type" content="website" /><meta property="og:site_name" content="${PRODUCT}" />${markdown ? `<link rel="alternate" type="text/markdown" href="${markdown}" />` : ''}`,
  );
}

const addToHead = (html: string, tags: string) => html.replace('<title>', () => `${tags}<title>`);
