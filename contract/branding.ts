import { z } from 'zod';
import { Branding, line } from './account.ts';
import { accentFault } from './colors.ts';
import { websiteNameFault } from './rules.ts';
import { WebsiteParams } from './websites.ts';

/** The branding of a website. An empty value means none, or for `fromName` and `logoUrl` those of the account. */
const fields = {
  name: line(websiteNameFault).meta({ description: 'Shown beside the host on the sign-in page, once the domain is proven' }),
  accent: line(accentFault)
    .transform((color) => color.toLowerCase())
    .meta({ description: 'The color of the button, as #rrggbb' }),
  ...Branding.shape,
};

export const WebsiteBranding = z.object({
  ...fields,
  defaults: Branding.meta({ description: 'Of the account of the linked address: what an empty value means in the emails' }),
});
export const WebsiteBrandingInput = WebsiteParams.extend(fields);
export const BrandingFields = z.object(fields);
