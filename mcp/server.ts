import { McpServer } from '@modelcontextprotocol/server';
import type { McpContext } from './context.ts';
import { instructions } from './instructions.ts';
import { registerPrompts } from './prompts.ts';
import { registerResources } from './resources.ts';
import { tools } from './tools.ts';

export { createCheckSite } from '../diagnostics/website/check-site.ts';
export type { CheckSite, McpContext, SignIn } from './context.ts';

const FIXED = { listChanged: false };

/**
 * The MCP server of Email Auth, for any transport: tools, resources and prompts.
 * @param context who calls, and what a transport adds
 */
export function createServer(context: McpContext): McpServer {
  const server = new McpServer(
    { name: 'emailauth', title: 'Email Auth', version: context.version, websiteUrl: context.host },
    // What is listed stays the same, so that nobody need keep a stream open for changes.
    { instructions: instructions(context), capabilities: { tools: FIXED, resources: FIXED, prompts: FIXED } },
  );
  for (const tool of tools) {
    if (tool.offered(context) && (tool.readOnly || !context.readOnly)) tool.register(server, context);
  }
  registerResources(server, context);
  registerPrompts(server, context);
  return server;
}
