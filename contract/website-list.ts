import { z } from 'zod';
import { MAX_LIST_PAGE, MAX_PAGE } from './limits.ts';
import { SetupStepState } from './setup.ts';
import { MAX_HOST_LENGTH } from './urls.ts';
import { Website } from './websites.ts';

const WEBSITE_SORTS = ['added', 'name', 'state', 'sign-ins', 'success', 'last', 'team'] as const;
export type WebsiteSort = (typeof WEBSITE_SORTS)[number];
export type SortOrder = 'asc' | 'desc';

export const WebsiteSearch = z.object({
  q: z.string().trim().max(MAX_HOST_LENGTH).default('').meta({ description: 'Part of the domain, as A-label or decoded' }),
  sort: z.enum(WEBSITE_SORTS).default('added').meta({
    description: 'By when it was added, domain, state of the domain, sign-ins, success, last sign-in or size of the team',
  }),
  order: z.enum(['asc', 'desc']).default('desc').meta({ description: 'What has no value comes last in both' }),
  page: z.coerce.number().int().min(1).max(MAX_PAGE).default(1),
  limit: z.coerce.number().int().min(1).max(MAX_LIST_PAGE).default(25),
});

/** The UTC days of the sign-ins in the list, today included. */
export const LISTED_DAYS = 7;

/** One page of the websites that a search found. A page after the last one is the last one. */
export const FoundWebsites = z.object({
  total: z.number().meta({ description: 'Websites that the search found, on all pages' }),
  page: z.number(),
  websites: z.array(
    Website.omit({ proof: true }).extend({
      team: z.number().int().meta({ description: 'Addresses that manage it' }),
      signIns: z.array(z.number()).meta({ description: `Sign-ins of each of the last ${LISTED_DAYS} UTC days, today last` }),
      success: z
        .number()
        .nullable()
        .meta({
          description: `Share of the sign-in emails of the last ${LISTED_DAYS} UTC days that were opened, from 0 to 1; null: none was requested`,
        }),
      lastSignIn: z.string().nullable().meta({ description: 'UTC day of the last sign-in, YYYY-MM-DD; null: there was none' }),
      nextStep: SetupStepState.nullable().meta({
        description: 'The first step of the set-up that failed, else the first open one; null: the set-up is complete',
      }),
    }),
  ),
});
