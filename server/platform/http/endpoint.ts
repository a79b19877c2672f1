import type { IncomingMessage, ServerResponse } from 'node:http';
import type { z } from 'zod';
import { type Access, type CallName, type CallSpec, type Calls, calls, type Output, type Parsed } from '../../../contract/calls.ts';
import { ApiError, type Client, clientOf } from '../../../contract/client.ts';
import { type ErrorCode, Fault } from '../../../contract/errors.ts';
import { blockOfNetwork, clientAddressOf, isFromThisMachine } from './client-address.ts';
import { type Cookies, cookiesOf } from './cookies.ts';
import { ANY_ORIGIN } from './cors.ts';
import { type DescribedError, type DescribeError, sendError } from './errors.ts';
import { dataHeaders, requireOwnOrigin } from './protection.ts';
import { queryOf, readBody } from './reading.ts';
import { requestIdOf } from './request-record.ts';
import { type Challenge, challengeFor } from './resources.ts';

/** A signed-in account. `device`: its browser, program or API key; `network`: the block of its network address. */
export type Account = { id: string; email: string; name: string | null; device?: string | null; network?: string };

/** Returns who does something and from where, for a row of the audit log. */
export const actorOf = ({ email, device, network }: Account) => ({ email, device: device ?? null, network: network ?? null });

/**
 * A signed-in account and its credential: a `test_key` may only read, an `application` may only read who the account is, and an
 * `access_token` was issued for a resource of this service.
 */
export type Identity = Account & {
  credential: 'session' | 'live_key' | 'test_key' | 'application' | 'access_token';
  /** What the credential may be used for; null: everything that its kind may do. */
  scopes: readonly string[] | null;
};

/** Access that needs a signed-in account. */
type SignedInAccess = 'identity' | 'account' | 'person';

/** What a request says about its sender. */
export type RequestSource = {
  /** For rate limits; see clientAddressOf. */
  clientAddress: string;
  /** The id of the request, for the log. */
  requestId?: string;
  cookies: Cookies;
  header(name: string): string | undefined;
};

/** Returns what a request over HTTP says about its sender. @param settings as of `cookiesOf` and `clientAddressOf` */
export function requestSourceOf(
  request: IncomingMessage,
  response: ServerResponse,
  { secure, trustProxy }: { secure: boolean; trustProxy: number },
): RequestSource {
  return {
    clientAddress: clientAddressOf(request, trustProxy),
    requestId: requestIdOf(request),
    cookies: cookiesOf(request, response, secure),
    header: (name) => request.headers[name]?.toString(),
  };
}

/** Who makes a call. `isFromThisMachine`: see the function of this name; false for a call that is not a request of its own. */
export type Caller = RequestSource & { isFromThisMachine(): boolean };

/** A caller, with the signed-in account where the access of the call requires one. */
type Permitted<Name extends CallName> = Caller & { account: Calls[Name]['access'] extends SignedInAccess ? Account : null };

/** A call of the contract with its handler. */
export type Endpoint = { name: CallName; handler: (input: unknown, caller: Permitted<CallName>) => unknown; timeoutSeconds: number };

// After DATABASE_WAIT_MS, so that PostgreSQL's own waits end first.
const DEFAULT_TIMEOUT_SECONDS = 2.9;

/**
 * Binds a call of the contract to its handler.
 * @param options.timeoutSeconds when the call fails with 503; longer only for a call that waits for more than our database
 */
export function handle<Name extends CallName>(
  name: Name,
  handler: (input: Parsed<Name>, caller: Permitted<Name>) => Output<Name> | Promise<Output<Name>>,
  options: { timeoutSeconds?: number } = {},
): Endpoint {
  return { name, handler: handler as Endpoint['handler'], timeoutSeconds: options.timeoutSeconds ?? DEFAULT_TIMEOUT_SECONDS };
}

type Fields = Record<string, unknown>;

/** One call as its transport presents it. */
type Call = Caller & {
  /** Returns the input before parsing. @throws Fault when the transport cannot read or accept it */
  readInput(): Fields | Promise<Fields>;
  /** Returns who is signed in. @throws Fault bad_api_key */
  identify(): Promise<Identity | null>;
  /** Returns whether the call comes from an open admin session; counts as use of it. */
  isAdmin(): Promise<boolean>;
};

/** A call that was made: its input before parsing, and its output or why it failed. */
export type Result = { input: Fields } & ({ output: object; error?: undefined } | { output?: undefined; error: DescribedError });

type RunSettings = {
  describeError: DescribeError;
  /** Counts a call with an Authorization header, where the result may depend on it. */
  countCall(authorization: string, status: number): void;
};

/**
 * Makes one call of the API: parses its input, checks that the caller may make it, runs its handler with a time limit, and counts it.
 * Every call of the API passes through here, whether it arrives over HTTP or comes from within the process. Never rejects.
 */
