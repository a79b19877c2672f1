import { z } from 'zod';
import { inboxAt } from '../inbox.ts';
import { signedIn } from '../sites.ts';
import { defineTool } from '../tool.ts';

export const getStatus = defineTool({
  name: 'get_status',
  title: 'Service and sign-in',
  description:
    'Tells which Email Auth service this is, whether it runs in local mode (then the domain localhost works at once), who is signed in and how many sites they have. Call it first when you do not know these. Nothing else needs it: register_domain, list_frameworks, scaffold_integration, verify_token and search_docs work without a sign-in.',
  annotations: { readOnlyHint: true, destructiveHint: false, idempotentHint: true, openWorldHint: false },
  input: z.object({}),
  output: z.object({
    version: z.string(),
    host: z.string().describe('Origin of the service'),
    mode: z.enum(['local', 'production']).describe('local: for development; the domain localhost works without a registration'),
    inbox: z.string().optional().describe('Where to read the mails, when they do not leave the machine'),
    authenticated: z.boolean(),
    email: z.string().optional().describe('Who is signed in'),
    siteCount: z.number().int(),
  }),
  async run(_, { client, host }, signal) {
    const [about, caller] = await Promise.all([client.about({}, { signal }), signedIn(client, signal)]);
    return {
      version: about.version,
      host,
      mode: about.mode,
      inbox: inboxAt(host, about),
      authenticated: caller !== null,
      email: caller?.email,
      siteCount: caller?.sites.length ?? 0,
    };
  },
  text({ host, version, mode, inbox, email, siteCount }, { howToSignIn }) {
    const sites = siteCount === 1 ? '1 site' : `${siteCount} sites`;
    return [
      `Email Auth ${version} at ${host}, in ${mode} mode.`,
      mode === 'local'
        ? 'The domain localhost works at once: call scaffold_integration with it.'
        : 'Register a domain with register_domain.',
      ...(inbox ? [`Mails stay on this machine: read them at ${inbox}.`] : []),
      email ? `Signed in as ${email}, who has ${sites}.` : `Nobody is signed in, which only the caller's own sites need. ${howToSignIn}`,
    ].join(' ');
  },
});
