import { z } from 'zod';
import type { OwnSite } from '../sites.ts';

/** A site as the tools show it. */
export const Site = z.object({
  domain: z.string().describe('As A-label'),
  verified: z.boolean().describe('Whether the domain is proved to be its owner’s'),
  iconUrl: z.string().nullable().describe('Path of its icon on the service; null: none'),
  createdAt: z.string().describe('ISO 8601'),
});

/** A site with how to prove that its domain is its owner's. */
export const SiteWithProof = Site.extend({
  proof: z
    .object({ record: z.string(), value: z.string(), fileUrl: z.string(), fileBody: z.string() })
    .describe('What proves the domain: the TXT record with its value, or the file with its body'),
});

/** What the tools show of an answer of the API. */
export const siteOf = ({ domain, verified, iconUrl, createdAt }: OwnSite): z.input<typeof Site> => ({
  domain,
  verified,
  iconUrl,
  createdAt,
});

/** The same with its proof. */
export function siteWithProofOf(site: OwnSite): z.input<typeof SiteWithProof> {
  const { record, value, fileUrl, fileBody } = site.proof;
  return { ...siteOf(site), proof: { record, value, fileUrl, fileBody } };
}

/** One line on a site. */
export const siteText = ({ domain, verified, iconUrl, createdAt }: z.output<typeof Site>) =>
  `${domain}: ${verified ? 'proved' : 'not proved yet'}, ${iconUrl ? 'with' : 'without'} an icon, since ${createdAt.slice(0, 10)}.`;
