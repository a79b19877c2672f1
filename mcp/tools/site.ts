import { z } from 'zod';
import type { Output } from '../../contract/routes.ts';

/** A site as the tools show it. */
export const Site = z.object({
  domain: z.string().describe('As A-label'),
  verified: z.boolean().describe('Whether the domain is proved to be its owner’s'),
  iconUrl: z.string().nullable(),
  createdAt: z.string().describe('ISO 8601'),
});

/** What the tools show of an answer of the API. */
export const siteOf = ({ domain, verified, iconUrl, createdAt }: Output<'listWebsites'>[number]): z.input<typeof Site> => ({
  domain,
  verified,
  iconUrl,
  createdAt,
});

/** One line on a site. */
export const siteText = ({ domain, verified, createdAt }: z.output<typeof Site>) =>
  `${domain}: ${verified ? 'proved' : 'not proved yet'}, since ${createdAt.slice(0, 10)}.`;
