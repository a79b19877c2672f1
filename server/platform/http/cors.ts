import type { IncomingMessage } from 'node:http';

/** Headers of a response that pages of every origin may read, without cookies. */
export const ANY_ORIGIN = { 'Access-Control-Allow-Origin': '*', 'Cross-Origin-Resource-Policy': 'cross-origin' };

/** Which origins may call: null means all. */
export type AllowedOrigins = readonly string[] | null;

/** Headers that a page may read, besides those that Fetch always permits. */
const EXPOSED = 'Mcp-Session-Id, MCP-Protocol-Version, WWW-Authenticate, Retry-After, X-Request-Id';

/**
 * Returns the headers by which a page of another origin may read the response to its request, without cookies; for the page of an
 * origin that is not allowed, only that they depend on the origin.
 */
export function corsHeaders({ headers: { origin } }: IncomingMessage, allowed: AllowedOrigins): Record<string, string> {
  const readable = { ...ANY_ORIGIN, 'Access-Control-Expose-Headers': EXPOSED };
  if (allowed === null) return readable;
  return {
    Vary: 'Origin',
    ...(origin !== undefined && allowed.includes(origin) && { ...readable, 'Access-Control-Allow-Origin': origin }),
  };
}

/** Returns whether a request is the preflight of a page of an origin that is allowed (Fetch §3.2.2). */
export function isPreflight({ method, headers }: IncomingMessage, allowed: AllowedOrigins): boolean {
  const { origin } = headers;
  const asks = method === 'OPTIONS' && origin !== undefined && headers['access-control-request-method'] !== undefined;
  return asks && (allowed === null || allowed.includes(origin));
}

/** Returns the further headers of the response to a preflight. @param allowed the headers of the call; unset: all that it asks for */
export function preflightHeaders({ headers }: IncomingMessage, methods: string, allowed = headers['access-control-request-headers']) {
  return {
    'Access-Control-Allow-Methods': methods,
    ...(allowed !== undefined && { 'Access-Control-Allow-Headers': allowed }),
    'Access-Control-Max-Age': '86400',
  };
}
