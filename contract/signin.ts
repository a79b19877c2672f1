import { z } from 'zod';
import { LanguageChoice } from './languages.ts';
import { EMAIL_MESSAGE, normalEmail } from './rules.ts';

const secret = z
  .string()
  .min(1)
  .max(512)
  .regex(/^[A-Za-z0-9._~-]+$/, 'Not in the form of a secret of this service');
const url = z.string().min(1).max(2048);
/** RFC 6749 §4.1.1. It stands in the link of a mail, so it must be nothing that anybody could read as a message. */
const state = z
  .string()
  .min(1)
  .max(128)
  .regex(/^[A-Za-z0-9._~+/=-]+$/, 'state must have at most 128 of the characters A-Z, a-z, 0-9 and . _ ~ + / = -');

/** An address in its one normal form. */
export const Email = z
  .string({ error: EMAIL_MESSAGE })
  .max(512, EMAIL_MESSAGE)
  .transform((text, context) => {
    const email = normalEmail(text);
    if (email) return email;
    context.addIssue({ code: 'custom', message: EMAIL_MESSAGE });
    return z.NEVER;
  });

export const SentAnswer = z.object({
  sent: z.literal(true),
  expiresIn: z.number().meta({ description: 'Seconds until the link and its code end' }),
});
export const RedirectAnswer = z.object({ redirectUrl: z.string() });
export const Done = z.object({ success: z.literal(true) });

export const DomainAuthRequest = z.object({
  email: Email,
  forward_url: url.optional().meta({ description: 'Where the visitor goes with the token; unset: the developer portal' }),
  language: LanguageChoice,
});

/** RFC 7636 §4.3: an S256 challenge is 43 characters of base64url; §4.1: a verifier has 43 to 128 unreserved characters. */
export const AuthorizeRequest = z.object({
  email: Email,
  client_id: z.string().min(1).max(128),
  redirect_uri: url,
  code_challenge: z.string().regex(/^[A-Za-z0-9_-]{43}$/, 'code_challenge must be the base64url of a SHA-256'),
  code_challenge_method: z.literal('S256', 'code_challenge_method must be S256'),
  state,
  language: LanguageChoice,
});
export const AuthorizeAnswer = SentAnswer.extend({
  attempt: z.string().meta({ description: 'Handle of this attempt, for a program without cookies' }),
});

export const TokenRequest = z.object({
  grant_type: z.literal('authorization_code').optional(),
  code: secret,
  code_verifier: z.string().regex(/^[A-Za-z0-9._~-]{43,128}$/, 'code_verifier must have 43 to 128 unreserved characters'),
  client_id: z.string().min(1).max(128),
  redirect_uri: url.optional(),
});
/** RFC 6749 §5.1 for programs. The portal's own page, whose session is an HttpOnly cookie, gets no secret of it: the second form. */
export const TokenAnswer = z.union([
  z.object({
    email: z.string(),
    authKey: z.string().optional().meta({ description: 'Not for applications' }),
    localKey: z.string().optional().meta({ description: 'Not for applications' }),
    access_token: z.string(),
    token_type: z.literal('Bearer'),
    expires_in: z.number(),
  }),
  z.object({ email: z.string(), authKey: z.string(), localKey: z.string() }),
]);

export const CodeRequest = z.object({
  email: Email,
  code: z
    .string()
    .transform((text) => text.replace(/\D/g, ''))
    .pipe(z.string().length(6, 'The code has six digits')),
  state: state.optional().meta({ description: 'For a PKCE attempt: its state' }),
  attempt: secret.optional().meta({ description: 'The handle that authorize gave, for a program without cookies' }),
});
export const CodeAnswer = z.union([RedirectAnswer, z.object({ code: z.string() })]);

export const AttemptQuery = z.object({ email: Email });
/** What became of this browser's newest attempt for an address. */
export const AttemptAnswer = z.object({ status: z.enum(['waiting', 'opened', 'mail_failed', 'expired']) });

export const ConfirmLinkRequest = z.object({ t: secret, email: Email });

export const VerifyRequest = z.object({
  token: z.string({ error: 'Give exactly one token' }).min(1, 'Give exactly one token').max(512, 'Give exactly one token'),
  domain: z.string().max(253).optional().meta({ description: 'The site that asks; a token for another site is then refused and kept' }),
});
export const VerifyAnswer = z.union([
  z.object({ email: z.string(), valid: z.literal(true), domain: z.string() }),
  z.object({ email: z.null(), valid: z.literal(false), reason: z.enum(['used', 'expired', 'unknown', 'other_domain']) }),
]);

export const ValidateKeyRequest = z.object({ email: Email, key: secret, forward_url: url.optional() });
export const ValidateKeyAnswer = RedirectAnswer.extend({
  key: z.string().optional().meta({ description: 'Replaces the key that was sent' }),
});

export const TokenLoginRequest = z.object({ token: secret, confirm: z.boolean().optional() });
export const TokenLoginAnswer = Done.extend({ email: z.string() });
