import { z } from 'zod';
import { Branding, line } from './account.ts';
import { accentFault } from './colors.ts';
import { MAX_EMAIL_LENGTH } from './emails.ts';
import { MAX_DOMAIN_INPUT, MAX_EXPORTED_VISITORS, MAX_PAGE, STATS_DAYS, STATS_PERIODS, VISITOR_DAYS, VISITORS_PAGE } from './limits.ts';
import { type CountName, countsOf, EMAIL_METHODS, type EmailMethod, METHODS, type Method, OTHER_METHODS, ofEmails } from './methods.ts';
import { websiteNameFault } from './rules.ts';
import { Email } from './signin.ts';
import { DOMAIN_REQUIRED, MAX_HOST_LENGTH } from './urls.ts';

/** What a person typed or pasted as a domain: with a protocol, `www.` and a path, it may be longer than a domain. */
const domain = z.string({ error: DOMAIN_REQUIRED }).trim().min(1, DOMAIN_REQUIRED).max(MAX_DOMAIN_INPUT);

/** The path of a stored icon; null: none. */
const iconUrl = z
  .string()
  .regex(/^\/objects\/uploads\/[0-9a-f-]{36}$/, 'Upload the icon first and send the path that the upload returned')
  .nullable();

export const DomainInput = z.object({ domain });
export const WebsiteInput = DomainInput.extend({ iconUrl: iconUrl.optional() });
export const DomainParams = z.object({ domain: z.string().min(1).max(MAX_HOST_LENGTH) });
export const WebsiteParams = z.object({ id: z.uuid() });
export const WebsiteUpdate = WebsiteParams.extend({
  domain,
  iconUrl: iconUrl.optional().meta({ description: 'Omitted: unchanged; null: none' }),
});
export const RegisterRequest = z.object({ domain, email: Email });

/** The public data of a registered website. */
export const PublicWebsite = z.object({
  domain: z.string().meta({ description: 'The registered domain, as A-label' }),
  displayDomain: z.string().meta({ description: 'The domain decoded, for display' }),
  verified: z.boolean(),
  iconUrl: z.string().nullable(),
});

/** What an address that manages a website may do: a member may not move, delete or share it, nor export or erase its visitors. */
const WEBSITE_ROLES = ['owner', 'member'] as const;
export type WebsiteRole = (typeof WEBSITE_ROLES)[number];

/** A website as those who manage it see it. */
export const Website = PublicWebsite.extend({
  id: z.uuid(),
  onProbation: z.boolean().meta({ description: 'Until the linked address signs in or verifies the domain; few visitors can sign in' }),
  registeredByOthers: z.boolean().meta({
    description:
      'Someone who was not signed in registered it with your address, and the domain is not verified; giveBackWebsite gives it back',
  }),
  createdAt: z.string(),
  role: z.enum(WEBSITE_ROLES).meta({ description: 'What the account may do with the website' }),
  linkedAddress: z.string().meta({ description: 'The address that registered or verified the website' }),
  proof: z.object({
    record: z.string().meta({ description: 'Name of the TXT record' }),
    value: z.string().meta({ description: 'Its value' }),
    fileUrl: z.string(),
    fileBody: z.string(),
  }),
});
export const WebsiteList = z.array(Website);

export const RegisterResponse = z.object({
  domain: z.string(),
  email: z.string(),
  authUrl: z.string().meta({ description: 'The sign-in page to send visitors to' }),
});

/** How to verify a domain that does not belong to the account yet. */
export const Claim = z.object({ domain: z.string(), proof: Website.shape.proof });

/** The URL to PUT an icon's bytes to, once, with its content type; the path without the query is then its iconUrl. */
export const UploadResponse = z.object({ uploadURL: z.string() });

/** Returns the schemas of the counts that methods have of their own. */
const ownCounts = <M extends Method>(methods: readonly M[]) =>
  Object.fromEntries(countsOf(methods).map(({ name, description }) => [name, z.number().meta({ description })])) as Record<
    CountName<M>,
    z.ZodNumber
  >;

const OPENED = ofEmails('and', (noun, done) => `${noun}s ${done}`).replace(/^./, (first) => first.toUpperCase());

/** The sign-ins to a website in the last 30 UTC days. */
export const WebsiteStats = z.object({
  id: z.uuid().meta({ description: "The website's id" }),
  sent: z.number().meta({ description: 'Sign-in emails requested' }),
  opened: z.number().meta({ description: OPENED }),
  again: z.number().meta({ description: 'Sign-ins without an email' }),
  ...ownCounts(OTHER_METHODS),
  completed: z.number().meta({ description: 'Tokens that the website verified' }),
  medianSeconds: z.number().nullable().meta({ description: 'From the request to the opening; null: nothing was opened' }),
});

/** Which website, and how many UTC days. */
export const WebsiteHistoryQuery = WebsiteParams.extend({
  days: z.coerce
    .number()
    .refine((days) => STATS_PERIODS.some((period) => period === days), `days is ${STATS_PERIODS.join(', ')}`)
    .default(STATS_DAYS)
    .meta({ description: `The last 7, 30 or 90 UTC days, today included` }),
});

