import { z } from 'zod';
import { MAX_API_KEYS, MAX_LIST_PAGE, MAX_PASSKEYS, STATS_DAYS, STATS_PERIODS } from './limits.ts';
import { fromNameFault, nameFault } from './rules.ts';
import { APPLICATION_SCOPES } from './scopes.ts';
import { logoUrlFault, MAX_HOST_LENGTH } from './urls.ts';

export const User = z.object({ id: z.string(), email: z.string(), name: z.string().nullable() });
export const Session = z.object({ user: User.nullable() });

/** Returns the schema of a line of text that `faultOf` accepts. */
export const line = (faultOf: (text: string) => string | null) =>
  z
    .string()
    .trim()
    .superRefine((text, context) => {
      const message = faultOf(text);
      if (message) context.addIssue({ code: 'custom', message });
    });

export const Profile = z.object({ name: line(nameFault) });
export const Organization = z.object({ organisation: line(nameFault) });

/** Branding of the sign-in emails for an account's websites with a verified domain. An empty value means the service's own. */
export const Branding = z.object({ fromName: line(fromNameFault), logoUrl: line(logoUrlFault) });

/** The contents of the settings tab. */
export const Settings = z.object({
  email: z.string(),
  name: z.string(),
  organisation: z.string(),
  plan: z.literal('Free'),
  branding: Branding,
  createdAt: z.string().meta({ description: 'When the account was created' }),
});

/** A browser or program in which the account is signed in or remembered. */
export const Device = z.object({
  id: z.string().meta({ description: 'Public id of the device; not a secret' }),
  label: z.string().meta({ description: 'Such as Firefox on Linux' }),
  current: z.boolean(),
  signedIn: z.boolean().meta({ description: 'False: only remembered; one click signs in' }),
  createdAt: z.string(),
  lastSeen: z.string(),
});
export const DeviceParams = z.object({ id: z.string().regex(/^[0-9a-f]{32}$/, 'Not a device id') });

const allOr = (max: number) => z.union([z.literal('all'), z.array(z.uuid()).max(max)]);

/** What ends with all sessions. */
export const SignOutEverywhere = z.object({
  apiKeys: allOr(MAX_API_KEYS).default('all').meta({ description: 'Ids of the API keys that end too, or `all`, which is the default' }),
  passkeys: allOr(MAX_PASSKEYS).default([]).meta({ description: 'Ids of the passkeys that end too, or `all`; none by default' }),
});
export const SignedOutEverywhere = z.object({
  success: z.literal(true),
  apiKeys: z.number().meta({ description: 'How many API keys have ended' }),
  passkeys: z.number().meta({ description: 'How many passkeys have ended' }),
});

/** One entry of the audit log; `action` is in snake case. */
export const AuditEntry = z.object({
  id: z.string(),
  action: z.string(),
  createdAt: z.string(),
  domain: z.string().nullable().meta({ description: 'As A-label' }),
  displayDomain: z.string().nullable().meta({ description: 'The domain decoded, for display' }),
  manages: z.boolean().meta({ description: 'Whether the account manages the website of this domain now' }),
  object: z.string().nullable().meta({ description: 'The name of what it was done to, such as an API key or a member' }),
  actor: z.string().nullable().meta({ description: 'The address of the person who did it; null: the account itself' }),
  device: z.string().nullable().meta({ description: 'The browser, program or API key, such as `Firefox on Linux`' }),
  network: z.string().nullable().meta({ description: 'The block of its network address' }),
});

const day = z.iso.date({ error: 'Not a date, such as 2026-03-05' });

export const AuditQuery = z.object({
  limit: z.coerce.number().int().min(1).max(MAX_LIST_PAGE).default(20),
  before: z
    .string()
    .regex(/^\d{1,18}$/, 'Not an entry id')
    .optional()
    .meta({ description: 'Only entries before the one with this id' }),
  action: z
    .string()
    .regex(/^[a-z_]{1,50}(?:,[a-z_]{1,50}){0,9}$/, 'Not a list of actions')
    .optional()
    .meta({ description: 'Only these actions, separated by commas; `website` stands for all that begin with `website_`' }),
  domain: z.string().trim().max(MAX_HOST_LENGTH).optional().meta({ description: 'Only entries about this website' }),
  from: day.optional().meta({ description: 'First UTC day' }),
  to: day.optional().meta({ description: 'Last UTC day' }),
});

const WAITLIST_SERVICES = ['analytics', 'bugs'] as const;
export const WaitlistEntry = z.object({ service: z.enum(WAITLIST_SERVICES) });
export const Waitlist = z.object({ joined: z.array(z.enum(WAITLIST_SERVICES)) });

/** The cards of the dashboard's overview: counts of the last 30 UTC days. */
export const Overview = z.object({
  totalLogins: z.number().meta({ description: "Sign-ins to the account's websites and applications" }),
  activeApplications: z.number(),
  apiRequests: z.number().meta({ description: "Calls with the account's API keys" }),
  uptimePercent: z
    .number()
    .nullable()
    .meta({ description: 'Of the service itself; null: not enough data yet, or the database is too busy' }),
});

export const AccountLoginsQuery = z.object({
  days: z.coerce
    .number()
    .refine((days) => STATS_PERIODS.some((period) => period === days), `days is ${STATS_PERIODS.join(', ')}`)
    .default(STATS_DAYS),
});

/** The sign-ins to the account's websites and applications per UTC day, with the total of the same number of days before. */
export const AccountLogins = z.object({
  days: z.array(z.object({ date: z.string().meta({ description: 'UTC, YYYY-MM-DD' }), count: z.number() })).meta({
    description: 'Oldest first',
  }),
  total: z.number(),
  previousTotal: z.number().nullable().meta({
    description: 'Null: the account had no website and no application during the whole period before, so there is nothing to compare with',
  }),
});

/** What a connected client is: a developer's application, a registered website, or a program that registered itself. */
const CLIENT_KINDS = ['application', 'website', 'metadata_document', 'registered'] as const;
export type ClientKind = (typeof CLIENT_KINDS)[number];

/** A connection: the grants of one person to one client of OpenID Connect. */
export const Connection = z.object({
  id: z.string().meta({ description: 'Id of the connection; not a secret' }),
  clientId: z.string(),
  name: z.string(),
  hosts: z.array(z.string()).meta({
    description:
      'Where it was allowed: hosts of its redirect URIs; localhost for a program on the own machine; a scheme such as `cursor:`. Empty: on another device only',
  }),
  kind: z.enum(CLIENT_KINDS),
  scopes: z.array(z.enum(APPLICATION_SCOPES)),
  createdAt: z.string().meta({ description: 'When it was first allowed' }),
  lastUsed: z.string().meta({ description: 'When it last received a token' }),
});
export const ConnectionList = z.array(Connection);
export const ConnectionParams = z.object({ id: z.string().regex(/^[0-9a-f]{32}$/, 'Not an id of a connection') });
