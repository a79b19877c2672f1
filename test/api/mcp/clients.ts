import { Client as Modern, StreamableHTTPClientTransport as ModernTransport } from '@modelcontextprotocol/client';
import { Client as Older } from '@modelcontextprotocol/sdk/client/index.js';
import { StreamableHTTPClientTransport as OlderTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js';

const self = { name: 'emailauth-tests', version: '1.0.0' };

/** The common methods of the official clients of both generations. */
export type McpClient = Pick<
  Modern,
  'listTools' | 'callTool' | 'listResources' | 'listResourceTemplates' | 'readResource' | 'listPrompts' | 'getPrompt' | 'complete' | 'close'
>;

export type Generation = keyof typeof generations;

/** The official clients: for the protocol of 2026-07-28, for the previous protocol in the same package, and the older package. */
export const generations = {
  'client 2.x': (url: string, token?: string, networkAddress?: string) => connectModern(url, token, { pin: '2026-07-28' }, networkAddress),
  'client 2.x, older protocol': (url: string, token?: string) => connectModern(url, token, 'legacy'),
  'sdk 1.x': connectOlder,
};

async function connectModern(
  url: string,
  token: string | undefined,
  mode: 'legacy' | { pin: string },
  networkAddress?: string,
): Promise<McpClient> {
  const headers = { ...bearer(token), ...(networkAddress && { 'X-Forwarded-For': networkAddress }) };
  const client = new Modern(self, { versionNegotiation: { mode } });
  await client.connect(new ModernTransport(new URL('/mcp', url), { requestInit: { headers } }));
  return client;
}

async function connectOlder(url: string, token?: string): Promise<McpClient> {
  const client = new Older(self);
  await client.connect(new OlderTransport(new URL('/mcp', url), { requestInit: { headers: bearer(token) } }));
  return client as unknown as McpClient;
}

const bearer = (token: string | undefined): Record<string, string> => (token === undefined ? {} : { Authorization: `Bearer ${token}` });

/** Calls a tool. @returns `failed`: the error text of the tool, or null when it succeeded */
export async function callTool(client: McpClient, name: string, input: Record<string, unknown> = {}) {
  const { isError, structuredContent, content } = await client.callTool({ name, arguments: input });
  const text = (content as { type: string; text: string }[]).map((part) => part.text).join('\n');
  return { failed: isError ? text : null, response: (structuredContent ?? {}) as Record<string, unknown>, text };
}

/** Calls a tool that must fail. @returns its error text */
export async function failing(client: McpClient, name: string, input: Record<string, unknown> = {}): Promise<string> {
  const { failed } = await callTool(client, name, input);
  if (failed === null) throw new Error(`${name} succeeded with ${JSON.stringify(input).slice(0, 200)}`);
  return failed;
}

/** Calls a tool that must succeed. @returns its structured content and its text */
export async function succeeding(client: McpClient, name: string, input: Record<string, unknown> = {}) {
  const { failed, response, text } = await callTool(client, name, input);
  if (failed !== null) throw new Error(`${name} failed: ${failed}`);
  // biome-ignore lint/suspicious/noExplicitAny: the tests check results of any shape.
  return { response: response as any, text };
}
