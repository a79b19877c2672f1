import { z } from 'zod';
import { ownSite } from '../sites.ts';
import { defineTool } from '../tool.ts';
import { OwnDomain } from './fields.ts';
import { SiteWithProof, siteText, siteWithProofOf } from './site.ts';

export const getSite = defineTool({
  name: 'get_site',
  title: 'One of my sites',
  description:
    'Shows one site of whoever is signed in, with the DNS record and the file that prove its domain. Call it to help somebody prove a domain, or before update_site and delete_site.',
  annotations: { readOnlyHint: true, destructiveHint: false, idempotentHint: true, openWorldHint: false },
  input: z.strictObject({ domain: OwnDomain }),
  output: SiteWithProof,
  run: async ({ domain }, { client }, signal) => siteWithProofOf(await ownSite(client, domain, signal)),
  text(site, { host }) {
    if (site.verified) return siteText(site);
    const { record, value, fileUrl, fileBody } = site.proof;
    return `${siteText(site)}
To prove the domain, publish one of these:
- the TXT record ${record} with the value ${value}
- the file ${fileUrl} with the body ${fileBody}
Then let the person verify it under My Websites at ${host}/developer, or with \`emailauth sites verify ${site.domain}\`.`;
  },
});