async function runEndpoint({ name, handler, timeoutSeconds }: Endpoint, call: Call, settings: RunSettings): Promise<Result> {
  const spec: CallSpec = calls[name];
  let input: Fields = {};
  let result: Result;
  try {
    input = await call.readInput();
    const parsed = parse(spec.input, input);
    const account = await permit(spec, call);
    const { clientAddress, requestId, cookies, header, isFromThisMachine } = call;
    const caller = { clientAddress, requestId, cookies, header, isFromThisMachine, account };
    result = { input, output: await failAfter(handler(parsed, caller as Permitted<CallName>), timeoutSeconds) };
  } catch (error) {
    result = { input, error: settings.describeError(error, name, call.requestId) };
  }
  const authorization = call.header('authorization');
  if (authorization !== undefined && dependsOnIdentity(spec.access)) settings.countCall(authorization, result.error?.fault.status ?? 200);
  return result;
}

const FIELD_CODES: Record<string, ErrorCode> = { email: 'bad_email', domain: 'bad_domain' };

/**
 * Returns the parsed input of a call.
 * @throws Fault bad_request, or the code of the invalid field
 */
export function parse<Schema extends z.ZodType>(schema: Schema, input: unknown): z.output<Schema> {
  const result = schema.safeParse(input);
  if (result.success) return result.data;
  const [issue] = result.error.issues;
  const field = issue.path.join('.');
  const { code: ownCode }: { code?: ErrorCode } = (issue.code === 'custom' && issue.params) || {};
  const code = ownCode ?? FIELD_CODES[field] ?? 'bad_request';
  const message = code === 'bad_request' && field ? `${field}: ${issue.message}` : issue.message;
  throw new Fault(code, { field: field || undefined, message });
}

/**
 * Returns the account that makes a call, or null where the call needs none.
 * @throws Fault not_found, admin_needed, sign_in_needed, person_needed, test_key, insufficient_scope, bad_api_key, bad_access_token
 */
async function permit({ access, method, scope, development }: CallSpec, call: Call): Promise<Account | null> {
  if (development && !call.isFromThisMachine()) throw new Fault('not_found');
  if (access === 'admin' && !(await call.isAdmin())) throw new Fault('admin_needed');
  if (!needsAccount(access)) return null;
  const identity = await call.identify();
  if (!identity || (identity.credential === 'application' && access !== 'identity')) throw new Fault('sign_in_needed', { scope });
  if (identity.credential === 'test_key' && method !== 'GET') throw new Fault('test_key');
  if (identity.credential !== 'session' && access === 'person') {
    throw new Fault('person_needed', identity.credential === 'access_token' ? { message: 'An access token may not do this.' } : {});
  }
  if (scope && identity.scopes && !identity.scopes.includes(scope)) {
    const credential = identity.credential === 'access_token' ? 'access token' : 'API key';
    throw new Fault('insufficient_scope', { message: `This needs the scope ${scope}, which the ${credential} does not have.`, scope });
  }
  return { ...identity, network: blockOfNetwork(call.clientAddress) };
}

const needsAccount = (access: Access): access is SignedInAccess => access === 'identity' || access === 'account' || access === 'person';

const dependsOnIdentity = (access: Access): boolean => needsAccount(access) || access === 'any-origin';

/** @throws Fault unavailable when the work takes longer */
function failAfter(work: unknown, seconds: number): object | Promise<object> {
  if (!(work instanceof Promise)) return work as object;
  return new Promise((resolve, reject) => {
    const timer = setTimeout(() => reject(new Fault('unavailable', { retryAfter: 2 })), seconds * 1000);
    work.then(resolve, reject).finally(() => clearTimeout(timer));
  });
}

/** Makes a call from within the process. Never rejects. @param identity who is signed in */
export type MakeCall = (name: CallName, input: Fields, source: RequestSource, identity?: Identity | null) => Promise<Result>;

/**
 * Returns a function that makes calls from within the process, with the permissions, schemas and time limits of calls over HTTP.
 * @param endpoints read at the first call
 */
export function createMakeCall(endpoints: () => readonly Endpoint[], settings: RunSettings): MakeCall {
  let byName: Map<CallName, Endpoint> | undefined;
  return async (name, input, source, identity = null) => {
    byName ??= new Map(endpoints().map((each) => [each.name, each]));
    const endpoint = byName.get(name);
    if (!endpoint) return { input, error: settings.describeError(new Fault('not_found'), name) };
    const call = {
      ...source,
      readInput: () => input,
      identify: async () => identity,
      isAdmin: async () => false,
      isFromThisMachine: () => false,
    };
    return runEndpoint(endpoint, call, settings);
  };
}

