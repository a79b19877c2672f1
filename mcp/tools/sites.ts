import { z } from 'zod';
import { normalDomain } from '../../contract/rules.ts';
import { WebsiteUpdate } from '../../contract/websites.ts';
import { oneLine } from '../../diagnostics/check.ts';
import { hasCode, refusal } from '../result.ts';
import { type OwnSite, requireOwnSite } from '../service.ts';
import { defineTool } from '../tool.ts';
import { Domain, OwnDomain } from './fields.ts';

/** A website as the tools show it. */
const Site = z.object({
  domain: z.string().describe('As A-label'),
  verified: z.boolean().describe('Whether the owner has proved the domain'),
  iconUrl: z.string().nullable().describe('Path of its icon on the service; null: none'),
  createdAt: z.string().describe('ISO 8601'),
});

/** What proves a domain. */
export const Proof = z
  .object({ record: z.string(), value: z.string(), fileUrl: z.string(), fileBody: z.string() })
  .describe('What proves the domain: the TXT record with its value, or the file with its body');

const SiteWithProof = Site.extend({ proof: Proof });

const toSite = ({ domain, verified, iconUrl, createdAt }: OwnSite): z.input<typeof Site> => ({ domain, verified, iconUrl, createdAt });

/** Returns what get_site and the resource of a website show. */
export function toSiteWithProof(site: OwnSite): z.input<typeof SiteWithProof> {
  const { record, value, fileUrl, fileBody } = site.proof;
  return { ...toSite(site), proof: { record, value, fileUrl, fileBody } };
}

const describeSite = ({ domain, verified, iconUrl, createdAt }: z.output<typeof Site>) =>
  `${domain}: ${verified ? 'proved' : 'not proved yet'}, ${iconUrl ? 'with' : 'without'} an icon, since ${createdAt.slice(0, 10)}.`;

export const listSites = defineTool({
  name: 'list_sites',
  title: 'My websites',
  description:
    'Lists the websites of the signed-in account, each with its domain and whether the domain is proved. Call it to find the domain that get_site, update_site, delete_site, prove_domain and check_integration take. Websites of other accounts are never shown.',
  annotations: { readOnlyHint: true, destructiveHint: false, idempotentHint: true, openWorldHint: false },
  input: z.object({}),
  output: z.object({ sites: z.array(Site) }),
  run: async (_, { client }, signal) => ({ sites: (await client.listWebsites({}, { signal })).map(toSite) }),
  text: ({ sites }) =>
    sites.length === 0 ? 'There is no website yet. Register one with register_domain.' : sites.map(describeSite).join('\n'),
});

export const getSite = defineTool({
  name: 'get_site',
  title: 'One of my websites',
  description:
    'Shows one website of the signed-in account, with the DNS record and the file that prove its domain. Call it to see its state, or before update_site and delete_site; prove_domain checks the proof.',
  annotations: { readOnlyHint: true, destructiveHint: false, idempotentHint: true, openWorldHint: false },
  input: z.strictObject({ domain: OwnDomain }),
  output: SiteWithProof,
  run: async ({ domain }, { client }, signal) => toSiteWithProof(await requireOwnSite(client, domain, signal)),
  text(site) {
    if (site.verified) return describeSite(site);
    const { record, value, fileUrl, fileBody } = site.proof;
    return `${describeSite(site)}
To prove the domain, publish one of these:
- the TXT record ${record} with the value ${value}
- the file ${fileUrl} with the body ${fileBody}
Then call prove_domain.`;
  },
});

export const updateSite = defineTool({
  name: 'update_site',
  title: 'Change a website',
  description:
    'Moves a website of the signed-in account to another domain, or removes its icon. A move ends the sign-ins at the old domain, and the new one has to be proved again: ask the person first. Give newDomain, iconUrl or both. A new icon is uploaded in the dashboard or with `emailauth sites update --icon`.',
  annotations: { readOnlyHint: false, destructiveHint: true, idempotentHint: true, openWorldHint: false },
  input: z.strictObject({
    domain: OwnDomain,
    newDomain: Domain.describe('The domain that replaces it').optional(),
    iconUrl: WebsiteUpdate.shape.iconUrl.describe('null removes the icon; a path is that of an icon uploaded before'),
  }),
  output: Site.extend({ movedFrom: z.string().optional().describe('The previous domain, where sign-ins have ended') }),
  async run({ domain, newDomain, iconUrl }, { client }, signal) {
    if (newDomain === undefined && iconUrl === undefined)
      throw refusal('bad_request', 'There is nothing to change.', 'Give newDomain or iconUrl.');
    const site = await requireOwnSite(client, domain, signal);
    const wanted = newDomain ?? site.domain;
    const changed = await client.updateWebsite({ id: site.id, domain: wanted, iconUrl }, { signal }).catch((error) => {
      if (!hasCode(error, 'domain_taken')) throw error;
      throw refusal('domain_taken', `${oneLine(wanted, 80)} is registered already.`, 'Choose another domain; nothing was changed.');
    });
    return { ...toSite(changed), movedFrom: changed.domain === site.domain ? undefined : site.domain };
  },
  text: (site) =>
    `${describeSite(site)}${site.movedFrom ? ` Sign-ins at ${site.movedFrom} have ended. Change the app’s settings: scaffold_integration returns them for ${site.domain}.` : ''}`,
});

export const deleteSite = defineTool({
  name: 'delete_site',
  title: 'Delete a website',
  description:
    'Deletes a website of the signed-in account permanently: visitors can no longer sign in there, and anyone may register the domain. Call it only when the person asked for exactly this domain to be deleted, and repeat the domain in confirmDomain.',
  annotations: { readOnlyHint: false, destructiveHint: true, idempotentHint: true, openWorldHint: false },
  input: z.strictObject({
    domain: OwnDomain,
    confirmDomain: z.string().max(253).describe('The same domain again, as the person confirmed it'),
  }),
  output: z.object({ domain: z.string(), deleted: z.literal(true) }),
  async run({ domain, confirmDomain }, { client }, signal) {
    const site = await requireOwnSite(client, domain, signal);
    if (normalDomain(confirmDomain) !== site.domain) {
      throw refusal(
        'confirmation_needed',
        `confirmDomain is not ${site.domain}, so nothing was deleted.`,
        'Ask the person whether this website is to be deleted, and only then repeat its domain in confirmDomain.',
      );
    }
    await client.deleteWebsite({ id: site.id }, { signal });
    return { domain: site.domain, deleted: true as const };
  },
  text: ({ domain }) => `${domain} is deleted. Visitors can no longer sign in there. Remove the sign-in from its app.`,
});
