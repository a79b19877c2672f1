import { ApiError, type Client } from '../../contract/client.ts';
import { Fault } from '../../contract/errors.ts';
import { type Route, type RouteName, routes } from '../../contract/routes.ts';
import type { DescribeError } from './errors.ts';
import { asksWho, type Caller, type Identity, inTime, needsAccount, parse, permitted, type Served } from './serve.ts';

/** Who calls without a request of their own: somebody known by a bearer token, or nobody. */
export type DirectCaller = { identity: Identity | null; authorization: string | undefined; clientAddress: string };

type Settings = {
  served: readonly Served[];
  describeError: DescribeError;
  /** Told of each call with a bearer token, by status, of the same calls as over HTTP. */
  answered(authorization: string, status: number): void;
};

/**
 * The typed client of the contract for what runs inside the service: the same permissions, shapes and time limit as over
 * HTTP, without a request. It has no cookies.
 * @returns a client for one caller, whose calls throw ApiError
 */
export function createDirectClient({ served, describeError, answered }: Settings): (caller: DirectCaller) => Client {
  const servedByName = new Map(served.map((each) => [each.name, each]));
  return ({ identity, authorization, clientAddress }) => {
    const call = async (name: RouteName, input: unknown) => {
      let status = 200;
      try {
        const found = servedByName.get(name);
        const route: Route = routes[name];
        if (!found || route.access === 'admin') throw new Fault('not_found');
        const caller = {
          clientAddress,
          cookies: NO_COOKIES,
          header: (header: string) => (header === 'authorization' ? authorization : undefined),
          account: needsAccount(route.access) ? permitted(route, identity) : null,
        } as Caller;
        const answer = found.answer as (input: unknown, caller: Caller) => unknown;
        const body = await inTime(answer(parse(route.input, input), caller), found.mostSeconds);
        return JSON.parse(JSON.stringify(body));
      } catch (error) {
        const failed = apiErrorOf(error, describeError, name);
        status = failed.status;
        throw failed;
      } finally {
        if (authorization !== undefined && asksWho(routes[name].access)) answered(authorization, status);
      }
    };
    return Object.fromEntries((Object.keys(routes) as RouteName[]).map((name) => [name, (input: unknown) => call(name, input)])) as Client;
  };
}

/** A fault as a caller over HTTP hears of it. */
export function apiErrorOf(error: unknown, describeError: DescribeError, route?: RouteName): ApiError {
  const { fault, body } = describeError(error, route);
  return new ApiError(fault.status, body, { retryAfter: fault.retryAfter, cause: error });
}

/** For whoever is known by a bearer token alone. */
export const NO_COOKIES: Caller['cookies'] = { get: () => undefined, set: () => {}, setHint: () => {} };
