import type { IncomingMessage } from 'node:http';
import { Fault } from '../../contract/errors.ts';
import { clientAddressOf } from '../http/client-address.ts';
import type { DirectCaller } from '../http/direct-client.ts';
import type { DescribeError } from '../http/errors.ts';
import { isLoopbackHost } from '../http/loopback.ts';
import { requireOwnOrigin } from '../http/protection.ts';
import type { Identity } from '../http/serve.ts';

/** A request that the MCP server never sees. */
export type Refusal = { status: number; message: string; headers?: Record<string, string> };

export type AdmissionParts = {
  publicUrl: string;
  trustProxy: number;
  describeError: DescribeError;
  /** @returns who the Authorization header is for; cookies do not count. @throws Fault bad_api_key */
  identityOf(request: IncomingMessage): Promise<Identity | null>;
};

/** What to do about a call that needs somebody, in words for a model. */
export const HOW_TO_CALL = 'Send Authorization: Bearer with an API key of the dashboard, or with what `emailauth token` prints.';

/**
 * Whether a request comes the way an MCP client's does. A foreign Host means DNS rebinding, a foreign Origin a page elsewhere:
 * somebody's browser, led by somebody else (MCP, Streamable HTTP, "Security Warning").
 */
export function refusalOfPlace(request: IncomingMessage, publicUrl: string): Refusal | null {
  const { host } = request.headers;
  // Whatever the port: it may be another one outside of a container.
  if (!isLoopbackHost(host) && host?.toLowerCase().replace(/:\d+$/, '') !== new URL(publicUrl).hostname) {
    return { status: 403, message: `Host is not this service's. Call ${publicUrl}/mcp; a proxy in front has to pass Host on.` };
  }
  try {
    requireOwnOrigin(request, 'anyone', new Set([publicUrl]));
  } catch {
    return { status: 403, message: 'Pages of other origins may not call this. Call it from a program, without an Origin header.' };
  }
  if (request.method === 'POST') return null;
  return { status: 405, message: 'This is an MCP server without sessions: send each message by POST.', headers: { Allow: 'POST' } };
}

/**
 * THE one place that turns a request into a caller: nobody without an Authorization header, else whoever its bearer token
 * names. An application's token says who somebody is and was not issued for this.
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

/** What went wrong on our side, with the reference number that the log has. */
function refusalOf(error: unknown, describeError: DescribeError): Refusal {
  const { fault, body } = describeError(error);
  return {
    status: fault.status,
    message: [body.error, body.hint, body.reference && `The reference number is ${body.reference}.`].filter(Boolean).join(' '),
    headers: fault.retryAfter ? { 'Retry-After': String(fault.retryAfter) } : {},
  };
}

/** THE one place that asks for another token (RFC 6750 §3). With OAuth, `resource_metadata` joins it: docs/decisions/0006. */
function challenge(): Refusal {
  const what = 'This bearer token is not valid here: unknown, revoked, ended, or issued for an application.';
  return {
    status: 401,
    message: `${what} ${HOW_TO_CALL}`,
    headers: { 'WWW-Authenticate': `Bearer realm="emailauth", error="invalid_token", error_description="${what}"` },
  };
}
