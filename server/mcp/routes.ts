import type { IncomingMessage, ServerResponse } from 'node:http';
import type { AuthInfo, McpServer } from '@modelcontextprotocol/server';
import accepts from 'accepts';
import { Router } from 'express';
import type { ApiError, Client } from '../../contract/client.ts';
import { Fault } from '../../contract/errors.ts';
import { openDns } from '../../diagnostics/dns.ts';
import { clientAddressOf, isLoopbackHostHeader } from '../platform/http/client-address.ts';
import { corsHeaders, isPreflight, preflightHeaders } from '../platform/http/cors.ts';
import { type DirectCaller, type Identity, toApiError } from '../platform/http/endpoint.ts';
import type { DescribeError } from '../platform/http/errors.ts';
import { requireOwnOrigin } from '../platform/http/protection.ts';
import { requestIdOf } from '../platform/http/request-record.ts';
import { challengeFor, wwwAuthenticate } from '../platform/http/resources.ts';
import type { Platform } from '../platform/platform.ts';
import { isPublicAddress } from '../websites/guarded-fetch.ts';

/** The response to a request that does not reach the MCP server. */
type Refusal = { status: number; message: string; headers?: Record<string, string> };

type Parts = Platform & {
  /** Returns the account of the Authorization header; cookies are ignored. @throws Fault bad_api_key */
  identityOf(request: IncomingMessage): Promise<Identity | null>;
  clientOf(caller: DirectCaller): Client;
  openApi(): Promise<object>;
};

/** How to authenticate, in words for a model. */
const HOW_TO_AUTHENTICATE =
  'Sign in with OAuth, which most clients begin by themselves, or send Authorization: Bearer with an API key from the dashboard or the token that `emailauth token` prints.';

/** Longer than any tool takes. The SDK sends no response to a call that its client has cancelled. */
const TIMEOUT_MS = 30_000;

/** More than the input of any tool. */
const MAX_BODY_BYTES = 64 * 1024;

/** Only protocol version 2025-03-26 has batches, and clients send short ones. */
const MAX_BATCH_SIZE = 10;

/** POST /mcp: the MCP server over Streamable HTTP, without sessions, for anonymous callers and for accounts by bearer token. */
export function mcpRouter(parts: Parts): Router {
  const router = Router();
  let handler: ReturnType<typeof openHandler> | undefined;
  router.all('/mcp', async (request, response) => {
    const { config, headers } = parts;
    const origins = config.mcpOrigins;
    for (const [name, value] of Object.entries({ ...headers, ...corsHeaders(request, origins) })) response.setHeader(name, value);
    const refusal = refuseForeignRequest(request, parts);
    if (!refusal && isPreflight(request, origins)) return void response.writeHead(204, preflightHeaders(request, METHODS)).end();
    const caller = refusal ?? refuseMethod(request) ?? (await admit(request, parts));
    if ('status' in caller) return refuse(response, caller);
    acceptBoth(request);
    const auth: AuthInfo = { token: '', clientId: '', scopes: [], extra: { exchange: { caller } satisfies Exchange } };
    handler ??= openHandler(parts).catch((error) => {
      handler = undefined;
      throw error;
    });
    const timer = setTimeout(() => response.destroy(), TIMEOUT_MS);
    response.once('close', () => clearTimeout(timer));
    await (await handler)(Object.assign(request, { auth }), response);
  });
  return router;
}

/** The methods that clients in pages try. All except POST get the response 405, which they expect of a server without sessions. */
const METHODS = 'POST, GET, DELETE';

/**
 * Returns why a request may not reach the MCP server, or null. A foreign Host header means DNS rebinding, a foreign Origin a page
 * elsewhere (MCP, Streamable HTTP, "Security Warning"): where it is allowed, only a bearer token decides what it may do.
 */
function refuseForeignRequest(request: IncomingMessage, { publicUrl, config: { mcpOrigins: origins } }: Parts): Refusal | null {
  const { host } = request.headers;
  // The port is not compared, because it may differ outside of a container.
  if (!isLoopbackHostHeader(host) && host?.toLowerCase().replace(/:\d+$/, '') !== new URL(publicUrl).hostname) {
    return { status: 403, message: `The Host header is wrong. Call ${publicUrl}/mcp; a proxy in front must pass the Host header on.` };
  }
  try {
    if (origins !== null) requireOwnOrigin(request, 'anyone', new Set([publicUrl, ...origins]));
  } catch {
    const message = 'Pages of this origin may not call this. Call it from a program, or add the origin to the setting MCP_ORIGINS.';
    return { status: 403, message };
  }
  return null;
}

