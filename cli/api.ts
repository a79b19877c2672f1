import { arch, platform, release } from 'node:os';
import { type CallName, calls } from '../contract/calls.ts';
import { ApiError, type Client, clientOf, createClient } from '../contract/client.ts';
import { createFetch, describeConnection, describeTimeout, proxyFor, TIMEOUT_MS } from './connection.ts';
import { CommandError, EXIT } from './exit.ts';
import type { Environment } from './installation.ts';
import { version } from './installation.ts';
import type { Caller, Credential } from './settings.ts';
import type { Terminal } from './terminal.ts';

const LOGOUT_TIMEOUT_MS = 10_000;
/** Far above any response of the API, so that an endless one does not fill the memory. */
const MAX_RESPONSE_BYTES = 16 * 1024 * 1024;

type ApiOptions = {
  host: string;
  /** With the proxy, if any. */
  env: Environment;
  /** Null: calls are anonymous. */
  caller: Caller | null;
  terminal: Terminal;
  signal: AbortSignal;
  /** The cookies of the session that a call opens, by name, for calls to a single origin. */
  cookies?: Map<string, string>;
};

/**
 * Returns the typed client of the contract with the caller's credentials, time limits, checked responses, and errors for a person.
 * Its calls throw CommandError when the service cannot be reached or refuses the caller, and ApiError otherwise.
 */
export function openApi({ host, env, caller, terminal, signal, cookies }: ApiOptions): Client {
  const send = createFetch(env);
  const client = createClient({
    baseUrl: host,
    headers: { 'User-Agent': userAgent(), ...(caller && { Authorization: `Bearer ${caller.token}` }) },
    fetch: async (input, init) => {
      const start = performance.now();
      const cookie = [...(cookies ?? [])].map(([name, value]) => `${name}=${value}`).join('; ');
      const response = await send(input, { ...init, headers: { ...init?.headers, ...(cookie && { Cookie: cookie }) }, redirect: 'error' });
      if (cookies) await storeCookies(cookies, response.headers);
      // Without the query, which may contain a token.
      const path = new URL(String(input)).pathname;
      terminal.detail(`${init?.method} ${path} ${response.status} ${Math.round(performance.now() - start)} ms`);
      return withBody(response, init?.signal ?? signal);
    },
  });
  return clientOf(async (name, input, options) => {
    const limit = new AbortController();
    const abort = () => limit.abort();
    const timer = setTimeout(abort, TIMEOUT_MS);
    for (const each of [signal, options?.signal]) each?.addEventListener('abort', abort);
    try {
      return checkResponse(name, await client[name](input as never, { signal: limit.signal }));
    } catch (error) {
      if (signal.aborted) throw error;
      if (limit.signal.aborted && !options?.signal?.aborted) throw unreachable(describeTimeout(host, proxyFor(new URL(host), env)), error);
      throw await toCommandError(error, caller, { host, env });
    } finally {
      clearTimeout(timer);
      for (const each of [signal, options?.signal]) each?.removeEventListener('abort', abort);
    }
  });
}

/**
 * Sends a request that is not in the contract, without credentials.
 * @param path with its query
 * @returns the body of the response
 * @throws CommandError when the service cannot be reached; ApiError for a response that is not a success
 */
export async function sendRequest(
  host: string,
  path: string,
  init: RequestInit,
  { env, signal, timeoutMs = TIMEOUT_MS }: { env: Environment; signal: AbortSignal; timeoutMs?: number },
): Promise<string> {
  const time = AbortSignal.timeout(timeoutMs);
  const limit = AbortSignal.any([signal, time]);
  try {
    const headers = { ...init.headers, 'User-Agent': userAgent() };
    const sent = await createFetch(env)(host + path, { ...init, headers, redirect: 'error', signal: limit });
    const response = await withBody(sent, limit);
    const text = await response.text();
    if (response.ok) return text;
    throw new ApiError(response.status, parseObject(text) ?? {}, { retryAfter: Number(response.headers.get('Retry-After')) || undefined });
  } catch (cause) {
    if (signal.aborted || cause instanceof ApiError || cause instanceof CommandError) throw cause;
    const proxy = proxyFor(new URL(host), env);
    throw unreachable(time.aborted ? describeTimeout(host, proxy, timeoutMs) : await describeConnection(cause, host, proxy), cause);
  }
}

/**
 * Returns the OpenAPI description that a service serves.
 * @throws CommandError when the service cannot be reached; ApiError otherwise
 */
export async function readOpenApi(host: string, context: { env: Environment; signal: AbortSignal }): Promise<object> {
  const description = parseObject(await sendRequest(host, '/openapi.json', {}, context));
  if (description) return description;
  throw new ApiError(200, { error: 'The server at this address is not Email Auth.', hint: 'Check the address of the service.' });
}

/** Returns the object in a JSON text, or null. */
function parseObject(text: string): object | null {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === 'object' ? value : null;
  } catch {
    return null;
  }
}

