import type { ServerResponse } from 'node:http';
import { type ErrorBody, errors, Fault } from '../../contract/errors.ts';
import type { ErrorLog } from './error-log.ts';

/** The one place that answers errors: a Fault with its code, a database that is away with 503, anything else with 500 and a reference that the log has. */
export type AnswerError = (response: ServerResponse, error: unknown, options?: { oauth?: boolean; route?: string }) => void;

/**
 * What an error is to its caller: its fault, and the body that says so. A fault of ours is in the log with the body's reference.
 * @param route what was called, as the log names it
 */
export type DescribeError = (error: unknown, route?: string) => { fault: Fault; body: ErrorBody };

export function createDescribeError(log: ErrorLog): DescribeError {
  return (error, route = 'other') => {
    const fault = faultOf(error);
    const body: ErrorBody = { error: fault.message, code: fault.code, hint: fault.hint ?? errors[fault.code].hint };
    if (fault.field) body.field = fault.field;
    if (fault.code === 'unavailable')
      body.reference = fault === error ? log.unavailable(fault.cause ?? fault, route) : log.databaseAway(error);
    else if (fault.status >= 500) body.reference = log.internal(fault.cause ?? error, route);
    return { fault, body };
  };
}

export function createAnswerError(describe: DescribeError, headers: Record<string, string>): AnswerError {
  return (response, error, options = {}) => {
    const { fault, body } = describe(error, options.route);
    const { status, ...kind } = errors[fault.code];
    if (options.oauth && 'oauth' in kind) Object.assign(body, { error: kind.oauth, error_description: fault.message });
    else if (options.oauth && status < 500) Object.assign(body, { error: 'invalid_request', error_description: fault.message });
    if (response.headersSent) {
      response.destroy();
      return;
    }
    const text = JSON.stringify(body);
    response.writeHead(status, {
      ...headers,
      ...(fault.retryAfter && { 'Retry-After': String(fault.retryAfter) }),
      // What is left of a body that was refused unread must not be taken for the next request.
      ...((status === 408 || status === 413) && { Connection: 'close' }),
      'Content-Type': 'application/json; charset=utf-8',
      'Content-Length': Buffer.byteLength(text),
    });
    response.end(text);
  };
}

/** SQLSTATE classes that mean "not now": connection, resources, operator, a wait that was cut short, a row that went meanwhile. */
const AWAY_STATES = /^(08|40|53|57|58|23503|25006|55P03)/;
const AWAY_MESSAGES = /timeout|Connection terminated|ECONNREFUSED|ECONNRESET|EPIPE|Client was closed|not queryable|pool after calling end/i;

function faultOf(error: unknown): Fault {
  if (error instanceof Fault) return error;
  const cause = error as { code?: unknown; message?: unknown; name?: unknown; type?: unknown; status?: unknown; original?: unknown };
  const original = (cause?.original ?? cause) as typeof cause;
  const code = String(original?.code ?? '');
  if (
    AWAY_STATES.test(code) ||
    /^E[A-Z]+$/.test(code) ||
    AWAY_MESSAGES.test(String(original?.message)) ||
    /^SequelizeConnection/.test(String(cause?.name))
  ) {
    return new Fault('unavailable', { cause: error, retryAfter: 2 });
  }
  // Data that PostgreSQL cannot hold, and paths that Express cannot decode, are the caller's.
  if (code.startsWith('22') || cause?.status === 400) return new Fault('bad_request', { cause: error });
  return new Fault('internal', { cause: error });
}
