import { type CallName, type CallSpec, calls, type Input, type Output } from './calls.ts';
import { type ErrorBody, type ErrorCode, errors } from './errors.ts';
import type { NextPage, SignInPage } from './pages.ts';

/** A call that failed. `message` is the service's sentence for people. */
export class ApiError extends Error {
  readonly status: number;
  /** `unreachable` when there was no response. */
  readonly code: ErrorCode | 'unreachable';
  /** Whether the response explains the error; the response of a proxy in front of the service may not. */
  readonly explained: boolean;
  readonly hint: string;
  readonly field?: string;
  /** Of `sign_in_needed` and `insufficient_scope`: the scopes that are missing, separated by spaces. */
  readonly scope?: string;
  /** Of `bad_code`: how many more codes can be tried for the email. */
  readonly triesLeft?: number;
  /** Reference number of this error in the log of the service. */
  readonly reference?: string;
  /** Seconds to wait before the next try. */
  readonly retryAfter?: number;
  /** The next page, for a call with the option `page`. */
  readonly page?: SignInPage;

  constructor(
    status: number,
    body: Partial<ErrorBody> & Partial<NextPage>,
    details: { retryAfter?: number; cause?: unknown; explained?: boolean } = {},
  ) {
    super(body.error_description ?? body.error ?? `The service answered ${status}.`, { cause: details.cause });
    this.name = 'ApiError';
    this.status = status;
    this.code = body.code ?? (status === 0 ? 'unreachable' : 'internal');
    this.explained = details.explained ?? Boolean(body.error_description ?? body.error);
    this.hint = body.hint ?? '';
    this.field = body.field;
    this.scope = body.scope;
    this.triesLeft = body.triesLeft;
    this.page = body.page;
    this.reference = body.reference;
    this.retryAfter = details.retryAfter;
  }
}

/** Returns the error with which a tool or a check refuses what it was asked, without a call. @param hint instead of the one of the table */
export const refusal = (code: ErrorCode, message: string, hint: string = errors[code].hint): ApiError =>
  new ApiError(errors[code].status, { error: message, code, hint });

/** `page`: the address of the sign-in page that makes the call, for the next page beside the response. */
type CallOptions = { signal?: AbortSignal; page?: string };

export type Client = { [Name in CallName]: (input: Input<Name>, options?: CallOptions) => Promise<Output<Name> & Partial<NextPage>> };

/** Returns a typed client. @param call makes the call of a name */
export function clientOf(call: (name: CallName, input: Record<string, unknown>, options?: CallOptions) => Promise<unknown>): Client {
  const client: object = Object.fromEntries(Object.keys(calls).map((name) => [name, call.bind(null, name as CallName)]));
  return client as Client;
}

/**
 * Returns one function for each call of the API.
 * @param options.baseUrl origin of the service; empty in the browser, where cookies go along
 * @param options.fetch used instead of the global fetch, for example to keep cookies
 * @throws ApiError for every response that is not a success, and when there is no response
 */
export function createClient(options: { baseUrl?: string; fetch?: typeof fetch; headers?: Record<string, string> } = {}): Client {
  const send = options.fetch ?? fetch;
  const call = async ({ method, path: template }: CallSpec, input: Record<string, unknown>, { signal, page }: CallOptions = {}) => {
    const { path, rest } = fillPath(template, input);
    const inQuery = method === 'GET' || method === 'DELETE';
    let response: Response;
    let text: string;
    try {
      response = await send(`${options.baseUrl ?? ''}${path}${inQuery ? queryOf(rest) : ''}`, {
        method,
        credentials: 'same-origin',
        headers: {
          ...(inQuery ? {} : { 'Content-Type': 'application/json' }),
          ...(page && { Prefer: `page="${page}"` }),
          ...options.headers,
        },
        body: inQuery ? undefined : JSON.stringify(rest),
        signal,
      });
      // The connection may be lost in the middle of the body.
      text = await response.text();
    } catch (cause) {
      if (signal?.aborted || cause instanceof ApiError) throw cause;
      throw new ApiError(0, { error: 'The service cannot be reached.', hint: 'Check the connection and try again.' }, { cause });
    }
    if (response.ok) return parseResponse(response.status, text);
    throw new ApiError(response.status, errorBody(text), {
      retryAfter: Number(response.headers.get('Retry-After')) || undefined,
      explained: /^\s*\{/.test(text) ? undefined : false,
    });
  };
  return clientOf((name, input, more) => call(calls[name], input, more));
}

/** Returns the path and the query of a call by GET. */
export function addressOf({ path: template }: CallSpec, input: Record<string, unknown>): string {
  const { path, rest } = fillPath(template, input);
  return path + queryOf(rest);
}

function fillPath(template: string, input: Record<string, unknown>) {
  const rest = { ...input };
  const path = template.replace(/\{(\w+)\}/g, (_, key: string) => {
    const value = encodeURIComponent(String(rest[key]));
    delete rest[key];
    return value;
  });
  return { path, rest };
}

function queryOf(input: Record<string, unknown>): string {
  const query = new URLSearchParams();
  for (const [key, value] of Object.entries(input)) if (value !== undefined) query.set(key, String(value));
  const text = query.toString();
  return text ? `?${text}` : '';
}

function parseResponse(status: number, text: string): unknown {
  try {
    return JSON.parse(text);
  } catch (cause) {
    throw new ApiError(
      status,
      { error: 'The server at this address is not Email Auth.', hint: 'Check the address of the service.' },
      { cause },
    );
  }
}

/** Returns the error in a response body. A proxy in front of the service may respond with a page, or with JSON in another format. */
function errorBody(text: string): Partial<ErrorBody> {
  try {
    const body = JSON.parse(text);
    return typeof body?.error === 'string' ? body : {};
  } catch {
    return /^\s*</.test(text) ? {} : { error: text.trim().slice(0, 200) || undefined };
  }
}
