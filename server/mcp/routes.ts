import type { ServerResponse } from 'node:http';
import type { AuthInfo } from '@modelcontextprotocol/server';
import { Router } from 'express';
import type { Client } from '../../contract/client.ts';
import type { Dns } from '../../diagnostics/dns.ts';
import type { DirectCaller } from '../http/direct-client.ts';
import { type AdmissionParts, admit, HOW_TO_CALL, type Refusal, refusalOfPlace } from './admission.ts';

type Parts = AdmissionParts & {
  version: string;
  /** Headers of every answer. */
  headers: Record<string, string>;
  clientOf(caller: DirectCaller): Client;
  /** For the checks of websites; its `lookup` returns public addresses only. */
  dns: Dns;
  /** Counts a check of a website of the caller. @throws ApiError rate_limited */
  countSiteCheck(caller: DirectCaller): Promise<void>;
  openApi(): Promise<object>;
  report(error: unknown): string;
};

/** Longer than any tool takes; a call that its client has cancelled gets no answer at all. */
const MAX_MS = 30_000;

/** /mcp: the MCP server over Streamable HTTP, without sessions, for whoever the bearer token names. */
export function mcpRouter(parts: Parts): Router {
  const router = Router();
  let handler: ReturnType<typeof openHandler> | undefined;
  router.all('/mcp', async (request, response) => {
    for (const [name, value] of Object.entries(parts.headers)) response.setHeader(name, value);
    const caller = refusalOfPlace(request, parts.publicUrl) ?? (await admit(request, parts));
    if ('status' in caller) return refuse(response, caller);
    const auth: AuthInfo = { token: '', clientId: '', scopes: [], extra: { caller } };
    handler ??= openHandler(parts).catch((error) => {
      handler = undefined;
      throw error;
    });
    const timer = setTimeout(() => response.destroy(), MAX_MS);
    response.once('close', () => clearTimeout(timer));
    await (await handler)(Object.assign(request, { auth }), response);
  });
  return router;
}

/** In the shape that MCP clients read (JSON-RPC 2.0 §5.1). */
function refuse(response: ServerResponse, { status, message, headers }: Refusal): void {
  const code = status >= 500 ? -32603 : -32000;
  const body = JSON.stringify({ jsonrpc: '2.0', error: { code, message }, id: null });
  response.writeHead(status, { ...headers, 'Content-Type': 'application/json' }).end(body);
}

/** The SDK is imported by the first request. */
async function openHandler(parts: Parts) {
  const { publicUrl, version, clientOf, dns, countSiteCheck, openApi, report } = parts;
  const [{ createExchange }, { toNodeHandler }, { createServer }, { createWebsiteChecks }] = await Promise.all([
    import('./exchange.ts'),
    import('@modelcontextprotocol/node'),
    import('../../mcp/server.ts'),
    import('../../diagnostics/website-checks.ts'),
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
      howToSignIn: HOW_TO_CALL,
      checkWebsite: createWebsiteChecks({ client, service: publicUrl, dns, from: 'service', beforeRequests: () => countSiteCheck(caller) }),
      openApi,
      report,
    });
  });
  return toNodeHandler(exchange, { maxRequestBodySize: exchange.maxRequestBodySize, onerror: (error) => isLeave(error) || report(error) });
}

/** Whether a client went in the middle of its request, which is no fault of ours. */
const isLeave = (error: Error) => (error as NodeJS.ErrnoException).code === 'ECONNRESET';
