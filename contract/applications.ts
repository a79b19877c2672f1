import { z } from 'zod';
import { MAX_CLIENT_URI, MAX_CLIENT_URIS } from './limits.ts';
import { redirectUriFault, serverUriFault } from './redirect-uris.ts';
import {
  AUTHENTICATIONS,
  KEY_GRACE_HOURS,
  MAX_NAME_LENGTH,
  NAME_REQUIRED,
  nameFault,
  publicKeyFault,
  SCOPE_REQUIRED,
  SECRET_GRACE_HOURS,
} from './rules.ts';
import { APPLICATION_SCOPES, RESOURCE_SCOPES } from './scopes.ts';

const error = ({ input }: { input: unknown }) => nameFault(String(input));
const name = z
  .string({ error: NAME_REQUIRED })
  .trim()
  .min(1, NAME_REQUIRED)
  .max(MAX_NAME_LENGTH, { error, abort: true })
  .refine((text) => nameFault(text) === null, { error });

const uri = z.string().trim().min(1).max(MAX_CLIENT_URI);

const uriList = (faultOf: (uri: string) => string | null) =>
  z
    .array(uri)
    .max(MAX_CLIENT_URIS, `At most ${MAX_CLIENT_URIS} addresses`)
    .superRefine((uris, context) => {
      for (const each of uris) {
        const fault = faultOf(each);
        if (fault) context.addIssue({ code: 'custom', message: `${each} ${fault}` });
      }
    });

/**
 * Redirect URIs: https, http to a loopback host (RFC 8252 §7.3), or for a public client a scheme of its own (§7.1). Compared
 * exactly, except for a loopback port.
 */
const redirectUris = uriList(redirectUriFault).min(1, 'Give at least one redirect URI');

const serverUri = uri.superRefine((text, context) => {
  const fault = serverUriFault(text);
  if (fault) context.addIssue({ code: 'custom', message: `${text} ${fault}` });
});

const jwks = z
  .looseObject({
    keys: z
      .array(z.looseObject({ kty: z.string() }))
      .min(1)
      .max(10, 'At most ten keys'),
  })
  .superRefine(({ keys }, context) => {
    for (const key of keys) {
      const fault = publicKeyFault(key);
      if (fault) context.addIssue({ code: 'custom', message: fault });
    }
  });

/** What an application has besides its name and redirect URIs; what is not given keeps its value, or gets the default. */
const clientSettings = z.object({
  authentication: z.enum(AUTHENTICATIONS).meta({ description: 'How it authenticates at the token endpoint; none: a public client' }),
  jwks: jwks.nullable().meta({ description: 'Its public keys (RFC 7517), for private_key_jwt; null: none' }),
  jwksUri: serverUri.nullable().meta({ description: 'Where its public keys are, for private_key_jwt; null: nowhere' }),
  logoutUris: uriList(redirectUriFault).meta({ description: 'post_logout_redirect_uris: where a logout may lead to' }),
  backchannelLogoutUri: serverUri.nullable().meta({ description: 'Receives a logout token when a session ends; null: none' }),
  pkceRequired: z
    .boolean()
    .meta({ description: 'Whether sign-ins need PKCE (RFC 7636); false only for a confidential client whose software cannot send it' }),
  scopes: z
    .array(z.enum(APPLICATION_SCOPES))
    .min(1, SCOPE_REQUIRED)
    .transform((scopes) => APPLICATION_SCOPES.filter((scope) => scopes.includes(scope)))
    .meta({ description: 'The scopes that it may request' }),
});

/** An application: an OAuth and OpenID Connect client of a developer. */
export const Client = z.object({
  id: z.uuid(),
  name: z.string(),
  clientId: z.string(),
  redirectUris: z.array(z.string()),
  isActive: z.boolean(),
  createdAt: z.string(),
  authentication: z.enum(AUTHENTICATIONS),
  jwks: z.looseObject({ keys: z.array(z.looseObject({})) }).nullable(),
  jwksUri: z.string().nullable(),
  logoutUris: z.array(z.string()),
  backchannelLogoutUri: z.string().nullable(),
  pkceRequired: z.boolean(),
  scopes: z.array(z.enum(APPLICATION_SCOPES)),
  formerSecretUntil: z.string().nullable().meta({ description: 'Until when the former client secret remains valid after a rotation' }),
});
export const ClientList = z.array(Client);
/** An application after a change. `clientSecret` is present only when this change created it; the service stores its SHA-256. */
export const ChangedClient = Client.extend({ clientSecret: z.string().optional() });
export const ClientInput = clientSettings.partial().extend({ name, redirectUris });
export const ClientParams = z.object({ id: z.uuid() });
export const ClientUpdate = ClientInput.extend({ id: z.uuid(), isActive: z.boolean() });
export const RotateSecretRequest = ClientParams.extend({
  graceHours: z
    .union(SECRET_GRACE_HOURS.map((hours) => z.literal(hours)))
    .default(24)
    .meta({ description: 'How long the former secret remains valid; 0 also ends one of an earlier rotation' }),
});
/** The audit log of an application, newest first. */
export const ClientLogs = z.array(z.object({ id: z.string(), action: z.string(), email: z.string().nullable(), createdAt: z.string() }));
/** Requests of an application that were rejected, newest first. */
export const ClientRefusals = z.array(
  z.object({
    id: z.string(),
    createdAt: z.string(),
    error: z.string().meta({ description: 'An error code of RFC 6749 or OpenID Connect, such as invalid_redirect_uri' }),
    description: z.string(),
    remedy: z.string().meta({ description: 'What to change' }),
  }),
);

/** What an API key can do. `live`: every call of access `account`. `test`: only those that read. */
const ENVIRONMENTS = ['live', 'test'] as const;

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
  graceHours: z.union(KEY_GRACE_HOURS.map((hours) => z.literal(hours))).default(24),
});
/** Calls with an API key on 30 UTC days, oldest first; days without calls are included. */
export const ApiKeyUsage = z.object({
  total: z.number(),
  days: z.array(z.object({ date: z.string(), calls: z.number(), refused: z.number() })),
});