function refuseMethod({ method }: IncomingMessage): Refusal | null {
  if (method === 'POST') return null;
  return { status: 405, message: 'This MCP server has no sessions: send each message by POST.', headers: { Allow: 'POST' } };
}

/** Lets a request accept event streams too, without which the SDK refuses it. Every response is JSON. */
function acceptBoth(request: IncomingMessage): void {
  const { accept } = request.headers;
  // Parameters of a type, such as a charset, say nothing about JSON.
  if (accept !== undefined) request.headers.accept = accept.replace(/;(?!\s*q\s*=)[^,;]*/gi, '').replace(/^\s*\*\s*$/, '*/*');
  if (accepts(request).type('json')) request.headers.accept = 'application/json, text/event-stream';
}

/**
 * Returns the caller of a request: anonymous without an Authorization header, else the account of its bearer token. The token of an
 * application is refused, because it only identifies an account.
 */
async function admit(request: IncomingMessage, parts: Parts): Promise<DirectCaller | Refusal> {
  const { authorization } = request.headers;
  const clientAddress = clientAddressOf(request, parts.trustProxy);
  const requestId = requestIdOf(request);
  if (authorization === undefined) return { identity: null, authorization, clientAddress, requestId };
  try {
    const identity = await parts.identityOf(request);
    if (!identity || identity.credential === 'application') return refuseToken(parts.publicUrl, UNKNOWN_TOKEN);
    return { identity, authorization, clientAddress, requestId };
  } catch (error) {
    if (!(error instanceof Fault) || error.status !== 401) return refusalOf(error, parts.describeError, requestId);
    return refuseToken(parts.publicUrl, error.code === 'bad_access_token' ? error.message : UNKNOWN_TOKEN);
  }
}

/** Returns an error of the service as a refusal, with the reference number of the log. */
function refusalOf(error: unknown, describeError: DescribeError, requestId: string): Refusal {
  const { fault, body } = describeError(error, 'mcp', requestId);
  return {
    status: fault.status,
    message: [body.error, body.hint, body.reference && `The reference number is ${body.reference}.`].filter(Boolean).join(' '),
    headers: fault.retryAfter ? { 'Retry-After': String(fault.retryAfter) } : {},
  };
}

/** Returns the response to a bearer token that is not valid. @param reason a sentence */
function refuseToken(publicUrl: string, reason: string): Refusal {
  return {
    status: 401,
    message: `${reason} ${HOW_TO_AUTHENTICATE}`,
    headers: { 'WWW-Authenticate': wwwAuthenticate(publicUrl, 'mcp', { error: 'invalid_token', description: reason }) },
  };
}

const UNKNOWN_TOKEN = 'This bearer token is not valid here: it is unknown, revoked, expired, or issued for an application.';

/** Sends an error response of JSON-RPC 2.0 (§5.1), which MCP clients expect. */
function refuse(response: ServerResponse, { status, message, headers }: Refusal): void {
  const code = status >= 500 ? -32603 : -32000;
  const body = JSON.stringify({ jsonrpc: '2.0', error: { code, message }, id: null });
  response.writeHead(status, { ...headers, 'Content-Type': 'application/json' }).end(body);
}