/** Ends a stored sign-in at its service. @returns whether the service confirmed it */
export async function endSession(
  { env, terminal, signal }: { env: Environment; terminal: Terminal; signal: AbortSignal },
  host: string,
  credential: Credential,
): Promise<boolean> {
  try {
    const client = openApi({ host, env, caller: { ...credential, source: 'credentials' }, terminal, signal });
    await client.logout({}, { signal: AbortSignal.timeout(LOGOUT_TIMEOUT_MS) });
    return true;
  } catch {
    return false;
  }
}

/** Returns the User-Agent of this program, which the service shows in its list of devices and in its log. */
function userAgent(): string {
  return `emailauth/${version()} (${platform()} ${release()}; ${arch()}) node/${process.versions.node}`;
}

async function storeCookies(cookies: Map<string, string>, headers: Headers): Promise<void> {
  const { parseSetCookies } = await import('../diagnostics/request.ts');
  for (const { name, value, isDeleted } of parseSetCookies(headers.getSetCookie())) {
    if (isDeleted) cookies.delete(name);
    else cookies.set(name, value);
  }
}

/** The host may be another server, or a service of another version: only responses that match the contract are used. */
function checkResponse(name: CallName, response: unknown): unknown {
  const { success, error } = calls[name].output.safeParse(response);
  if (success) return response;
  throw badResponse(error);
}

/**
 * Returns a response whose body was read, within the time and size that a call may take. Without reading it here, nothing would end a
 * body that never ends: an aborted signal of fetch does not reach the body of a response that was dropped.
 * @throws the reason of `signal`; ApiError for a body of more than MAX_RESPONSE_BYTES
 */
async function withBody(response: Response, signal: AbortSignal): Promise<Response> {
  const reader = response.body?.getReader();
  const stop = () => void reader?.cancel().catch(() => {});
  signal.addEventListener('abort', stop, { once: true });
  const chunks: Uint8Array[] = [];
  let length = 0;
  try {
    if (signal.aborted) stop();
    for (let part = await reader?.read(); part?.value; part = await reader?.read()) {
      length += part.value.length;
      if (length > MAX_RESPONSE_BYTES) throw badResponse(new Error(`It is longer than ${MAX_RESPONSE_BYTES} bytes.`));
      chunks.push(part.value);
    }
    signal.throwIfAborted();
  } catch (error) {
    stop();
    throw error;
  } finally {
    signal.removeEventListener('abort', stop);
  }
  const isEmpty = [204, 205, 304].includes(response.status);
  return new Response(isEmpty ? null : Buffer.concat(chunks), { status: response.status, headers: [...response.headers] });
}

function badResponse(cause: unknown): ApiError {
  const error = 'The service sent a response that this program does not understand.';
  return new ApiError(200, { error, hint: 'Check --host, and that the service and this program have the same version.' }, { cause });
}

async function toCommandError(error: unknown, caller: Caller | null, { host, env }: { host: string; env: Environment }): Promise<unknown> {
  if (!(error instanceof ApiError)) return error;
  if (error.code === 'unreachable') {
    if (error.cause instanceof CommandError) return error.cause;
    return unreachable(await describeConnection(error.cause, host, proxyFor(new URL(host), env)), error);
  }
  if (error.code === 'person_needed' && caller?.source === 'EMAILAUTH_TOKEN') {
    const hint = 'Unset EMAILAUTH_TOKEN and run `emailauth login`, or do it in the dashboard.';
    return new CommandError(EXIT.signInNeeded, error.code, error.message, hint, error);
  }
  if (error.code === 'proof_needed') {
    const hint =
      caller?.source === 'credentials'
        ? 'Run `emailauth login`, and then this command again.'
        : 'Unset EMAILAUTH_TOKEN, run `emailauth login`, and then this command again.';
    return new CommandError(EXIT.signInNeeded, error.code, error.message, hint, error);
  }
  return error.status === 401 && caller ? refusedCaller(error, caller, host) : error;
}

const unreachable = ({ message, hint }: { message: string; hint: string }, cause: unknown) =>
  new CommandError(EXIT.unreachable, 'unreachable', message, hint, cause);

function refusedCaller(error: ApiError, caller: Caller, host: string): CommandError {
  const { code } = error;
  if (code !== 'sign_in_needed' && code !== 'bad_api_key') {
    return new CommandError(EXIT.signInNeeded, code, error.message, error.hint, error);
  }
  if (caller.source === 'credentials') {
    return new CommandError(EXIT.signInNeeded, code, `Your sign-in at ${host} has ended.`, 'Run `emailauth login`.', error);
  }
  const message = `${host} does not accept EMAILAUTH_TOKEN: it is unknown, revoked or expired.`;
  return new CommandError(
    EXIT.signInNeeded,
    code,
    message,
    'Create an API key in the dashboard, or unset it and run `emailauth login`.',
    error,
  );
}
