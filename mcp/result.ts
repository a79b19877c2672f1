import type { CallToolResult } from '@modelcontextprotocol/server';
import { ApiError } from '../contract/client.ts';
import { errors } from '../contract/errors.ts';
import type { McpContext } from './context.ts';

/** The answer of a tool: the data, and the same in words for clients that show no structured content. */
export function succeeded(data: Record<string, unknown>, text: string): CallToolResult {
  return { structuredContent: data, content: [{ type: 'text', text }] };
}

/** A call that failed: what happened and what to do next, for a model. Of a fault of ours it has the reference number alone. */
export function failed(error: unknown, context: Pick<McpContext, 'howToSignIn' | 'report'>): CallToolResult {
  return { isError: true, content: [{ type: 'text', text: sentencesOf(error, context) }] };
}

function sentencesOf(error: unknown, { howToSignIn, report }: Pick<McpContext, 'howToSignIn' | 'report'>): string {
  const known =
    error instanceof ApiError ? error : new ApiError(500, { ...errors.internal, error: errors.internal.message, reference: report(error) });
  const hint = known.code === 'sign_in_needed' ? howToSignIn : known.hint;
  const wait = known.retryAfter ? `Wait ${known.retryAfter} s.` : '';
  const reference = known.reference ? `The reference number is ${known.reference}.` : '';
  return [known.message, hint, wait, reference].filter(Boolean).join(' ');
}
