import { type RequestListener, type Server, type ServerResponse, STATUS_CODES } from 'node:http';
import type { Socket } from 'node:net';
import { type ErrorBody, type ErrorCode, errors, Fault } from '../../../contract/errors.ts';
import type { FailureLog } from './failure-log.ts';
import { newRequestId, requestIdOf } from './request-record.ts';

/** An error as the API reports it. */
export type DescribedError = { fault: Fault; body: ErrorBody };

/**
 * Returns an error as the API reports it: a Fault as it is, a database that is unavailable as 503, anything else as 500. Errors of
 * the service are logged under the reference number in the body.
 * @param route the call, for the log
 * @param requestId of the request in which it happened, for the log
 */
export type DescribeError = (error: unknown, route?: string, requestId?: string) => DescribedError;

/** Returns the function that describes errors, and logs those of the service. */
export function createDescribeError(failures: FailureLog): DescribeError {
  return (error, route = 'other', requestId) => {
    const fault = faultOf(error);
    const body: ErrorBody = { error: fault.message, code: fault.code, hint: fault.hint ?? errors[fault.code].hint };
    if (fault.field) body.field = fault.field;
    if (fault.scope) body.scope = fault.scope;
    if (fault.triesLeft !== undefined) body.triesLeft = fault.triesLeft;
    if (fault.code === 'unavailable')
      body.reference =
        fault === error
          ? failures.logUnavailable(fault.cause ?? fault, route, requestId)
          : failures.logDatabaseUnavailable(error, requestId);
    else if (fault.status >= 500) body.reference = failures.logInternal(fault.cause ?? error, route, requestId);
    return { fault, body };
  };
}

/**
 * Sends an error as JSON. Where the response has begun already, closes the connection instead.
 * @param headers of every response
 * @param options.oauth name the error as RFC 6749 §5.2 does
 */
export function sendError(
  response: ServerResponse,
  { fault, body }: DescribedError,
  headers: Record<string, string>,
  { oauth = false } = {},
): void {
  if (response.headersSent) {
    response.destroy();
    return;
  }
  const text = JSON.stringify(oauth ? { ...body, ...oauthError(fault) } : body);
  response.writeHead(fault.status, {
    ...headers,
    'X-Request-Id': requestIdOf(response.req),
    ...errorHeaders(fault),
    'Content-Type': 'application/json; charset=utf-8',
    'Content-Length': Buffer.byteLength(text),
  });
  response.end(text);
}

/** Returns the headers of a response to a request that failed, as JSON or as a page. */
export function errorHeaders({ status, retryAfter }: Fault): Record<string, string> {
  return {
    ...(retryAfter && { 'Retry-After': String(retryAfter) }),
    // The rest of a body that was refused unread must not be parsed as the next request.
    ...((status === 408 || status === 413) && { Connection: 'close' }),
  };
}

function oauthError({ code, status, message }: Fault): Partial<ErrorBody> {
  const kind = errors[code];
  const name = 'oauth' in kind ? kind.oauth : status < 500 ? 'invalid_request' : undefined;
  return name === undefined ? {} : { error: name, error_description: message };
}

/** SQLSTATE classes of temporary failures: connection, resources, operator intervention, a lock time-out, a row deleted meanwhile. */
const UNAVAILABLE_STATES = /^(08|40|53|57|58|23503|25006|55P03)/;
/** Errors of a connection (errno(3)); those of files, such as ENOSPC, are not among them. */
const UNAVAILABLE_CODES = /^(ECONN(REFUSED|RESET|ABORTED)|EPIPE|ETIMEDOUT|E(HOST|NET)UNREACH|ENETDOWN)$/;
/** The calls that open a connection, with any error: the socket file of PostgreSQL may be missing, or the name server not respond. */
const CONNECTING_CALLS = ['connect', 'getaddrinfo'];
const UNAVAILABLE_MESSAGES =
  /timeout|Connection terminated|ECONNREFUSED|ECONNRESET|EPIPE|Client was closed|not queryable|pool after calling end/i;

/** The error code for each status of Express for an error of the sender; any other one is `bad_request`. */
const SENDER_CODES: Record<number, ErrorCode> = {
  404: 'not_found',
  412: 'precondition_failed',
  413: 'too_large',
  416: 'range_not_satisfiable',
};

function faultOf(error: unknown): Fault {
  if (error instanceof Fault) return error;
  const cause = error as {
    code?: unknown;
    syscall?: unknown;
    message?: unknown;
    name?: unknown;
    status?: unknown;
    original?: unknown;
  };
  const original = (cause?.original ?? cause) as typeof cause;
  const code = String(original?.code ?? '');
  if (
    UNAVAILABLE_STATES.test(code) ||
    UNAVAILABLE_CODES.test(code) ||
    CONNECTING_CALLS.includes(String(original?.syscall)) ||
    UNAVAILABLE_MESSAGES.test(String(original?.message)) ||
    /^SequelizeConnection/.test(String(cause?.name))
  ) {
    return new Fault('unavailable', { cause: error, retryAfter: 2 });
  }
  // Values that PostgreSQL cannot store are errors of the caller, and so is what Express refuses: a path that it cannot decode, a range.
  if (code.startsWith('22')) return new Fault('bad_request', { cause: error });
  const status = Number(cause?.status);
  if (status >= 400 && status < 500) return new Fault(SENDER_CODES[status] ?? 'bad_request', { cause: error });
  return new Fault('internal', { cause: error });
}

/** The error code for each code of Node's HTTP parser; any other one is `bad_request`. */
const PARSER_CODES: Record<string, ErrorCode> = {
  HPE_HEADER_OVERFLOW: 'headers_too_large',
  HPE_CHUNK_EXTENSIONS_OVERFLOW: 'too_large',
  ERR_HTTP_REQUEST_TIMEOUT: 'request_timeout',
};

/**
 * Handles what Node's HTTP server would otherwise handle without the headers of the service: requests that cannot be parsed or do
 * not arrive in time, and the header Expect, which may be ignored (RFC 9110 §10.1.1).
 * @param headers of every response
 */
export function handleParserErrors(server: Server, listener: RequestListener, headers: Record<string, string>): void {
  server.on('checkExpectation', listener);
  server.on('clientError', (error: NodeJS.ErrnoException, socket: Socket & { _httpMessage?: ServerResponse | null }) => {
    // The response to an earlier request may be under way on this connection; Node's own handler makes the same check.
    if (socket.writable && !socket._httpMessage?.headersSent) {
      socket.write(rawErrorResponse(PARSER_CODES[error.code ?? ''] ?? 'bad_request', headers));
    }
    socket.destroy(error);
  });
}

function rawErrorResponse(code: ErrorCode, headers: Record<string, string>): string {
  const { status, message, hint } = errors[code];
  const body = JSON.stringify({ error: message, code, hint } satisfies ErrorBody);
  const lines = Object.entries({
    ...headers,
    'X-Request-Id': newRequestId(),
    'Content-Type': 'application/json; charset=utf-8',
    'Content-Length': String(Buffer.byteLength(body)),
    Connection: 'close',
  }).map(([name, value]) => `${name}: ${value}\r\n`);
  return `HTTP/1.1 ${status} ${STATUS_CODES[status]}\r\n${lines.join('')}\r\n${body}`;
}
