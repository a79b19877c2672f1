import type { IncomingMessage } from 'node:http';
import type { AuthInfo } from '@modelcontextprotocol/server';
import { Router } from 'express';
import type { Client } from '../../contract/client.ts';
import type { McpContext } from '../../mcp/server.ts';
import { clientAddressOf } from '../http/client-address.ts';
import type { DirectCaller } from '../http/direct-client.ts';
import type { Identity } from '../http/serve.ts';

type Parts = {
  publicUrl: string;
  trustProxy: number;
  version: string;
  clientOf(caller: DirectCaller): Client;
  identityOf(request: IncomingMessage): Promise<Identity | null>;
  checkSite: McpContext['checkSite'];
  openApi: McpContext['openApi'];
  report: McpContext['report'];
};

/** /mcp: the MCP server over Streamable HTTP, stateless, for whoever the bearer token names. */
export function mcpRouter(parts: Parts): Router {
  const router = Router();
  let handler: ReturnType<typeof openHandler> | undefined;
  router.all('/mcp', async (request, response) => {
    const { authorization } = request.headers;
    const identity = authorization === undefined ? null : await parts.identityOf(request);
    const caller: DirectCaller = { identity, authorization, clientAddress: clientAddressOf(request, parts.trustProxy) };
    const auth: AuthInfo = { token: '', clientId: '', scopes: [], extra: { caller } };
    handler ??= openHandler(parts);
    await (await handler)(Object.assign(request, { auth }), response);
  });
  return router;
}

/** The SDK is imported by the first request. */
async function openHandler({ publicUrl, version, clientOf, checkSite, openApi, report }: Parts) {
  const [{ createMcpHandler }, { toNodeHandler }, { createServer }] = await Promise.all([
    import('@modelcontextprotocol/server'),
    import('@modelcontextprotocol/node'),
    import('../../mcp/server.ts'),
  ]);
  const handler = createMcpHandler(({ authInfo }) =>
    createServer({
      client: clientOf(authInfo?.extra?.caller as DirectCaller),
      host: publicUrl,
      version,
      readOnly: false,
      signIn: null,
      howToSignIn: 'Send Authorization: Bearer with an API key of the dashboard, or with what `emailauth token` prints.',
      checkSite,
      openApi,
      report,
    }),
  );
  return toNodeHandler(handler);
}
