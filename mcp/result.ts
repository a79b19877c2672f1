import type { CallToolResult } from '@modelcontextprotocol/server';
import { ApiError } from '../contract/client.ts';
import { type ErrorCode, errors } from '../contract/errors.ts';
import { oneLine } from '../diagnostics/check.ts';
import type { McpContext } from './context.ts';

type ErrorContext = Pick<McpContext, 'howToSignIn' | 'onDenied' | 'report'>;

/** Returns the result of a tool: the data, and the same as text for clients that do not show structured content. */
export function successResult(data: Record<string, unknown>, text: string): CallToolResult {
  return { structuredContent: data, content: [{ type: 'text', text }] };
}

/** Returns the result of a call that failed: what happened and what to do next. */
export function errorResult(error: unknown, context: ErrorContext): CallToolResult {
  return { isError: true, content: [{ type: 'text', text: describeError(error, context) }] };
}

/** Returns the error for a call that a tool itself refuses. @param hint what to do next, where the one in errors.ts is not for a model */
export const refusal = (code: ErrorCode, message: string, hint: string = errors[code].hint): ApiError =>
  new ApiError(errors[code].status, { error: message, code, hint });

/** Whether the service responded with this error. */
export const hasCode = (error: unknown, code: ErrorCode): error is ApiError => error instanceof ApiError && error.code === code;

/** Returns what happened and what to do next, as sentences for a model; for an internal error only its reference number. */
export function describeError(error: unknown, { howToSignIn, onDenied, report }: ErrorContext): string {
  const known =
    error instanceof ApiError ? error : new ApiError(500, { ...errors.internal, error: errors.internal.message, reference: report(error) });
  if (known.code === 'sign_in_needed' || known.code === 'insufficient_scope') onDenied?.(known);
  const hint = known.code === 'sign_in_needed' ? howToSignIn : known.code === 'rate_limited' ? waitHint(known) : known.hint;
  const reference = known.reference ? `The reference number is ${known.reference}.` : '';
  return [known.message, hint, reference]
    .filter(Boolean)
    .map((text) => withFullStop(oneLine(text, 500)))
    .join(' ');
}

const withFullStop = (text: string) => (/[.!?…]$/.test(text) ? text : `${text}.`);

const waitHint = ({ retryAfter }: ApiError) => `Wait ${retryAfter ? `${retryAfter} s` : 'a few minutes'}, then call again.`;
