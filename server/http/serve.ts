import type { IncomingMessage, ServerResponse } from 'node:http';
import type { z } from 'zod';
import type { Access } from '../../contract/endpoints.ts';
import { type ErrorCode, Fault } from '../../contract/errors.ts';
import { type Output, type Parsed, type Route, type RouteName, type Routes, routes } from '../../contract/routes.ts';
import { clientAddressOf } from './client-address.ts';
import { type Cookies, cookiesOf } from './cookies.ts';
import type { AnswerError } from './errors.ts';
import { dataHeaders, requireOwnOrigin } from './protection.ts';
import { queryOf, readBody } from './reading.ts';

export type Account = { id: string; email: string; name: string | null };

/** Somebody signed in, and by what: `test_key` reads and changes nothing, `application` only learns who it is. */
export type Identity = Account & { by: 'session' | 'live_key' | 'test_key' | 'application' };

/** Access that needs somebody signed in. */
type SignedInAccess = 'identity' | 'account' | 'person';

/** Who makes a call, and what it came with beside its input. */
export type Caller<Name extends RouteName = RouteName> = {
  /** For the limits; see clientAddressOf. */
  clientAddress: string;
  cookies: Cookies;
  header(name: string): string | undefined;
  /** Who is signed in, where the route's access asks for it. */
  account: Routes[Name]['access'] extends SignedInAccess ? Account : null;
};

/** A route of the contract with the function that answers it. */
export type Served = { name: RouteName; answer: (input: never, caller: never) => unknown; mostSeconds: number };

// PostgreSQL's own waits end at 2.5 s; whatever queues up before them ends here, so that a 503 comes within 3 s.
const MAX_SECONDS = 2.9;

/**
 * Binds a route of the contract to the function that answers it.
 * @param options.mostSeconds when to give up with 503; longer only for a call that waits for more than our database
 */
export function serve<Name extends RouteName>(
  name: Name,
  answer: (input: Parsed<Name>, caller: Caller<Name>) => Output<Name> | Promise<Output<Name>>,
  options: { mostSeconds?: number } = {},
): Served {
  return { name, answer, mostSeconds: options.mostSeconds ?? MAX_SECONDS };
}

/** A request listener that also takes the parameters of its path. */
export type Listener = (
  request: IncomingMessage,
  response: ServerResponse,
  pathParams?: Record<string, string | string[]>,
) => Promise<void>;

export type ServeSettings = {
  secure: boolean;
  trustProxy: number;
  /** Origins of our own pages. */
  origins: ReadonlySet<string>;
  answerError: AnswerError;
  /** @returns who is signed in, by the request's `sid` cookie or bearer token */
  identityOf(request: IncomingMessage, cookies: Cookies): Promise<Identity | null>;
  /** Whether the request's `admin` cookie holds an open admin session; counts as use of it. */
  isAdmin(cookies: Cookies): Promise<boolean>;
  /** Told how a request with an Authorization header was answered, where the route may ask who calls. */
  answered(authorization: string, status: number): void;
};

/**
 * Turns routes into listeners: guard, parse, call, answer. A listener needs nothing of Express, so that the hottest calls
 * can be answered in front of it.
 */
export function createListener(settings: ServeSettings): (served: Served) => Listener {
  const headers = dataHeaders(settings.secure);
  return ({ name, answer, mostSeconds }) => {
    const route: Route = routes[name];
    const call = answer as (input: unknown, caller: Caller) => unknown;
    const answerHeaders = { ...headers, 'Content-Type': 'application/json; charset=utf-8', ...(route.access === 'any-origin' && CORS) };
    return async (request, response, pathParams) => {
      try {
        if (route.method !== 'GET') requireOwnOrigin(request, route.access, settings.origins);
        const given =
          route.method === 'GET' || route.method === 'DELETE' ? queryOf(request) : await readBody(request, route.oauth === true);
        const input = parse(route.input, pathParams ? { ...given, ...pathParams } : given);
        const cookies = cookiesOf(request, response, settings.secure);
        if (route.access === 'admin' && !(await settings.isAdmin(cookies))) throw new Fault('admin_needed');
        const account = needsAccount(route.access) ? permitted(route, await settings.identityOf(request, cookies)) : null;
        const caller = {
          clientAddress: clientAddressOf(request, settings.trustProxy),
          cookies,
          header: (header: string) => request.headers[header]?.toString(),
          account,
        } as Caller;
        const body = JSON.stringify(await inTime(call(input, caller), mostSeconds));
        response.writeHead(200, { ...answerHeaders, 'Content-Length': Buffer.byteLength(body) });
        response.end(body);
      } catch (error) {
        settings.answerError(response, error, { oauth: route.oauth === true, route: name });
      } finally {
        const { authorization } = request.headers;
        if (authorization !== undefined && asksWho(route.access)) settings.answered(authorization, response.statusCode);
      }
    };
  };
}

/** Whether a call's answer may depend on who calls, so that it counts as a call with their key. */
export const asksWho = (access: Access): boolean => needsAccount(access) || access === 'any-origin';

export const needsAccount = (access: Access): access is SignedInAccess =>
  access === 'identity' || access === 'account' || access === 'person';

/** @throws Fault sign_in_needed, person_needed, test_key */
export function permitted(route: Route, identity: Identity | null): Account {
  if (!identity || (identity.by === 'application' && route.access !== 'identity')) throw new Fault('sign_in_needed');
  if (identity.by === 'test_key' && route.method !== 'GET') throw new Fault('test_key');
  if (identity.by !== 'session' && route.access === 'person') throw new Fault('person_needed');
  return identity;
}

/** Pages elsewhere may ask about a token of theirs, without cookies. */
const CORS = { 'Access-Control-Allow-Origin': '*', 'Cross-Origin-Resource-Policy': 'cross-origin' };

/** The answer to a CORS preflight of an `any-origin` route. */
export const preflightHeaders = {
  ...CORS,
  'Access-Control-Allow-Methods': 'GET, POST',
  'Access-Control-Allow-Headers': 'Content-Type, Idempotency-Key',
  'Access-Control-Max-Age': '86400',
};

const FIELD_CODES: Record<string, ErrorCode> = { email: 'bad_email', domain: 'bad_domain' };

/** @throws Fault bad_request, or the code of its field */
export function parse(schema: z.ZodType, input: unknown): unknown {
  const result = schema.safeParse(input);
  if (result.success) return result.data;
  const [issue] = result.error.issues;
  const field = issue.path.join('.');
  const code = FIELD_CODES[field] ?? 'bad_request';
  const message = code === 'bad_request' && field ? `${field}: ${issue.message}` : issue.message;
  throw new Fault(code, { field: field || undefined, message });
}

/** @throws Fault unavailable when the work takes longer */
export function inTime<Result>(work: Result | Promise<Result>, mostSeconds: number): Promise<Result> | Result {
  if (!(work instanceof Promise)) return work;
  return new Promise((resolve, reject) => {
    const timer = setTimeout(() => reject(new Fault('unavailable', { retryAfter: 2 })), mostSeconds * 1000);
    work.then(resolve, reject).finally(() => clearTimeout(timer));
  });
}
