import { createMcpHandler, isLegacyRequest, type McpServer, WebStandardStreamableHTTPServerTransport } from '@modelcontextprotocol/server';

type Fetch = ReturnType<typeof createMcpHandler>['fetch'];

/** More than the input of any tool. */
const maxRequestBodySize = 64 * 1024;

/**
 * Answers one HTTP request a call, in both eras of the protocol, each time with a server of its own. Answers are JSON: no tool
 * sends anything before its result, and proxies hold event streams back.
 * @param open makes the server for the caller in `authInfo`
 */
export function createExchange(open: (options: Parameters<Fetch>[1]) => McpServer): { fetch: Fetch; maxRequestBodySize: number } {
  const modern = createMcpHandler(({ authInfo }) => open({ authInfo }), { legacy: 'reject', maxRequestBodySize });
  const fetch: Fetch = async (request, options) => {
    if (!(await isLegacyRequest(request, undefined, { maxRequestBodySize }))) return modern.fetch(request, options);
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
