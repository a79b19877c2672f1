import { ApiError, type Client } from '../../contract/client.ts';
import { Fault } from '../../contract/errors.ts';
import { type RouteName, routes } from '../../contract/routes.ts';
import type { Cookies } from './cookies.ts';
import type { DescribedError } from './errors.ts';
import { type InvokeSettings, invoke } from './invoke.ts';
import type { Identity, Served } from './serve.ts';

/** A caller within the process: the account that a bearer token belongs to, or null for an anonymous caller. */
export type DirectCaller = { identity: Identity | null; authorization: string | undefined; clientAddress: string; requestId?: string };

/** The cookies of a caller that has none. */
export const NO_COOKIES: Cookies = { get: () => undefined, set: () => {}, setHint: () => {} };

/**
 * Returns a function that makes the typed client of the contract for one caller within the process. Its calls have the permissions,
 * schemas and time limits of calls over HTTP, but no cookies; they throw ApiError.
 */
export function createDirectClient(served: readonly Served[], settings: InvokeSettings): (caller: DirectCaller) => Client {
  const servedByName = new Map(served.map((each) => [each.name, each]));
  return ({ identity, authorization, clientAddress, requestId }) => {
    const callRoute = async (name: RouteName, input: unknown) => {
      const found = servedByName.get(name);
      if (!found) throw toApiError(settings.describeError(new Fault('not_found'), name));
      const call = {
        clientAddress,
        requestId,
        cookies: NO_COOKIES,
        header: (header: string) => (header === 'authorization' ? authorization : undefined),
        readInput: () => input,
        identify: async () => identity,
        isAdmin: async () => false,
      };
      const result = await invoke(found, call, settings);
      if (result.error) throw toApiError(result.error);
      return JSON.parse(result.json);
    };
    const names = Object.keys(routes) as RouteName[];
    return Object.fromEntries(names.map((name) => [name, (input: unknown) => callRoute(name, input)])) as Client;
  };
}

/** Returns an error as the typed client throws it. */
export function toApiError({ fault, body }: DescribedError): ApiError {
  return new ApiError(fault.status, body, { retryAfter: fault.retryAfter, cause: fault });
}
