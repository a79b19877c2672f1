import type { McpContext } from './context.ts';

/** What a model reads before it chooses a tool. */
export const instructions = ({ host }: McpContext) =>
  `Email Auth at ${host}: passwordless email sign-in for any site. To add it to an app: register_domain, scaffold_integration, write the files, check_integration. During development the domain localhost is registered already where the service runs in local mode.`;
