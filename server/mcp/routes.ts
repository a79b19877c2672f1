import type { ServerResponse } from 'node:http';
import type { AuthInfo } from '@modelcontextprotocol/server';
import { Router } from 'express';
import type { Client } from '../../contract/client.ts';
import type { DirectCaller } from '../http/direct-client.ts';
import type { PublicNames } from '../websites/public-names.ts';
import { type AdmissionParts, admit, HOW_TO_AUTHENTICATE, type Refusal, refuseForeignRequest } from './admission.ts';

type Parts = AdmissionParts & {
  version: string;
  /** Headers of every response. */
  headers: Record<string, string>;
  clientOf(caller: DirectCaller): Client;
  /** Resolves the hosts of websites to check. */
  names: PublicNames;
  /** Counts a check of one of the caller's websites. @throws ApiError rate_limited */
  countSiteCheck(caller: DirectCaller): Promise<void>;
  openApi(): Promise<object>;
  report(error: unknown): string;
};

/** Longer than any tool takes. The SDK sends no response to a call that its client has cancelled. */
const TIMEOUT_MS = 30_000;

/** POST /mcp: the MCP server over Streamable HTTP, without sessions, for anonymous callers and for accounts by bearer token. */
export function mcpRouter(parts: Parts): Router {
  const router = Router();
  let handler: ReturnType<typeof openHandler> | undefined;
  router.all('/mcp', async (request, response) => {
    for (const [name, value] of Object.entries(parts.headers)) response.setHeader(name, value);
    const caller = refuseForeignRequest(request, parts.publicUrl) ?? (await admit(request, parts));
    if ('status' in caller) return refuse(response, caller);
    const auth: AuthInfo = { token: '', clientId: '', scopes: [], extra: { caller } };
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

/** Sends an error response of JSON-RPC 2.0 (§5.1), which MCP clients expect. */
function refuse(response: ServerResponse, { status, message, headers }: Refusal): void {
  const code = status >= 500 ? -32603 : -32000;
  const body = JSON.stringify({ jsonrpc: '2.0', error: { code, message }, id: null });
  response.writeHead(status, { ...headers, 'Content-Type': 'application/json' }).end(body);
}

/** Imports the SDK, which the first request does, and returns the request handler. */
async function openHandler(parts: Parts) {
  const { publicUrl, version, clientOf, names, countSiteCheck, openApi, report } = parts;
  const [{ createExchange }, { toNodeHandler }, { createCheckSite, createServer }] = await Promise.all([
    import('./exchange.ts'),
    import('@modelcontextprotocol/node'),
    import('../../mcp/server.ts'),
  ]);
  const exchange = createExchange((options) => {
    const caller = options?.authInfo?.extra?.caller as DirectCaller;
    const client = clientOf(caller);
    return createServer({
      client,
      host: publicUrl,
      version,
      readOnly: false,
      besideApp: false,
      signIn: null,
      howToSignIn: HOW_TO_AUTHENTICATE,
      checkSite: createCheckSite({ client, service: publicUrl, names, from: 'service', begin: () => countSiteCheck(caller) }),
      openApi,
      report,
    });
  });
  return toNodeHandler(exchange, {
    maxRequestBodySize: exchange.maxRequestBodySize,
    onerror: (error) => isDisconnect(error) || report(error),
  });
}

/** Returns whether the client closed the connection in the middle of its request. */
const isDisconnect = (error: Error) => (error as NodeJS.ErrnoException).code === 'ECONNRESET';