const counts = {
  sent: z.number().meta({ description: 'Sign-in emails requested' }),
  opened: z.number().meta({ description: OPENED }),
  ...ownCounts(EMAIL_METHODS),
  again: z.number().meta({ description: 'Sign-ins without an email, also through OpenID Connect' }),
  ...ownCounts(OTHER_METHODS),
  completed: z.number().meta({ description: 'Tokens that the website verified, of sign-ins with and without an email' }),
  completedAgain: z.number().meta({ description: 'Of `completed`, of sign-ins without an email' }),
  openIdAgain: z.number().meta({ description: 'Of `again`, through OpenID Connect, where there is no token to verify' }),
  openIdSent: z.number().meta({ description: 'Sign-in emails requested through OpenID Connect' }),
  openIdOpened: z.number().meta({ description: 'Sign-ins by email through OpenID Connect' }),
};
const median = (of: string) =>
  z
    .number()
    .nullable()
    .meta({ description: `Median seconds from the request to the opening, ${of}` });
const mediansByMethod = Object.fromEntries(EMAIL_METHODS.map((method) => [method, median(`of ${method}s`)])) as Record<
  EmailMethod,
  ReturnType<typeof median>
>;

/** The sign-ins to one website, in sum and per day. */
export const WebsiteHistory = z.object({
  total: z.object(counts),
  median: z.object({ all: median('of all'), ...mediansByMethod }),
  days: z
    .array(z.object({ date: z.string(), ...counts }))
    .meta({ description: 'UTC days, oldest first, including those without sign-ins' }),
});
export const WebsiteStatsList = z.array(WebsiteStats);

/** The branding of a website. An empty value means none, or for `fromName` and `logoUrl` those of the account. */
const brandingFields = {
  name: line(websiteNameFault).meta({ description: 'Shown beside the host on the sign-in page, once the domain is verified' }),
  accent: line(accentFault)
    .transform((color) => color.toLowerCase())
    .meta({ description: 'The color of the button, as #rrggbb' }),
  ...Branding.shape,
};

export const WebsiteBranding = z.object({
  ...brandingFields,
  defaults: Branding.meta({ description: 'Of the account of the linked address: what an empty value means in the emails' }),
});
export const WebsiteBrandingInput = WebsiteParams.extend(brandingFields);
export const BrandingFields = z.object(brandingFields);

const role = z.enum(WEBSITE_ROLES, { error: 'Choose owner or member' });

export const Invite = WebsiteParams.extend({ email: Email, role: role.default('member') });
export const MemberParams = WebsiteParams.extend({ email: Email });
export const MemberUpdate = MemberParams.extend({ role });

/** An address in the team of a website. */
export const Member = z.object({
  email: z.string(),
  role,
  status: z.enum(['linked', 'joined', 'invited', 'expired']).meta({
    description: 'linked: the address that the website is linked to; invited, expired: an invitation that was not accepted',
  }),
  invitedBy: z.string().nullable(),
  invitedAt: z.string().nullable(),
  joinedAt: z.string().nullable().meta({ description: 'When the invitation was accepted' }),
});
export const MemberList = z.array(Member);

/** An invitation to manage a website, as the invited account sees it. */
const Invitation = z.object({
  id: z.uuid().meta({ description: "The website's id" }),
  domain: z.string(),
  displayDomain: z.string(),
  role,
  invitedBy: z.string(),
  expiresAt: z.string(),
});
export const InvitationList = z.array(Invitation);

const VISITOR_SORTS = ['last', 'first', 'count', 'email'] as const;

export const VisitorsQuery = WebsiteParams.extend({
  search: z.string().trim().max(MAX_EMAIL_LENGTH).default('').meta({ description: 'A part of the address' }),
  sort: z.enum(VISITOR_SORTS).default('last'),
  order: z.enum(['asc', 'desc']).default('desc'),
  page: z.coerce
    .number()
    .int()
    .min(1)
    .max(MAX_PAGE)
    .default(1)
    .meta({ description: `Of ${VISITORS_PAGE} visitors each` }),
});

const NOUNS = OTHER_METHODS.map((method) => METHODS[method].noun);

/** An address that signed in to a website. */
const Visitor = z.object({
  email: z.string().meta({ description: 'Masked until the domain is verified, except in local mode' }),
  firstAt: z.string().meta({ description: 'The first sign-in' }),
  lastAt: z.string().meta({ description: `The last sign-in; a visitor is forgotten ${VISITOR_DAYS} days after it` }),
  byEmail: z
    .number()
    .int()
    .meta({ description: `Sign-ins by a ${ofEmails('or', (noun) => noun)}` }),
  remembered: z
    .number()
    .int()
    .meta({ description: `Sign-ins without an email: with ${NOUNS.slice(0, -1).join(', ')} or ${NOUNS.at(-1)}` }),
  openid: z.number().int().meta({ description: 'Sign-ins by OpenID Connect' }),
});

export const Visitors = z.object({
  visitors: z.array(Visitor).meta({ description: 'A sign-in is counted within a minute' }),
  total: z.number().int().meta({ description: 'Visitors that match the search, on all pages' }),
  masked: z.boolean().meta({ description: 'Whether the addresses are masked, so that they cannot be searched, exported or erased' }),
});

export const VisitorsExportRequest = WebsiteParams.extend({
  email: Email.optional().meta({ description: 'One visitor; omitted: all of them' }),
  after: z.string().max(MAX_EMAIL_LENGTH).optional().meta({ description: '`next` of the previous response' }),
});
export const VisitorsExport = z.object({
  visitors: z.array(Visitor).meta({ description: `In the order of their addresses, at most ${MAX_EXPORTED_VISITORS}` }),
  next: z.string().nullable().meta({ description: 'For `after` of the next call; null: there are no more' }),
});

export const VisitorErasure = WebsiteParams.extend({ email: Email });
