import { z } from 'zod';
import { defineTool } from '../tool.ts';
import { Site, siteOf, siteText } from './site.ts';

export const listSites = defineTool({
  name: 'list_sites',
  title: 'My sites',
  description:
    'Lists the sites of whoever is signed in, each with its domain and whether the domain is proved. Call it to find the domain that get_site, update_site, delete_site and check_integration take. Other people’s sites are never shown.',
  annotations: { readOnlyHint: true, destructiveHint: false, idempotentHint: true, openWorldHint: false },
  input: z.object({}),
  output: z.object({ sites: z.array(Site) }),
  run: async (_, { client }, signal) => ({ sites: (await client.listWebsites({}, { signal })).map(siteOf) }),
  text: ({ sites }) => (sites.length === 0 ? 'There is no site yet. Register one with register_domain.' : sites.map(siteText).join('\n')),
});
