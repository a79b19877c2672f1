import { z } from 'zod';
import { Email } from './signin.ts';

const domain = z.string({ error: 'Domain is required' }).trim().min(1, 'Domain is required').max(253);

export const DomainInput = z.object({ domain });
export const DomainParams = z.object({ domain: z.string().min(1).max(253) });
export const WebsiteParams = z.object({ id: z.uuid() });
export const WebsiteUpdate = WebsiteParams.extend({ domain });
export const RegisterRequest = z.object({ domain, email: Email });

/** What anybody may know of a registered site. */
export const PublicWebsite = z.object({
  domain: z.string().meta({ description: 'The registered domain, as A-label' }),
  displayDomain: z.string().meta({ description: 'The same, decoded for people' }),
  verified: z.boolean(),
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
