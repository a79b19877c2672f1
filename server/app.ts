import type { IncomingMessage, RequestListener, ServerResponse } from 'node:http';
import express, { type ErrorRequestHandler, type RequestHandler } from 'express';
import { Fault } from '../contract/errors.ts';
import { languageOf } from '../contract/languages.ts';
import type { SignInBoot } from '../contract/pages.ts';
import { type Route, routes } from '../contract/routes.ts';
import type { AnswerError } from './http/errors.ts';
import { requireReadable } from './http/input-items.ts';
import { entryOf, type WebApp } from './http/pages.ts';
import { type Listener, preflightHeaders, type Served } from './http/serve.ts';
import { siteFiles } from './http/site-files.ts';
import { isLoopbackHost } from './signin/redirects.ts';

export type AppParts = {
  publicUrl: string;
  local: boolean;
  /** The development endpoints exist. */
  development: boolean;
  served: Served[];
  listenerOf(served: Served): Listener;
  openLink: Listener;
  pageTarget(forwardUrl: string | string[] | undefined): Promise<SignInBoot['target']>;
  openApi(): Promise<object>;
  web: WebApp;
  /** Health, the documentation, and in local mode the inbox and the demo. */
  routers: express.Router[];
  answerError: AnswerError;
  /** Headers of every answer that is data. */
  headers: Record<string, string>;
};

/**
 * The whole service as one request listener. Calls without path parameters, and the mailed link, are found by their path
 * alone and answered at once; Express carries the rest: calls with parameters, pages, files, health, inbox and demo.
 */
export function createApp(parts: AppParts): RequestListener {
  const lane = new Map<string, Listener>([['GET /auth/link', parts.openLink]]);
  const app = express();
  app.disable('x-powered-by');
  app.set('query parser', 'simple');

  const oauthPaths = new Set<string>();
  const methods = new Map<string, string[]>();
  for (const served of parts.served) {
    const route: Route = routes[served.name];
    if (route.development && !parts.development) continue;
    if (route.oauth) oauthPaths.add(route.path);
    const listener = parts.listenerOf(served);
    const path = route.path.replace(/\{(\w+)\}/g, ':$1');
    methods.set(path, [...(methods.get(path) ?? []), route.method]);
    if (path === route.path) lane.set(`${route.method} ${path}`, listener);
    else app.route(path)[methodNames[route.method]]((request, response) => listener(request, response, request.params));
  }
  app.options(routes.verifyToken.path, (_, response) => void response.writeHead(204, { ...parts.headers, ...preflightHeaders }).end());
  for (const [path, allowed] of methods) app.all(path, refuseMethod(allowed));
  // Express answers OPTIONS by itself.
  app.options(/^/, (_request, response, next) => {
    response.set(parts.headers);
    next();
  });

  for (const router of parts.routers) app.use(router);
  app.use('/assets', parts.web.headers, parts.web.assets);
  app.use(siteFiles(parts.web));
  app.get('/openapi.json', parts.web.headers, async (_, response) => {
    response.set('Cache-Control', 'public, max-age=300').json(await parts.openApi());
  });
  app.get('/auth/link', (request, response) => parts.openLink(request, response));
  if (parts.local) app.get(/^\/(?!api\/)/, toPublicUrl(parts));
  app.get(/^\/(?!api\/)/, pages(parts));
  app.use(() => {
    throw new Fault('not_found');
  });
  app.use(((error, _request, response, _next) => parts.answerError(response, error)) satisfies ErrorRequestHandler);

  return (request: IncomingMessage, response: ServerResponse) => {
    const url = request.url ?? '';
    const at = url.indexOf('?');
    const path = at < 0 ? url : url.slice(0, at);
    try {
      requireReadable(request);
    } catch (error) {
      return parts.answerError(response, error, { oauth: oauthPaths.has(path) });
    }
    const listener = lane.get(`${request.method} ${path}`);
    if (!listener) return app(request, response);
    listener(request, response).catch((error) => parts.answerError(response, error));
  };
}

const methodNames = { GET: 'get', POST: 'post', PUT: 'put', DELETE: 'delete' } as const;

function pages({ web, pageTarget }: AppParts): RequestHandler {
  return async (request, response) => {
    const entry = entryOf(request.path);
    if (entry !== 'signin') {
      web.sendPortal(response, request.path, entry ? 200 : 404);
      return;
    }
    const { forward_url, language } = request.query as Record<string, string | string[] | undefined>;
    web.sendSignIn(response, { language: languageOf(language), target: await pageTarget(forward_url) });
  };
}

/** A page opened as 127.0.0.1 would have other cookies than the links in the mails, which say localhost. */
function toPublicUrl({ publicUrl, headers }: AppParts): RequestHandler {
  const { host } = new URL(publicUrl);
  return (request, response, next) => {
    if (request.host !== host && isLoopbackHost(request.hostname)) response.set(headers).redirect(publicUrl + request.originalUrl);
    else next();
  };
}

function refuseMethod(allowed: string[]): RequestHandler {
  return (_, response) => {
    response.setHeader('Allow', allowed.join(', '));
    throw new Fault('method_not_allowed');
  };
}
