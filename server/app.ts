import type { IncomingMessage, RequestListener, ServerResponse } from 'node:http';
import express, { type ErrorRequestHandler, type RequestHandler, type Router } from 'express';
import { type CallSpec, calls } from '../contract/calls.ts';
import { Fault } from '../contract/errors.ts';
import type { OpenIdListener } from './oidc/oidc.ts';
import { ANY_ORIGIN, preflightHeaders } from './platform/http/cors.ts';
import type { Endpoint, Listener } from './platform/http/endpoint.ts';
import { type DescribedError, type DescribeError, sendError } from './platform/http/errors.ts';
import { pathOf, requireReadable, toOriginForm } from './platform/http/reading.ts';
import { beginRequest, type RequestRecord, requestIdOf, timesOf } from './platform/http/request-record.ts';
import type { SignInDoors } from './signin/doors.ts';

type Parts = {
  endpoints: readonly Endpoint[];
  listenerOf(endpoint: Endpoint): Listener;
  /** The links and forms of the sign-in pages. */
  doors: SignInDoors;
  /** Handles the requests of OpenID Connect. */
  openId: OpenIdListener;
  /** Everything that is not a call of the API, in order. */
  routers: readonly Router[];
  describeError: DescribeError;
  /** Sends the page of an error and returns true where the request is one of a browser for a sign-in page. */
  sendErrorPage(request: IncomingMessage, response: ServerResponse, error: DescribedError): boolean;
  /** Headers of every response that is data. */
  headers: Record<string, string>;
};

type DirectRoute = { listener: Listener; times: RequestRecord['times']; isCall: boolean };

/**
 * Returns the request listener of the service. Calls without path parameters, and emailed links, are looked up by their path and
 * handled directly; Express handles the rest: calls with path parameters, pages, files, health checks, inbox and demo.
 */
export function createApp(parts: Parts): RequestListener {
  const { app, direct, oauthPaths } = routeCalls(parts);
  for (const router of parts.routers) app.use(router);
  app.use(() => {
    throw new Fault('not_found');
  });
  const fail = (request: IncomingMessage, response: ServerResponse, error: unknown, oauth = false) => {
    const described = parts.describeError(error, undefined, requestIdOf(request));
    if (!response.headersSent && parts.sendErrorPage(request, response, described)) return;
    sendError(response, described, parts.headers, { oauth });
  };
  app.use(((error, request, response, _next) => {
    // The Content-Range of a file whose requested range does not exist (RFC 9110 §15.5.17).
    if (error?.headers) response.set(error.headers);
    fail(request, response, error);
  }) satisfies ErrorRequestHandler);

  const handle = (request: IncomingMessage, response: ServerResponse, record: RequestRecord) => {
    toOriginForm(request);
    const path = pathOf(request);
    try {
      requireReadable(request);
    } catch (error) {
      return fail(request, response, error, oauthPaths.has(path));
    }
    const route = direct.get(`${request.method} ${path}`);
    if (route) record.times = route.times;
    // The listener of a call writes it itself: with a header that was set before, Node.js writes the others more slowly.
    if (!route?.isCall) response.setHeader('X-Request-Id', record.id);
    const listener = route?.listener ?? parts.doors.formAt(request.method, path);
    const endpoint = listener ? null : parts.openId.endpointAt(path);
    if (endpoint) {
      // What follows the first two parts may be an identifier.
      record.times = timesOf(request.method, path.split('/', 3).join('/'));
      return void parts.openId.handle(request, response, endpoint).catch((error) => fail(request, response, error, true));
    }
    if (!listener) return app(request, response);
    if (!route) record.times = timesOf(request.method, 'sign-in form');
    listener(request, response).catch((error) => fail(request, response, error));
  };
  return (request, response) => handle(request, response, beginRequest(request));
}

const expressMethods = { GET: 'get', POST: 'post', PUT: 'put', DELETE: 'delete' } as const;

/** Returns an Express app with the calls of the API, the listeners that need no Express, and the paths of OAuth calls. */
function routeCalls({ endpoints, listenerOf, doors: { openLink }, headers }: Parts) {
  const app = express();
  app.disable('x-powered-by');
  app.set('query parser', 'simple');
  const direct = new Map<string, DirectRoute>([
    ['GET /auth/link', { listener: openLink, times: timesOf('GET', '/auth/link'), isCall: false }],
  ]);
  const oauthPaths = new Set<string>();
  const methods = new Map<string, string[]>();
  for (const endpoint of endpoints) {
    const { method, path: template, oauth }: CallSpec = calls[endpoint.name];
    if (oauth) oauthPaths.add(template);
    const listener = listenerOf(endpoint);
    const path = template.replace(/\{(\w+)\}/g, ':$1');
    // Monitors send HEAD instead of GET. A token is used up by GET and POST only.
    const accepted = method === 'GET' && endpoint.name !== 'verifyToken' ? ['GET', 'HEAD'] : [method];
    methods.set(path, [...(methods.get(path) ?? []), ...accepted]);
    const times = timesOf(method, path);
    if (path === template) for (const each of accepted) direct.set(`${each} ${path}`, { listener, times, isCall: true });
    else app.route(path)[expressMethods[method]]((request, response) => listener(request, response, request.params));
  }
  app.options(calls.verifyToken.path, (request, response) => {
    const allowed = preflightHeaders(request, 'GET, POST', 'Content-Type, Idempotency-Key');
    response.writeHead(204, { ...headers, ...ANY_ORIGIN, ...allowed }).end();
  });
  // Not app.all, which adds a handler for each of 35 methods.
  for (const [path, allowed] of methods) app.route(path).all(refuseMethod(allowed));
  // Express handles OPTIONS itself.
  app.options(/^/, (_request, response, next) => {
    response.set(headers);
    next();
  });
  // HEAD, and paths that Express normalizes.
  app.get('/auth/link', (request, response) => openLink(request, response));
  return { app, direct, oauthPaths };
}

function refuseMethod(allowed: string[]): RequestHandler {
  return (_, response) => {
    response.setHeader('Allow', allowed.join(', '));
    throw new Fault('method_not_allowed');
  };
}
