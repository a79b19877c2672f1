import { z } from 'zod';
import { redirectUriFault } from './rules.ts';
import { RESOURCE_SCOPES } from './scopes.ts';

const name = z.string({ error: 'Name is required' }).trim().min(1, 'Name is required').max(80, 'At most 80 characters');

/** Redirect URIs of an application: https, or http to a loopback host (RFC 8252 §7.3). Compared exactly, except for a loopback port. */
const redirectUris = z
  .array(z.string().trim().min(1).max(1024))
  .min(1, 'Give at least one redirect URI')
  .max(10, 'At most ten redirect URIs')
  .superRefine((uris, context) => {
    for (const uri of uris) {
      const fault = redirectUriFault(uri);
      if (fault) context.addIssue({ code: 'custom', message: `${uri} ${fault}` });
    }
  });

/** An application: a public OAuth client of a developer (RFC 6749 §2.1), which must use PKCE. */
export const Client = z.object({
  id: z.uuid(),
  name: z.string(),
  clientId: z.string(),
  redirectUris: z.array(z.string()),
  isActive: z.boolean(),
  createdAt: z.string(),
});
export const ClientList = z.array(Client);
export const ClientInput = z.object({ name, redirectUris });
export const ClientParams = z.object({ id: z.uuid() });
export const ClientUpdate = ClientParams.extend({ name, redirectUris, isActive: z.boolean() });
/** The audit log of an application, newest first. */
export const ClientLogs = z.array(z.object({ id: z.string(), action: z.string(), email: z.string().nullable(), createdAt: z.string() }));

/** What an API key may do. `live`: every call of access `account`. `test`: only those that read. */
export const ENVIRONMENTS = ['live', 'test'] as const;
/** How long a rotated API key remains valid, in hours. */
export const GRACE_HOURS = [0, 1, 24, 168] as const;

/** What an API key may be used for, as the scopes of access tokens. */
const keyScopes = z
  .array(z.enum(RESOURCE_SCOPES))
  .min(1, 'Give at least one scope, or null for all')
  .transform((scopes) => RESOURCE_SCOPES.filter((scope) => scopes.includes(scope)));

export const ApiKey = z.object({
  id: z.uuid(),
  name: z.string(),
  environment: z.enum(ENVIRONMENTS),
  scopes: z.array(z.enum(RESOURCE_SCOPES)).nullable().meta({ description: 'What the key may be used for; null: every scope' }),
  isActive: z.boolean(),
  keyId: z.string().meta({ description: 'The beginning of the key, to recognize it by' }),
  createdAt: z.string(),
  lastUsed: z.string().nullable(),
  expiresAt: z.string().nullable().meta({ description: 'When a rotated key becomes invalid' }),
});
export const ApiKeyList = z.array(ApiKey);
export const ApiKeyInput = z.object({ name, environment: z.enum(ENVIRONMENTS), scopes: keyScopes.nullable().default(null) });
export const ApiKeyParams = z.object({ id: z.uuid() });
/** A new API key. `key` is shown only here; the service stores its SHA-256. */
export const NewApiKey = ApiKey.extend({ key: z.string() });
export const RotateRequest = ApiKeyParams.extend({
  graceHours: z.union(GRACE_HOURS.map((hours) => z.literal(hours))).default(24),
});
/** Calls with an API key on 30 UTC days, oldest first; days without calls are included. */
export const ApiKeyUsage = z.object({
  total: z.number(),
  days: z.array(z.object({ date: z.string(), calls: z.number(), refused: z.number() })),
});
