import { type Request, type Response, Router } from 'express';
import staticFiles from 'express-static-gzip';
import { Fault } from '../../contract/errors.ts';
import { PORTAL_HOME } from '../../contract/pages.ts';
import { RESOURCE_SCOPES } from '../../contract/scopes.ts';
import { isLoopbackRedirectHost } from '../../contract/urls.ts';
import { docPath } from '../../docs/pages.ts';
import { ANY_ORIGIN, preflightHeaders } from '../platform/http/cors.ts';
import { metadataPath, type Resource, resourceUri } from '../platform/http/resources.ts';
import type { Platform } from '../platform/platform.ts';
import { isSignInPath } from '../signin/pages.ts';
import type { StaticPage } from './static-pages.ts';
import { plainPath, type WebApp } from './web-app.ts';

type Parts = {
  web: WebApp;
  publicUrl: string;
  isLocal: boolean;
  /** Headers of every response that is data. */
  headers: Record<string, string>;
  /** Sends the page of the sign-in entry at the request's path. */
  sendSignIn(request: Request, response: Response): Promise<void>;
  /** Whether a developer is signed in in the browser of a request; false while that is not known. */
  isSignedIn(request: Request, response: Response): Promise<boolean>;
  /** Whether forms are posted to a path. */
  hasForm(path: string): boolean;
  openApi(): Promise<object>;
};

/** The files and pages of the web app, /robots.txt, /manifest.webmanifest and /openapi.json. Handles every GET outside /api. */
export function pagesRouter(parts: Parts): Router {
  const { web, openApi } = parts;
  const router = Router();
  // Only static pages are compressed: the length of a page with a secret could reveal it (BREACH).
  const assets = staticFiles(web.assetsRoot, {
    enableBrotli: true,
    orderPreference: ['br', 'gz'],
    index: false,
    serveStatic: { immutable: true, maxAge: '365d', redirect: false },
  });
  router.use('/assets', web.headers, assets);
  router.get('/robots.txt', web.headers, (_, response) => void response.type('text/plain').send(ROBOTS));
  const manifest = manifestOf(web);
  router.get('/manifest.webmanifest', web.headers, (_, response) => void response.type('application/manifest+json').json(manifest));
  router.get('/openapi.json', web.headers, async (_, response) => {
    response.set('Cache-Control', 'public, max-age=300').json(await openApi());
  });
  const sendStatic = async (request: Request, response: Response, page: StaticPage) => {
    const { tag, ...contents } = await web.renderStatic(page);
    web.staticHeaders(request, response, () => {});
    const accepted = request.acceptsEncodings();
    const encoding = (['br', 'gzip'] as const).find((name) => accepted.includes(name)) ?? 'identity';
    if (encoding !== 'identity') response.set('Content-Encoding', encoding);
    response
      .vary('Accept-Encoding')
      .type('html')
      .set('Cache-Control', page ? 'public, no-cache' : 'no-store');
    if (page) response.set('ETag', `"${tag}-${encoding}"`);
    if (page && request.fresh) return void response.status(304).end();
    response
      .status(page ? 200 : 404)
      .set('Content-Length', String(contents[encoding].length))
      .end(contents[encoding]);
  };
  router.get(/^\/(?!api\/)/, async (request, response) => {
    const location = parts.isLocal ? publicLocation(request, parts.publicUrl) : null;
    if (location) return response.set(parts.headers).redirect(location);
    const page = web.pageAt(request.path);
    if (!page && isSignInPath(request.path)) throw new Fault('not_found');
    if (!page) return sendStatic(request, response, null);
    if (page.entry === 'static') {
      const path = plainPath(request.path);
      if (path === '/' && (await parts.isSignedIn(request, response))) return response.set(parts.headers).redirect(PORTAL_HOME);
      return sendStatic(request, response, { path, texts: page.texts });
    }
    if (page.entry === 'portal') return web.sendPortal(response, page);
    await parts.sendSignIn(request, response);
  });
  router.all(/^\/(?!api\/)/, ({ method, path }, response, next) => {
    const allowed = parts.hasForm(path) ? 'GET, HEAD, POST' : web.pageAt(path)?.entry === 'signin' ? 'GET, HEAD' : null;
    if (!allowed || method === 'OPTIONS') return next();
    response.set('Allow', allowed);
    throw new Fault('method_not_allowed');
  });
  return router;
}

/**
 * Returns where to redirect a page that was opened under another loopback name than the public one, or null. Links in emails use the
 * public name, and cookies of 127.0.0.1 are not sent to localhost.
 */
function publicLocation(request: Request, publicUrl: string): string | null {
  const isOther = request.host !== new URL(publicUrl).host && isLoopbackRedirectHost(request.hostname);
  return isOther ? publicUrl + request.originalUrl : null;
}

/** RFC 9309. */
const ROBOTS = `User-agent: *
Disallow: /auth/link
Disallow: /auth/callback
Disallow: /legacy-auth
Disallow: /oauth
Disallow: /objects
Disallow: /api
`;

const manifestOf = ({ icon }: WebApp) => ({
  name: 'Email Auth',
  short_name: 'Email Auth',
  start_url: PORTAL_HOME,
  display: 'standalone',
  background_color: '#fcfcfb',
  theme_color: '#fcfcfb',
  icons: [{ src: icon, sizes: 'any', type: 'image/svg+xml' }],
});

/** Returns a function that makes the OpenAPI document at its first call. */
export function openApiOf(publicUrl: string): () => Promise<object> {
  let document: Promise<object> | undefined;
  return () => {
    document ??= import('../../contract/openapi.ts').then(({ openApiDocument }) => openApiDocument(publicUrl));
    return document;
  };
}

const RESOURCE_NAMES: Record<Resource, string> = { mcp: 'MCP server of Email Auth', api: 'API of Email Auth' };

/**
 * Metadata of the resources (RFC 9728), by which a client finds the authorization server, and the other origins that may use the
 * passkeys of this host (Related Origin Requests, WebAuthn Level 3 §5.11). Pages of other origins may read them. Nothing else is below
 * /.well-known/, except what routers before this one serve.
 */
export function wellKnownRouter({ config, publicUrl, headers }: Platform): Router {
  const router = Router();
  const { origins } = config.passkeys;
  if (origins.length > 0) {
    const body = JSON.stringify({ origins: [publicUrl, ...origins] });
    router.get('/.well-known/webauthn', (_, response) => {
      response.set({ ...headers, ...READABLE, 'Content-Type': 'application/json' }).send(body);
    });
  }
  for (const resource of Object.keys(RESOURCE_NAMES) as Resource[]) {
    const body = JSON.stringify({
      resource: resourceUri(publicUrl, resource),
      authorization_servers: [publicUrl],
      scopes_supported: RESOURCE_SCOPES,
      bearer_methods_supported: ['header'],
      resource_name: RESOURCE_NAMES[resource],
      resource_documentation: publicUrl + docPath(resource === 'mcp' ? 'assistants' : 'api'),
    });
    router.get(metadataPath(resource), (_, response) => {
      response.set({ ...headers, ...READABLE, 'Content-Type': 'application/json; charset=utf-8' }).send(body);
    });
  }
  router.use('/.well-known', (request, response) => {
    response.set(ANY_ORIGIN);
    if (request.method !== 'OPTIONS') throw new Fault('not_found');
    response
      .set({ ...headers, ...ANY_ORIGIN, ...preflightHeaders(request, 'GET') })
      .status(204)
      .end();
  });
  return router;
}

const READABLE = { ...ANY_ORIGIN, 'Cache-Control': 'public, max-age=300' };
