import { createMcpHandler, isLegacyRequest, type McpServer, WebStandardStreamableHTTPServerTransport } from '@modelcontextprotocol/server';

type Fetch = ReturnType<typeof createMcpHandler>['fetch'];

/** More than the input of any tool. */
const maxRequestBodySize = 64 * 1024;

/** Only the protocol of 2025-03-26 has batches, and no client sends long ones. */
const MAX_BATCHED = 10;

/**
 * Answers one HTTP request a call, in both eras of the protocol, each time with a server of its own. Answers are JSON: no tool
 * sends anything before its result, and proxies hold event streams back.
 * @param open makes the server for the caller in `authInfo`
 */
export function createExchange(open: (options: Parameters<Fetch>[1]) => McpServer): { fetch: Fetch; maxRequestBodySize: number } {
  const modern = createMcpHandler(({ authInfo }) => open({ authInfo }), { legacy: 'reject', maxRequestBodySize });
  const fetch: Fetch = async (request, options) => {
    if (!(await isLegacyRequest(request, undefined, { maxRequestBodySize }))) return modern.fetch(request, options);
    if ((await messagesIn(request.clone())) > MAX_BATCHED) return tooMany();
    const server = open(options);
    const transport = new WebStandardStreamableHTTPServerTransport({ enableJsonResponse: true, maxRequestBodySize });
    // A client that leaves gets no answer, so that nothing below comes to its end.
    request.signal.addEventListener('abort', () => void server.close());
    await server.connect(transport);
    try {
      return await transport.handleRequest(request, options);
    } finally {
      await server.close();
    }
  };
  return { fetch, maxRequestBodySize };
}

/** How many messages a body holds; broken ones are told by the SDK. */
async function messagesIn(request: Request): Promise<number> {
  try {
    const body: unknown = await request.json();
    return Array.isArray(body) ? body.length : 1;
  } catch {
    return 1;
  }
}

function tooMany(): Response {
  const message = `A batch holds at most ${MAX_BATCHED} messages. Send the others by themselves.`;
  return Response.json({ jsonrpc: '2.0', error: { code: -32600, message }, id: null }, { status: 400 });
}
