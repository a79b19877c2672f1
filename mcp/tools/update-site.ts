import { z } from 'zod';
import { oneLine } from '../../contract/check.ts';
import { WebsiteUpdate } from '../../contract/websites.ts';
import { isAnswer, refusal } from '../result.ts';
import { ownSite } from '../sites.ts';
import { defineTool } from '../tool.ts';
import { Domain, OwnDomain } from './fields.ts';
import { Site, siteOf, siteText } from './site.ts';

export const updateSite = defineTool({
  name: 'update_site',
  title: 'Change a site',
  description:
    'Moves a site of whoever is signed in to another domain, or removes its icon. A move ends the sign-ins at the old domain, and the new one has to be proved anew: ask the person first. Give newDomain, iconUrl or both. A new icon is uploaded in the dashboard.',
  annotations: { readOnlyHint: false, destructiveHint: true, idempotentHint: true, openWorldHint: false },
  input: z.strictObject({
    domain: OwnDomain,
    newDomain: Domain.describe('The domain that takes its place').optional(),
    iconUrl: WebsiteUpdate.shape.iconUrl.describe('null removes the icon; a path is that of an icon uploaded before'),
  }),
  output: Site.extend({ movedFrom: z.string().optional().describe('The domain that it had before, where sign-ins have ended') }),
  async run({ domain, newDomain, iconUrl }, { client }, signal) {
    if (newDomain === undefined && iconUrl === undefined)
      throw refusal('bad_request', 'There is nothing to change.', 'Give newDomain or iconUrl.');
    const site = await ownSite(client, domain, signal);
    const wanted = newDomain ?? site.domain;
    const changed = await client.updateWebsite({ id: site.id, domain: wanted, iconUrl }, { signal }).catch((error) => {
      if (!isAnswer(error, 'domain_taken')) throw error;
      throw refusal('domain_taken', `${oneLine(wanted, 80)} is registered already.`, 'Choose another domain; nothing was changed.');
    });
    return { ...siteOf(changed), movedFrom: changed.domain === site.domain ? undefined : site.domain };
  },
  text: (site) =>
    `${siteText(site)}${site.movedFrom ? ` Sign-ins at ${site.movedFrom} have ended. Change the app’s settings: scaffold_integration gives them for ${site.domain}.` : ''}`,
});
