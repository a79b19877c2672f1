import type { IncomingMessage } from 'node:http';
import { Fault } from '../../contract/errors.ts';
import { clientAddressOf, isLoopbackHostHeader } from '../http/client-address.ts';
import type { DirectCaller } from '../http/direct-client.ts';
import type { DescribeError } from '../http/errors.ts';
import { requireOwnOrigin } from '../http/protection.ts';
import type { Identity } from '../http/serve.ts';

/** The response to a request that does not reach the MCP server. */
export type Refusal = { status: number; message: string; headers?: Record<string, string> };

export type AdmissionParts = {
  publicUrl: string;
  trustProxy: number;
  describeError: DescribeError;
  /** Returns the account of the Authorization header; cookies are ignored. @throws Fault bad_api_key */
  identityOf(request: IncomingMessage): Promise<Identity | null>;
};

/** How to authenticate, in words for a model. */
export const HOW_TO_AUTHENTICATE =
  'Send Authorization: Bearer with an API key from the dashboard, or with the token that `emailauth token` prints.';

/**
 * Returns why a request cannot come from an MCP client, or null. A foreign Host header means DNS rebinding, a foreign Origin a page
 * elsewhere (MCP, Streamable HTTP, "Security Warning").
 */
export function refuseForeignRequest(request: IncomingMessage, publicUrl: string): Refusal | null {
  const { host } = request.headers;
  // The port is not compared, because it may differ outside of a container.
  if (!isLoopbackHostHeader(host) && host?.toLowerCase().replace(/:\d+$/, '') !== new URL(publicUrl).hostname) {
    return { status: 403, message: `The Host header is wrong. Call ${publicUrl}/mcp; a proxy in front must pass the Host header on.` };
  }
  try {
    requireOwnOrigin(request, 'anyone', new Set([publicUrl]));
  } catch {
    return { status: 403, message: 'Pages of other origins may not call this. Call it from a program, without an Origin header.' };
  }
  if (request.method === 'POST') return null;
  return { status: 405, message: 'This MCP server has no sessions: send each message by POST.', headers: { Allow: 'POST' } };
}

/**
 * Returns the caller of a request: anonymous without an Authorization header, else the account of its bearer token. The token of an
 * application is refused, because it only identifies an account.
 */
export async function admit(request: IncomingMessage, parts: AdmissionParts): Promise<DirectCaller | Refusal> {
  const { authorization } = request.headers;
  const clientAddress = clientAddressOf(request, parts.trustProxy);
  if (authorization === undefined) return { identity: null, authorization, clientAddress };
  try {
    const identity = await parts.identityOf(request);
    return identity && identity.by !== 'application' ? { identity, authorization, clientAddress } : challenge();
  } catch (error) {
    return error instanceof Fault && error.status === 401 ? challenge() : refusalOf(error, parts.describeError);
  }
}

/** Returns an error of the service as a refusal, with the reference number of the log. */
function refusalOf(error: unknown, describeError: DescribeError): Refusal {
  const { fault, body } = describeError(error);
  return {
    status: fault.status,
    message: [body.error, body.hint, body.reference && `The reference number is ${body.reference}.`].filter(Boolean).join(' '),
    headers: fault.retryAfter ? { 'Retry-After': String(fault.retryAfter) } : {},
  };
}

/** Returns the challenge of RFC 6750 §3. With OAuth, `resource_metadata` will be part of it: docs/decisions/0006. */
function challenge(): Refusal {
  const reason = 'This bearer token is not valid here: it is unknown, revoked, expired, or issued for an application.';
  return {
    status: 401,
    message: `${reason} ${HOW_TO_AUTHENTICATE}`,
    headers: { 'WWW-Authenticate': `Bearer realm="emailauth", error="invalid_token", error_description="${reason}"` },
  };
}
