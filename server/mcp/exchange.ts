import { createMcpHandler, isLegacyRequest, type McpServer, WebStandardStreamableHTTPServerTransport } from '@modelcontextprotocol/server';

type Fetch = ReturnType<typeof createMcpHandler>['fetch'];

/** In bytes; more than the input of any tool. */
const maxRequestBodySize = 64 * 1024;

/** Only protocol version 2025-03-26 has batches, and clients send short ones. */
const MAX_BATCH_SIZE = 10;

/**
 * Returns a fetch handler for MCP over Streamable HTTP that supports the current and the older protocol versions. Every request gets
 * a new server. Responses are JSON and not event streams: no tool sends anything before its result, and proxies buffer streams.
 * @param open makes the server for the caller in `authInfo`
 */
export function createExchange(open: (options: Parameters<Fetch>[1]) => McpServer): { fetch: Fetch; maxRequestBodySize: number } {
  const modern = createMcpHandler(({ authInfo }) => open({ authInfo }), { legacy: 'reject', maxRequestBodySize });
  const fetch: Fetch = async (request, options) => {
    if (!(await isLegacyRequest(request, undefined, { maxRequestBodySize }))) return modern.fetch(request, options);
    if ((await batchSizeOf(request.clone())) > MAX_BATCH_SIZE) return batchTooLarge();
    const server = open(options);
    const transport = new WebStandardStreamableHTTPServerTransport({ enableJsonResponse: true, maxRequestBodySize });
    // Without a response to send, handleRequest never resolves.
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
