import { z } from 'zod';
import { MAX_EXPORTED_VISITORS, VISITOR_DAYS, VISITORS_PAGE } from './limits.ts';
import { Email } from './signin.ts';
import { WebsiteParams } from './websites.ts';

export const VISITOR_SORTS = ['last', 'first', 'count', 'email'] as const;

export const VisitorsQuery = WebsiteParams.extend({
  search: z.string().trim().max(254).default('').meta({ description: 'A part of the address' }),
  sort: z.enum(VISITOR_SORTS).default('last'),
  order: z.enum(['asc', 'desc']).default('desc'),
  page: z.coerce
    .number()
    .int()
    .min(1)
    .max(1_000_000)
    .default(1)
    .meta({ description: `Of ${VISITORS_PAGE} visitors each` }),
});

/** An address that signed in to a website. */
export const Visitor = z.object({
  email: z.string().meta({ description: 'Masked until the domain is proven, except in local mode' }),
  firstAt: z.string().meta({ description: 'The first sign-in' }),
  lastAt: z.string().meta({ description: `The last sign-in; a visitor is forgotten ${VISITOR_DAYS} days after it` }),
  byEmail: z.number().int().meta({ description: 'Sign-ins by a link or code' }),
  remembered: z.number().int().meta({ description: 'Sign-ins with a remembered account or a passkey, without an email' }),
  openid: z.number().int().meta({ description: 'Sign-ins by OpenID Connect' }),
});

export const Visitors = z.object({
  visitors: z.array(Visitor),
  total: z.number().int().meta({ description: 'Visitors that match the search, on all pages' }),
  masked: z.boolean().meta({ description: 'Whether the addresses are masked, so that they cannot be searched, exported or erased' }),
  complete: z.boolean().meta({ description: 'False: after an upgrade or under heavy load, the newest sign-ins are not included yet' }),
});

export const VisitorsExportRequest = WebsiteParams.extend({
  email: Email.optional().meta({ description: 'One visitor; omitted: all of them' }),
  after: z.string().max(254).optional().meta({ description: '`next` of the previous response' }),
});
export const VisitorsExport = z.object({
  visitors: z.array(Visitor).meta({ description: `In the order of their addresses, at most ${MAX_EXPORTED_VISITORS}` }),
  next: z.string().nullable().meta({ description: 'For `after` of the next call; null: there are no more' }),
});

export const VisitorErasure = WebsiteParams.extend({ email: Email });
