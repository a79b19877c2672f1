import { z } from 'zod';
import { Email } from './signin.ts';

const domain = z.string({ error: 'Domain is required' }).trim().min(1, 'Domain is required').max(253);

/** Where a stored icon is; null: none. */
const iconUrl = z
  .string()
  .regex(/^\/objects\/uploads\/[0-9a-f-]{36}$/, 'Upload the icon first and give the path it got')
  .nullable();

export const DomainInput = z.object({ domain });
export const WebsiteInput = DomainInput.extend({ iconUrl: iconUrl.optional() });
export const DomainParams = z.object({ domain: z.string().min(1).max(253) });
export const WebsiteParams = z.object({ id: z.uuid() });
export const WebsiteUpdate = WebsiteParams.extend({
  domain,
  iconUrl: iconUrl.optional().meta({ description: 'Left out: as it is; null: none' }),
});
export const RegisterRequest = z.object({ domain, email: Email });

/** What anybody may know of a registered site. */
export const PublicWebsite = z.object({
  domain: z.string().meta({ description: 'The registered domain, as A-label' }),
  displayDomain: z.string().meta({ description: 'The same, decoded for people' }),
  verified: z.boolean(),
  iconUrl: z.string().nullable(),
});

/** A site as its owner sees it. */
export const Website = PublicWebsite.extend({
  id: z.uuid(),
  createdAt: z.string(),
  proof: z.object({
    record: z.string().meta({ description: 'Name of the TXT record' }),
    value: z.string().meta({ description: 'Its value' }),
    fileUrl: z.string(),
    fileBody: z.string(),
  }),
});
export const WebsiteList = z.array(Website);

export const RegisterAnswer = z.object({
  domain: z.string(),
  email: z.string(),
  authUrl: z.string().meta({ description: 'The sign-in page to send visitors to' }),
});

/** The answer to a proof request for a domain that is not one's own yet. */
export const Claim = z.object({ domain: z.string(), proof: Website.shape.proof });

/** Where to PUT an icon's bytes, once, with its content type; the path without the query then is its iconUrl. */
export const UploadAnswer = z.object({ uploadURL: z.string() });
