import type { IncomingMessage, ServerResponse } from 'node:http';
import { type Route, routes } from '../../contract/routes.ts';
import { type CookieSettings, type Cookies, cookiesOf } from './cookies.ts';
import { type Challenge, challengeFor, sendError } from './errors.ts';
import { type InvokeSettings, invoke } from './invoke.ts';
import { dataHeaders, requireOwnOrigin } from './protection.ts';
import { clientAddressOf, queryOf, readBody } from './reading.ts';
import { requestIdOf } from './request-record.ts';
import type { Identity, Served } from './serve.ts';

/** A request listener that also receives the parameters of its path. */
export type Listener = (
  request: IncomingMessage,
  response: ServerResponse,
  pathParams?: Record<string, string | string[]>,
) => Promise<void>;

export type ListenerSettings = InvokeSettings & {
  cookieSettings: CookieSettings;
  trustProxy: number;
  /** Origins of our own pages. */
  origins: ReadonlySet<string>;
  /** Returns who is signed in, by the request's `sid` cookie or bearer token. */
  identityOf(request: IncomingMessage, cookies: Cookies): Promise<Identity | null>;
  /** Returns whether the request's `admin` cookie belongs to an open admin session; counts as use of it. */
  isAdmin(cookies: Cookies): Promise<boolean>;
  /** Returns the value of WWW-Authenticate. */
  challengeOf(challenge: Challenge): string;
};

/**
 * Returns a function that makes the HTTP listener of a route. A listener does not use Express, so that the most frequent calls can
 * be handled before it.
 */
export function createListener(settings: ListenerSettings): (served: Served) => Listener {
  const headers = dataHeaders(settings.cookieSettings.secure);
  return (served) => {
    const route: Route = routes[served.name];
    const oauth = route.oauth === true;
    const isQuery = route.method === 'GET' || route.method === 'DELETE';
    const successHeaders = { ...headers, 'Content-Type': 'application/json; charset=utf-8', ...(route.access === 'any-origin' && CORS) };
    return async (request, response, pathParams) => {
      const cookies = cookiesOf(request, response, settings.cookieSettings);
      const requestId = requestIdOf(request);
      const readInput = async () => {
        if (route.method !== 'GET') requireOwnOrigin(request, route.access, settings.origins);
        const fields = isQuery ? queryOf(request) : await readBody(request, oauth);
        return pathParams ? { ...fields, ...pathParams } : fields;
      };
      const call = {
        clientAddress: clientAddressOf(request, settings.trustProxy),
        requestId,
        cookies,
        header: (name: string) => request.headers[name]?.toString(),
        readInput,
        identify: () => settings.identityOf(request, cookies),
        isAdmin: () => settings.isAdmin(cookies),
      };
      const result = await invoke(served, call, settings);
      if (result.error) {
        const challenge = challengeFor(result.error.fault, route.scope && [route.scope]);
        const errorHeaders = challenge ? { ...headers, 'WWW-Authenticate': settings.challengeOf(challenge) } : headers;
        return sendError(response, result.error, errorHeaders, { oauth });
      }
      response.writeHead(200, { ...successHeaders, 'X-Request-Id': requestId, 'Content-Length': Buffer.byteLength(result.json) });
      response.end(result.json);
    };
  };
}

/** Pages of other origins may verify their tokens, without cookies. */
const CORS = { 'Access-Control-Allow-Origin': '*', 'Cross-Origin-Resource-Policy': 'cross-origin' };

/** Headers of the response to a CORS preflight of an `any-origin` route. */
export const preflightHeaders = {
  ...CORS,
  'Access-Control-Allow-Methods': 'GET, POST',
  'Access-Control-Allow-Headers': 'Content-Type, Idempotency-Key',
  'Access-Control-Max-Age': '86400',
};
