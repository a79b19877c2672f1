import type { CallToolResult } from '@modelcontextprotocol/server';
import { oneLine } from '../contract/check.ts';
import { ApiError } from '../contract/client.ts';
import { type ErrorCode, errors } from '../contract/errors.ts';
import type { McpContext } from './context.ts';

type Explaining = Pick<McpContext, 'howToSignIn' | 'report'>;

/** The answer of a tool: the data, and the same in words for clients that show no structured content. */
export function succeeded(data: Record<string, unknown>, text: string): CallToolResult {
  return { structuredContent: data, content: [{ type: 'text', text }] };
}

/** A call that failed: what happened and what to do next, for a model. */
export function failed(error: unknown, context: Explaining): CallToolResult {
  return { isError: true, content: [{ type: 'text', text: explain(error, context) }] };
}

/** A call that a tool refuses by itself. @param hint what to do next, where the catalogue's is not for a model */
export const refusal = (code: ErrorCode, message: string, hint: string = errors[code].hint): ApiError =>
  new ApiError(errors[code].status, { error: message, code, hint });

/** Whether the service answered an error with this code. */
export const isAnswer = (error: unknown, code: ErrorCode): error is ApiError => error instanceof ApiError && error.code === code;

/** What happened and what to do next, in sentences for a model. Of a fault of ours they have the reference number alone. */
export function explain(error: unknown, { howToSignIn, report }: Explaining): string {
  const known =
    error instanceof ApiError ? error : new ApiError(500, { ...errors.internal, error: errors.internal.message, reference: report(error) });
  const hint = known.code === 'sign_in_needed' ? howToSignIn : known.code === 'rate_limited' ? waitFor(known) : known.hint;
  const reference = known.reference ? `The reference number is ${known.reference}.` : '';
  return [known.message, hint, reference]
    .filter(Boolean)
    .map((text) => asSentence(oneLine(text, 500)))
    .join(' ');
}

const asSentence = (text: string) => (/[.!?…]$/.test(text) ? text : `${text}.`);

const waitFor = ({ retryAfter }: ApiError) => `Wait ${retryAfter ? `${retryAfter} s` : 'a few minutes'}, then call again.`;
