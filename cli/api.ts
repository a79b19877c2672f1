import { arch, platform, release } from 'node:os';
import { ApiError, type Client, createClient } from '../contract/client.ts';
import type { CookieJar } from './cookies.ts';
import type { Caller } from './credentials.ts';
import { CommandError, EXIT } from './exit.ts';
import type { Terminal } from './terminal.ts';
import { version } from './version.ts';

/** How long a call may take in all. */
const TIMEOUT_MS = 30_000;

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
      return answer;
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
        return await (call as (input: never, options: { signal: AbortSignal }) => Promise<unknown>)(input, { signal: limit.signal });
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

/** What the service calls this program in its list of devices, and what its log shows. */
export function userAgent(): string {
  return `emailauth/${version()} (${platform()} ${release()}; ${arch()}) node/${process.versions.node}`;
}

function unreachable(host: string, cause: unknown): CommandError {
  return new CommandError(
    EXIT.unreachable,
    'unreachable',
    `The service at ${host} cannot be reached.`,
    'Start it with `emailauth start`, or name another one with --host.',
    cause,
  );
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
