import { z } from 'zod';

export const AdminPassword = z.object({ password: z.string().max(512) });
export const AdminSession = z.object({
  unlocked: z.boolean(),
  enabled: z.boolean().meta({ description: 'False: ADMIN_PASSWORD is not set' }),
  development: z.boolean().meta({ description: 'Local mode, in which /admin exists' }),
});
export const EnableAdminSession = z.object({ enable: z.literal(true) });

const q = z.string().trim().max(254).default('').meta({ description: 'Only entries that contain this text' });

/** The next page of a list that is sorted newest first; `before` is the id of the last entry of the page before. */
export const PageQuery = z.object({ before: z.uuid().optional(), q });
export const AuditPageQuery = z.object({
  q,
  before: z
    .string()
    .regex(/^\d{1,18}$/, 'Not an entry id')
    .optional(),
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
export const AdminAuditLog = z.array(
  z.object({ id: z.string(), action: z.string(), email: z.string().nullable(), domain: z.string().nullable(), createdAt: z.string() }),
);

export const DailyLogins = z.array(z.object({ date: z.string().meta({ description: 'UTC, YYYY-MM-DD' }), count: z.number() }));
