import { z } from 'zod';
import { ApiError } from '../../contract/client.ts';
import { defineTool } from '../tool.ts';

export const getStatus = defineTool({
  name: 'get_status',
  title: 'Service and sign-in',
  description:
    'Tells which Email Auth service this is, whether you are signed in there and how many sites you manage. Nothing else needs it first: register_domain, list_frameworks, scaffold_integration, verify_token and search_docs work without a sign-in.',
  annotations: { readOnlyHint: true, openWorldHint: false },
  input: z.object({}),
  output: z.object({
    version: z.string(),
    host: z.string().describe('Origin of the service'),
    authenticated: z.boolean(),
    email: z.string().optional().describe('Who is signed in'),
    siteCount: z.number().int(),
  }),
  async run(_, { client, host }, signal) {
    const [about, account] = await Promise.all([client.about({}, { signal }), client.me({}, { signal }).catch(nobody)]);
    const sites = account ? await client.listWebsites({}, { signal }) : [];
    return { version: about.version, host, authenticated: account !== null, email: account?.email, siteCount: sites.length };
  },
  text: ({ host, version, email, siteCount }) =>
    `Email Auth ${version} at ${host}. ${email ? `Signed in as ${email}, who manages ${siteCount} ${siteCount === 1 ? 'site' : 'sites'}.` : 'Nobody is signed in.'}`,
});

function nobody(error: unknown): null {
  if (error instanceof ApiError && error.code === 'sign_in_needed') return null;
  throw error;
}
