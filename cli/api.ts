import { arch, platform, release } from 'node:os';
import { ApiError, type Client, createClient } from '../contract/client.ts';
import { type RouteName, routes } from '../contract/routes.ts';
import type { CookieJar } from './cookies.ts';
import type { Caller } from './credentials.ts';
import { CommandError, EXIT } from './exit.ts';
import type { Terminal } from './terminal.ts';
import { version } from './version.ts';

/** How long a call may take in all. */
const TIMEOUT_MS = 30_000;
/** No answer of the API comes near it; one that never ends must not fill the memory. */
const ANSWER_BYTES = 16 * 1024 * 1024;

/**
 * The typed client of the contract, with the caller's credentials and errors that say what to do at a terminal.
 * @param parts.caller null: nobody
 * @param parts.cookies for calls that open a session by a cookie
 * @throws CommandError, by each call, when the service cannot be reached or the caller is not let in; ApiError otherwise
 */
export function openApi(parts: {
  host: string;
  caller: Caller | null;
  terminal: Terminal;
  signal: AbortSignal;
  cookies?: CookieJar;
}): Client {
  const { host, caller, terminal, signal, cookies } = parts;
  const client = createClient({
    baseUrl: host,
    headers: { 'User-Agent': userAgent(), ...(caller && { Authorization: `Bearer ${caller.token}` }) },
    fetch: async (input, init) => {
      const begun = performance.now();
      const cookie = cookies?.header();
      const answer = await fetch(input, { ...init, headers: { ...init?.headers, ...(cookie && { Cookie: cookie }) }, redirect: 'error' });
      cookies?.keep(answer.headers);
      // The path without its query, which may hold a token.
      const path = new URL(String(input)).pathname;
      terminal.detail(`${init?.method} ${path} ${answer.status} ${Math.round(performance.now() - begun)} ms`);
      return bounded(answer);
    },
  });
  const explain = (error: unknown): never => {
    if (signal.aborted || !(error instanceof ApiError)) throw error;
    if (error.code === 'unreachable') throw unreachable(host, error);
    if (error.status === 401 && caller) throw notLetIn(error, caller, host);
    throw error;
  };
  const calls = Object.entries(client).map(([name, call]) => [
    name,
    async (input: never, options?: { signal?: AbortSignal }) => {
      const limit = new AbortController();
      const end = () => limit.abort();
      const timer = setTimeout(end, TIMEOUT_MS);
      for (const each of [signal, options?.signal]) each?.addEventListener('abort', end);
      try {
        const answer = await (call as (input: never, options: { signal: AbortSignal }) => Promise<unknown>)(input, {
          signal: limit.signal,
        });
        return understood(name as RouteName, answer);
      } catch (error) {
        const timedOut = limit.signal.aborted && !signal.aborted && !options?.signal?.aborted;
        return explain(timedOut ? new ApiError(0, {}, { cause: error }) : error);
      } finally {
        clearTimeout(timer);
        for (const each of [signal, options?.signal]) each?.removeEventListener('abort', end);
      }
    },
  ]);
  return Object.fromEntries(calls) as Client;
}

/**
 * The OpenAPI description that a service has of itself.
 * @throws CommandError when the service cannot be reached; ApiError otherwise
 */
export async function readOpenApi(host: string, signal: AbortSignal): Promise<object> {
  const limit = AbortSignal.any([signal, AbortSignal.timeout(TIMEOUT_MS)]);
  let text: string;
  try {
    const answer = await fetch(`${host}/openapi.json`, { headers: { 'User-Agent': userAgent() }, redirect: 'error', signal: limit });
    text = await bounded(answer).text();
    if (!answer.ok) throw new ApiError(answer.status, {});
  } catch (cause) {
    if (signal.aborted || cause instanceof ApiError) throw cause;
    throw unreachable(host, new ApiError(0, {}, { cause }));
  }
  try {
    const description: unknown = JSON.parse(text);
    if (description !== null && typeof description === 'object') return description;
  } catch {
    // A page of something else.
  }
  throw new ApiError(200, { error: 'The server at this address is not Email Auth.', hint: 'Check the address of the service.' });
}

/** What answers at a host may be no service, or one of another version: nothing is shown that the contract does not promise. */
function understood(name: RouteName, answer: unknown): unknown {
  const { success, error } = routes[name].output.safeParse(answer);
  if (success) return answer;
  throw notUnderstood(error);
}

function bounded(answer: Response): Response {
  let left = ANSWER_BYTES;
  const count = new TransformStream<Uint8Array, Uint8Array>({
    transform(chunk, controller) {
      left -= chunk.length;
      if (left < 0) controller.error(notUnderstood(new Error(`It is longer than ${ANSWER_BYTES} bytes.`)));
      else controller.enqueue(chunk);
    },
  });
  return new Response(answer.body?.pipeThrough(count) ?? null, answer);
}

function notUnderstood(cause: unknown): ApiError {
  const error = 'The service answered something that this program does not understand.';
  return new ApiError(200, { error, hint: 'Check --host, and whether both are of the same version.' }, { cause });
}

/** What the service calls this program in its list of devices, and what its log shows. */
export function userAgent(): string {
  return `emailauth/${version()} (${platform()} ${release()}; ${arch()}) node/${process.versions.node}`;
}

function unreachable(host: string, error: ApiError): CommandError {
  // What fetch says of a redirect, which nobody's credentials follow.
  const redirects = error.cause instanceof Error && /redirect/.test(String(error.cause.cause));
  const message = redirects ? `${host} redirects to another address.` : `The service at ${host} cannot be reached.`;
  const hint = redirects ? 'Name that one with --host.' : 'Start it with `emailauth start`, or name another one with --host.';
  return new CommandError(EXIT.unreachable, 'unreachable', message, hint, error);
}

function notLetIn(error: ApiError, caller: Caller, host: string): CommandError {
  if (error.code !== 'sign_in_needed' && error.code !== 'bad_api_key') {
    return new CommandError(EXIT.signInNeeded, error.code, error.message, error.hint, error);
  }
  return caller.source === 'EMAILAUTH_TOKEN'
    ? new CommandError(
        EXIT.signInNeeded,
        error.code,
        `EMAILAUTH_TOKEN does not open ${host}: it is unknown, revoked or ended.`,
        'Make a new API key in the dashboard, or unset it and run `emailauth login`.',
        error,
      )
    : new CommandError(EXIT.signInNeeded, error.code, `Your sign-in at ${host} has ended.`, 'Run `emailauth login`.', error);
}