/** A caller within the process: the account that a bearer token belongs to, or null for an anonymous caller. */
export type DirectCaller = { identity: Identity | null; authorization: string | undefined; clientAddress: string; requestId?: string };

/** The cookies of a caller that has none. */
export const NO_COOKIES: Cookies = { get: () => undefined, set: () => {}, setHint: () => {} };

/** Returns the typed client of the contract for a caller within the process, without cookies. Its calls throw ApiError. */
export function createDirectClient(makeCall: MakeCall, { identity, authorization, clientAddress, requestId }: DirectCaller): Client {
  const header = (name: string) => (name === 'authorization' ? authorization : undefined);
  const source = { clientAddress, requestId, cookies: NO_COOKIES, header };
  return clientOf(async (name, input) => {
    const { output, error } = await makeCall(name, input, source, identity);
    if (error) throw toApiError(error);
    return output;
  });
}

/** Returns an error as the typed client throws it. */
export function toApiError({ fault, body }: DescribedError): ApiError {
  return new ApiError(fault.status, body, { retryAfter: fault.retryAfter, cause: fault });
}

/** A request listener that also receives the parameters of its path. */
export type Listener = (
  request: IncomingMessage,
  response: ServerResponse,
  pathParams?: Record<string, string | string[]>,
) => Promise<void>;

/** Returns what the response to a call contains besides; null: nothing. @param make makes the call */
export type Addition = (source: RequestSource, make: () => Promise<Result>) => Promise<object | null>;

type ListenerSettings = RunSettings & {
  /** Returns what the response to a request contains besides, where the request prefers that (RFC 7240); null for any other. */
  additionTo(name: CallName, request: IncomingMessage): Addition | null;
  /** The calls of which a request may prefer more, so that their responses vary. */
  varies(name: CallName): boolean;
  /** As of `cookiesOf`. */
  secure: boolean;
  trustProxy: number;
  /** Origins of our own pages. */
  origins: ReadonlySet<string>;
  /** Returns who is signed in, by the request's `sid` cookie or bearer token. */
  identityOf(request: IncomingMessage, cookies: Cookies): Promise<Identity | null>;
  /** Returns whether the request's `admin` cookie belongs to an open admin session; counts as use of it. */
  isAdmin(cookies: Cookies): Promise<boolean>;
  /** Returns the value of WWW-Authenticate. */
  wwwAuthenticate(challenge: Challenge): string;
};

/**
 * Returns a function that makes the HTTP listener of a call. A listener does not use Express, so that the most frequent calls can
 * be handled before it.
 */
export function createListener(settings: ListenerSettings): (endpoint: Endpoint) => Listener {
  const dataOnly = dataHeaders(settings.secure);
  return (endpoint) => {
    const { name } = endpoint;
    const spec: CallSpec = calls[name];
    const { access, method, scope } = spec;
    const oauth = spec.oauth === true;
    const varies = settings.varies(name);
    const headers = varies ? { ...dataOnly, Vary: 'Prefer' } : dataOnly;
    const isQuery = method === 'GET' || method === 'DELETE';
    const successHeaders = {
      ...headers,
      'Content-Type': 'application/json; charset=utf-8',
      ...(access === 'any-origin' && ANY_ORIGIN),
    };
    return async (request, response, pathParams) => {
      const source = requestSourceOf(request, response, settings);
      const { cookies } = source;
      const readInput = async () => {
        if (method !== 'GET') requireOwnOrigin(request, access, settings.origins);
        const fields = isQuery ? queryOf(request) : await readBody(request, oauth);
        return pathParams ? { ...fields, ...pathParams } : fields;
      };
      const call = {
        ...source,
        readInput,
        identify: () => settings.identityOf(request, cookies),
        isAdmin: () => settings.isAdmin(cookies),
        isFromThisMachine: () => isFromThisMachine(request),
      };
      let made: Promise<Result> | undefined;
      const make = () => {
        made ??= runEndpoint(endpoint, call, settings);
        return made;
      };
      const addition = varies ? settings.additionTo(name, request) : null;
      // A response without the addition is better than none: the call has been made.
      const added = addition && (await addition(call, make).catch((error) => void settings.describeError(error, 'page', source.requestId)));
      const { output, error } = await make();
      if (error) {
        const challenge = challengeFor(error.fault, scope && [scope]);
        const errorHeaders = challenge ? { ...headers, 'WWW-Authenticate': settings.wwwAuthenticate(challenge) } : headers;
        return sendError(response, { ...error, body: { ...error.body, ...added } }, errorHeaders, { oauth });
      }
      const json = JSON.stringify(added ? { ...output, ...added } : output);
      response.writeHead(200, { ...successHeaders, 'X-Request-Id': requestIdOf(request), 'Content-Length': Buffer.byteLength(json) });
      response.end(json);
    };
  };
}