/** Imports the SDK, which the first request does, and returns the request handler. */
async function openHandler(parts: Parts) {
  const { config, publicUrl, version, limits, describeError, clientOf, openApi } = parts;
  const dns = openDns({ servers: config.dnsServers, isAllowedAddress: isPublicAddress });
  const report = (error: unknown, requestId?: string) => describeError(error, 'mcp', requestId).body.reference ?? '';
  const countSiteCheck = async ({ identity }: DirectCaller) => {
    await limits.hit('site_checks', identity?.email ?? '').catch((error) => {
      throw toApiError(describeError(error));
    });
  };
  const [sdk, { toNodeHandler }, { createServer }, { createWebsiteChecks }] = await Promise.all([
    import('@modelcontextprotocol/server'),
    import('@modelcontextprotocol/node'),
    import('../../mcp/server.ts'),
    import('../../diagnostics/website-checks.ts'),
  ]);
  const respond = createFetch(sdk, (options) => {
    const exchange = exchangeOf(options);
    const { caller } = exchange;
    const client = clientOf(caller);
    return createServer({
      client,
      host: publicUrl,
      version,
      readOnly: false,
      onDeveloperMachine: false,
      signIn: null,
      howToSignIn: HOW_TO_AUTHENTICATE,
      checkWebsite: createWebsiteChecks({ client, service: publicUrl, dns, from: 'service', beforeRequests: () => countSiteCheck(caller) }),
      openApi,
      report: (error) => report(error, caller.requestId),
      onDenied: (error) => {
        exchange.denied = error;
      },
    });
  });
  const fetch: Fetch = async (request, options) => withChallenge(await respond(request, options), exchangeOf(options), publicUrl);
  return toNodeHandler({ fetch }, { maxRequestBodySize: MAX_BODY_BYTES, onerror: (error) => isDisconnect(error) || report(error) });
}

/** A request and what came of it. `denied`: the error of a call that needs a sign-in, or another scope. */
type Exchange = { caller: DirectCaller; denied?: ApiError };

const exchangeOf = (options: { authInfo?: AuthInfo } | undefined) => options?.authInfo?.extra?.exchange as Exchange;

/**
 * Returns the response with the status by which a client starts OAuth (MCP, Authorization): 401 for an anonymous caller, 403 for an
 * access token with too few scopes. Its body stays that of the tool.
 */
function withChallenge(response: Response, { caller: { identity }, denied }: Exchange, publicUrl: string): Response {
  // An API key gets no other scopes by OAuth: its owner reads the text of the tool.
  if (!denied || (identity && identity.credential !== 'access_token')) return response;
  // A client requests exactly the scopes that are named, so those that it has are among them.
  const challenge = challengeFor(denied, identity?.scopes ?? []);
  if (!challenge) return response;
  const headers = new Headers(response.headers);
  headers.set('WWW-Authenticate', wwwAuthenticate(publicUrl, 'mcp', challenge));
  return new Response(response.body, { status: identity ? 403 : 401, headers });
}

/** Returns whether the client closed the connection in the middle of its request. */
const isDisconnect = (error: Error) => (error as NodeJS.ErrnoException).code === 'ECONNRESET';

type Sdk = typeof import('@modelcontextprotocol/server');
type Fetch = ReturnType<Sdk['createMcpHandler']>['fetch'];

/**
 * Returns the fetch handler for MCP over Streamable HTTP that supports the current and the older protocol versions. Every request gets
 * a new server. Responses are JSON and not event streams: no tool sends anything before its result, and proxies buffer streams.
 * @param open makes the server for the caller in `authInfo`
 */
function createFetch(sdk: Sdk, open: (options: Parameters<Fetch>[1]) => McpServer): Fetch {
  const maxRequestBodySize = MAX_BODY_BYTES;
  const modern = sdk.createMcpHandler(({ authInfo }) => open({ authInfo }), { legacy: 'reject', maxRequestBodySize });
  return async (request, options) => {
    if (!(await sdk.isLegacyRequest(request, undefined, { maxRequestBodySize }))) return modern.fetch(request, options);
    if ((await batchSizeOf(request.clone())) > MAX_BATCH_SIZE) return batchTooLarge();
    const server = open(options);
    const transport = new sdk.WebStandardStreamableHTTPServerTransport({ enableJsonResponse: true, maxRequestBodySize });
    // Without a response to send, handleRequest never resolves.
    request.signal.addEventListener('abort', () => void server.close());
    await server.connect(transport);
    try {
      return await transport.handleRequest(request, options);
    } finally {
      await server.close();
    }
  };
}

/** Returns the number of messages in a body; 1 when it is invalid, which the SDK reports. */
async function batchSizeOf(request: Request): Promise<number> {
  try {
    const body: unknown = await request.json();
    return Array.isArray(body) ? body.length : 1;
  } catch {
    return 1;
  }
}

function batchTooLarge(): Response {
  const message = `A batch may have at most ${MAX_BATCH_SIZE} messages. Send the others separately.`;
  return Response.json({ jsonrpc: '2.0', error: { code: -32600, message }, id: null }, { status: 400 });
}
