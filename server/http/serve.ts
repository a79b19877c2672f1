import type { Output, Parsed, RouteName, Routes } from '../../contract/routes.ts';
import type { Cookies } from './cookies.ts';

export type Account = { id: string; email: string; name: string | null };

/**
 * A signed-in account and its credential: a `test_key` may only read, an `application` may only read who the account is, and an
 * `access_token` was issued for a resource of this service.
 */
export type Identity = Account & {
  by: 'session' | 'live_key' | 'test_key' | 'application' | 'access_token';
  /** What the credential may be used for; null: everything that its kind may do. */
  scopes: readonly string[] | null;
};

/** Access that needs a signed-in account. */
export type SignedInAccess = 'identity' | 'account' | 'person';

/** What a call carries besides its input. */
export type Caller<Name extends RouteName = RouteName> = {
  /** For rate limits; see clientAddressOf. */
  clientAddress: string;
  /** For the log. */
  requestId?: string;
  cookies: Cookies;
  header(name: string): string | undefined;
  /** The signed-in account, where the access of the route requires one. */
  account: Routes[Name]['access'] extends SignedInAccess ? Account : null;
};

/** A route of the contract with its handler. */
export type Served = { name: RouteName; handler: (input: unknown, caller: Caller) => unknown; timeoutSeconds: number };

// PostgreSQL's own waits end at 2.5 s. What queues up before them ends here, so that a 503 is sent within 3 s.
const DEFAULT_TIMEOUT_SECONDS = 2.9;

/**
 * Binds a route of the contract to its handler.
 * @param options.timeoutSeconds when the call fails with 503; longer only for a call that waits for more than our database
 */
export function serve<Name extends RouteName>(
  name: Name,
  handler: (input: Parsed<Name>, caller: Caller<Name>) => Output<Name> | Promise<Output<Name>>,
  options: { timeoutSeconds?: number } = {},
): Served {
  return { name, handler: handler as Served['handler'], timeoutSeconds: options.timeoutSeconds ?? DEFAULT_TIMEOUT_SECONDS };
}
