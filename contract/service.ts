import { z } from 'zod';
import { MAX_EMAIL_LENGTH } from './emails.ts';
import { MAX_ADMIN_PASSWORD, MAX_DOCS_SEARCH } from './limits.ts';
import { Email } from './signin.ts';
import { MAX_HOST_LENGTH } from './urls.ts';

/** Printable ASCII without spaces, because programs print these values in terminals. */
const printable = z.string().regex(/^[\x21-\x7e]{1,2000}$/);

/** What a program needs to know about the service before it uses it. Contains no secrets. */
export const About = z.object({
  name: z.literal('emailauth').meta({ description: 'Distinguishes this service from any other web server' }),
  version: printable,
  mode: z.enum(['local', 'production']),
  time: z.iso.datetime().meta({ description: "The service's clock" }),
  mail: z.object({
    domain: printable.meta({ description: "The sender's domain, as A-label" }),
    dkim: z
      .object({
        domain: printable,
        selector: printable,
        publicKey: printable.meta({ description: 'The expected p= value of the DNS record' }),
      })
      .nullable()
      .meta({ description: 'Null: the service does not sign; its mail server may' }),
    delivered: z.boolean().meta({ description: 'False: emails stay in the built-in inbox' }),
  }),
  request: z
    .object({
      address: printable.meta({ description: 'The address of the caller that limits count; of IPv6 the network' }),
      forwarded: z.int().min(0).meta({ description: 'Number of entries of X-Forwarded-For' }),
      isHostPublic: z.boolean().meta({ description: 'Host is that of PUBLIC_URL' }),
    })
    .optional()
    .meta({ description: 'How this request has arrived, to check the proxies in front' }),
});

/** See the schema. */
export type About = z.output<typeof About>;

const state = z.enum(['operational', 'degraded', 'down']);

/** What the service has measured of itself, minute by minute. Minutes in which it did not run are not measured. */
export const Status = z.object({
  state,
  checkedAt: z.string().nullable().meta({ description: 'The last probe; null: none yet' }),
  components: z.array(z.object({ id: z.enum(['database', 'mail', 'response']), state })),
  /** Null while the database does not respond. */
  history: z
    .object({
      since: z.string().nullable().meta({ description: 'The first probe of the last 90 days' }),
      uptimePercent: z.number().nullable().meta({ description: 'Last 30 days; null: not enough data yet' }),
      responseMs: z.number().nullable().meta({ description: 'Average of the last 30 days; null: not enough data yet' }),
      days: z
        .array(z.object({ date: z.string(), measured: z.number(), failed: z.number() }))
        .meta({ description: '30 UTC days, oldest first: minutes measured, and how many of them failed' }),
      incidents: z
        .array(
          z.object({
            startedAt: z.string(),
            endedAt: z.string().nullable().meta({ description: 'Null: ongoing' }),
            minutes: z.number(),
            components: z.array(z.string()),
          }),
        )
        .meta({ description: 'Of the last 30 days, newest first, derived from failed probes' }),
    })
    .nullable(),
});

export const DocsSearch = z.object({ q: z.string().trim().min(1).max(MAX_DOCS_SEARCH) });

/** Sections of the documentation, best first. */
export const FoundSections = z.array(
  z.object({
    title: z.string().meta({ description: 'Of the page' }),
    heading: z.string(),
    excerpt: z.string(),
    url: z.string(),
  }),
);

export const AdminPassword = z.object({ password: z.string().max(MAX_ADMIN_PASSWORD) });
export const AdminSession = z.object({
  unlocked: z.boolean(),
  enabled: z.boolean().meta({ description: 'False: ADMIN_PASSWORD is not set' }),
  development: z.boolean().meta({ description: 'Local mode, in which /admin exists' }),
});

/** In the body of a POST request, because proxies log the addresses of requests. */
export const AddressErasure = z.object({
  email: Email,
  dryRun: z.boolean().default(false).meta({ description: 'Only count' }),
  deleteWebsites: z
    .array(z.string().trim().toLowerCase().max(MAX_HOST_LENGTH))
    .max(1000)
    .default([])
    .meta({ description: 'Its websites to delete' }),
  transferTo: Email.optional().meta({ description: 'The address that gets its other websites' }),
});
export const ErasedAddress = z.object({
  erased: z.boolean().meta({ description: 'False: no row contains the address, or dryRun' }),
  rows: z.record(z.string(), z.number()).meta({ description: 'How many rows contained the address, by table' }),
});
export const EnableAdminSession = z.object({ enable: z.literal(true) });

const q = z.string().trim().max(MAX_EMAIL_LENGTH).default('').meta({ description: 'Only entries that contain this text' });

/** The next page of a list that is sorted newest first; `before` is the id of the last entry of the page before. */
export const PageQuery = z.object({ before: z.uuid().optional(), q });
export const AuditPageQuery = z.object({
  q,
  before: z
    .string()
    .regex(/^\d{1,18}$/, 'Not an entry id')
    .optional(),
});
export const MailHistoryQuery = AuditPageQuery.extend({
  result: z
    .enum(['all', 'sent', 'failed'])
    .default('all')
    .meta({ description: 'sent: the mail server accepted them; failed: it refused them, or they expired' }),
});
export const MailParams = z.object({ id: z.uuid() });

export const AdminWebsites = z.array(
  z.object({
    id: z.string(),
    domain: z.string(),
    email: z.string().nullable(),
    claimed: z.boolean(),
    verified: z.boolean(),
    createdAt: z.string(),
  }),
);
export const AdminUsers = z.array(
  z.object({ id: z.string(), email: z.string(), name: z.string().nullable(), websites: z.number(), createdAt: z.string() }),
);
/** The outbox: emails still to send. */
export const AdminMails = z.array(
  z.object({
    id: z.string(),
    kind: z.string(),
    recipient: z.string(),
    tries: z.number(),
    createdAt: z.string(),
    dueAt: z.string(),
    expiresAt: z.string(),
  }),
);
/** What became of the emails to visitors in the last seven days. No address is kept of other emails. */
export const AdminMailHistory = z.array(
  z.object({
    id: z.string(),
    result: z.enum(['sent', 'failed']),
    recipient: z.string().nullable().meta({ description: 'null: it was erased' }),
    website: z.string().nullable().meta({ description: 'The domain, or the client ID of an application' }),
    text: z.string().meta({ description: 'What happened, as a sentence' }),
    fix: z.string().nullable(),
    createdAt: z.string(),
  }),
);
export const AdminAuditLog = z.array(
  z.object({
    id: z.string(),
    action: z.string(),
    email: z.string().nullable(),
    domain: z.string().nullable(),
    object: z.string().nullable(),
    actor: z.string().nullable(),
    device: z.string().nullable(),
    createdAt: z.string(),
  }),
);

export const DailyLogins = z.array(z.object({ date: z.string().meta({ description: 'UTC, YYYY-MM-DD' }), count: z.number() }));
