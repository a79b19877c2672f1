import { McpServer } from '@modelcontextprotocol/server';
import type { McpContext } from './context.ts';
import { instructions } from './instructions.ts';
import { registerPrompts } from './prompts.ts';
import { registerResources } from './resources.ts';
import { tools } from './tools.ts';

export type { CheckSite, McpContext, SignIn, SiteCheck } from './context.ts';

/**
 * The MCP server of Email Auth, for any transport: tools, resources and prompts.
 * @param given who calls, and what a transport adds
 */
export function createServer(given: McpContext): McpServer {
  const context = given.readOnly && given.signIn ? { ...given, howToSignIn: 'Ask the person to run `emailauth login`.' } : given;
  const server = new McpServer(
    { name: 'emailauth', title: 'Email Auth', version: context.version, websiteUrl: context.host },
    { instructions: instructions(context) },
  );
  for (const tool of tools) {
    if (tool.offered(context) && (tool.readOnly || !context.readOnly)) tool.register(server, context);
  }
  registerResources(server, context);
  registerPrompts(server, context);
  return server;
}
