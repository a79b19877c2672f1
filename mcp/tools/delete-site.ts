import { z } from 'zod';
import { normalHost } from '../../contract/rules.ts';
import { refusal } from '../result.ts';
import { ownSite } from '../sites.ts';
import { defineTool } from '../tool.ts';
import { OwnDomain } from './fields.ts';

export const deleteSite = defineTool({
  name: 'delete_site',
  title: 'Delete a site',
  description:
    'Deletes a site of whoever is signed in, for good: visitors can no longer sign in there, and anybody may register the domain. Call it only when the person asked for exactly this domain to be deleted, and repeat the domain in confirmDomain.',
  annotations: { readOnlyHint: false, destructiveHint: true, idempotentHint: true, openWorldHint: false },
  input: z.strictObject({
    domain: OwnDomain,
    confirmDomain: z.string().max(253).describe('The same domain again, as the person confirmed it'),
  }),
  output: z.object({ domain: z.string(), deleted: z.literal(true) }),
  async run({ domain, confirmDomain }, { client }, signal) {
    const site = await ownSite(client, domain, signal);
    if (normalHost(confirmDomain.trim()) !== site.domain) {
      throw refusal(
        'confirmation_needed',
        `confirmDomain is not ${site.domain}, so nothing was deleted.`,
        'Ask the person whether this site is to be deleted, and only then repeat its domain in confirmDomain.',
      );
    }
    await client.deleteWebsite({ id: site.id }, { signal });
    return { domain: site.domain, deleted: true as const };
  },
  text: ({ domain }) => `${domain} is deleted. Nobody can sign in there any more. Take the sign-in out of its app.`,
});
