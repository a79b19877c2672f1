import { z } from 'zod';
import { findCaller, inboxAt } from '../service.ts';
import { defineTool } from '../tool.ts';

export const getStatus = defineTool({
  name: 'get_status',
  title: 'Service and sign-in',
  description:
    'Returns which Email Auth service this is, whether it runs in local mode (where the domain localhost works without a registration), who is signed in and how many websites they have. Call it first when you do not know these. No other tool depends on it: register_domain, list_frameworks, scaffold_integration, verify_token and search_docs work without a sign-in.',
  annotations: { readOnlyHint: true, destructiveHint: false, idempotentHint: true, openWorldHint: false },
  input: z.object({}),
  output: z.object({
    version: z.string(),
    host: z.string().describe('Origin of the service'),
    mode: z.enum(['local', 'production']).describe('local: for development; the domain localhost works without a registration'),
    inbox: z.string().optional().describe('Where to read the emails, when they stay on the machine of the service'),
    authenticated: z.boolean(),
    email: z.string().optional().describe('The address that is signed in'),
    siteCount: z.number().int(),
    unavailableTools: z.array(z.string()).describe('Tools that the documentation names and this session does not have'),
  }),
  async run(_, { client, host, signIn, readOnly }, signal) {
    const [about, caller] = await Promise.all([client.about({}, { signal }), findCaller(client, signal)]);
    return {
      version: about.version,
      host,
      mode: about.mode,
      inbox: inboxAt(host, about),
      authenticated: caller !== null,
      email: caller?.email,
      siteCount: caller?.sites.length ?? 0,
      // A read-only session also lacks every tool that writes.
      unavailableTools: signIn === null && !readOnly ? ['start_login', 'complete_login'] : [],
    };
  },
  text({ host, version, mode, inbox, email, siteCount, unavailableTools }, { howToSignIn, readOnly }) {
    const sites = siteCount === 1 ? '1 website' : `${siteCount} websites`;
    return [
      `Email Auth ${version} at ${host}, in ${mode} mode.`,
      mode === 'local'
        ? 'The domain localhost works without a registration: call scaffold_integration with it.'
        : 'Register a domain with register_domain.',
      ...(inbox ? [`Emails stay on the machine of the service: read them at ${inbox}.`] : []),
      email
        ? `Signed in as ${email}, who has ${sites}.`
        : `Not signed in; only the tools for own websites and the account need a sign-in. ${howToSignIn}`,
      ...(unavailableTools.length > 0
        ? [`This session has no ${unavailableTools.join(' and ')}: each request carries its credentials.`]
        : []),
      ...(readOnly ? ['This session is read-only: it has no tool that changes something.'] : []),
    ].join(' ');
  },
});
