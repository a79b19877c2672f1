import { McpServer } from '@modelcontextprotocol/server';
import type { McpContext } from './context.ts';
import { instructions } from './instructions.ts';
import { tools } from './tools.ts';

export type { CheckSite, McpContext, SignIn, SiteCheck } from './context.ts';
export { createCheckSite } from './site-checks/check-site.ts';

/**
 * The MCP server of Email Auth, for any transport: tools, resources and prompts.
 * @param context who calls, and what a transport adds
 */
export function createServer(context: McpContext): McpServer {
  const server = new McpServer(
    { name: 'emailauth', title: 'Email Auth', version: context.version, websiteUrl: context.host },
    { instructions: instructions(context) },
  );
  for (const tool of tools) {
    if (tool.offered(context) && (tool.readOnly || !context.readOnly)) tool.register(server, context);
  }
  return server;
}
