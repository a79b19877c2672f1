import { McpServer } from '@modelcontextprotocol/server';
import { registerPrompts } from './prompts.ts';
import { registerResources } from './resources.ts';
import type { McpContext, Tool } from './tool.ts';
import { getAccount, listConnections, listDevices, revokeConnection, signOutDevice, updateAccount } from './tools/account.ts';
import {
  createApplication,
  deleteApplication,
  getApplication,
  listApiKeys,
  listApplications,
  revokeApiKey,
  updateApplication,
} from './tools/applications.ts';
import { checkIntegration, listFrameworks, scaffoldIntegration, searchDocs } from './tools/integration.ts';
import { completeLogin, getStatus, startLogin } from './tools/session.ts';
import { deleteSite, getSite, listSites, proveDomain, registerDomain, updateSite } from './tools/sites.ts';
import { explainSignIn, getStats, verifyToken } from './tools/visitors.ts';

/** Every tool, in the order in which clients show them. */
const tools: readonly Tool[] = [
  getStatus,
  registerDomain,
  listFrameworks,
  scaffoldIntegration,
  checkIntegration,
  explainSignIn,
  verifyToken,
  searchDocs,
  startLogin,
  completeLogin,
  listSites,
  getSite,
  updateSite,
  deleteSite,
  proveDomain,
  getStats,
  listApplications,
  getApplication,
  createApplication,
  updateApplication,
  deleteApplication,
  listApiKeys,
  revokeApiKey,
  listDevices,
  signOutDevice,
  listConnections,
  revokeConnection,
  getAccount,
  updateAccount,
];

const FIXED = { listChanged: false };

/** Returns the MCP server of Email Auth, with tools, resources and prompts, for any transport. */
export function createServer(context: McpContext): McpServer {
  const server = new McpServer(
    { name: 'emailauth', title: 'Email Auth', version: context.version, websiteUrl: context.host },
    // The lists never change, so that no client needs to keep a stream open for changes.
    { instructions: instructionsFor(context), capabilities: { tools: FIXED, resources: FIXED, prompts: FIXED } },
  );
  for (const tool of tools) {
    if (tool.isOffered(context) && (tool.readOnly || !context.readOnly)) tool.register(server, context);
  }
  registerResources(server, context);
  registerPrompts(server, context);
  return server;
}

/** Returns what a model reads before it chooses a tool: what the service is, the shortest way to use it, and the session's limits. */
function instructionsFor({ host, readOnly, howToSignIn, onDeveloperMachine }: McpContext): string {
  const register = readOnly
    ? `The domain has to be registered. This session is read-only: the person registers it at ${host}.`
    : 'register_domain with the domain and the address of the person.';
  const check = onDeveloperMachine
    ? 'Start the app, call check_integration, and fix what fails.'
    : `Once the app is online and its domain is verified (${readOnly ? 'get_site shows how' : 'prove_domain'}), call check_integration, and fix what fails.`;
  const accountTools = `list_sites, get_site, ${readOnly ? '' : 'update_site, delete_site, prove_domain, '}get_stats and check_integration`;
  return `Email Auth at ${host} gives any website a passwordless sign-in: the visitor enters an address, opens the link in the email, and returns to the website with a token that its server verifies once.
To add it to an app:
1. ${register} While the app runs on localhost, and get_status says local mode, skip this: localhost needs no registration.
2. scaffold_integration with the framework and the domain; write its files into the project.
3. ${check}
Then let the person sign in once; explain_sign_in shows what happened and how to fix it. search_docs answers questions.
${accountTools} are for the websites of the signed-in account${onDeveloperMachine ? '; check_integration for localhost needs no sign-in' : ''}. The tools for applications, API keys, devices and the account are for its person. ${howToSignIn}`;
}
