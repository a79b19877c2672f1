import { z } from 'zod';
import { EMAIL_MESSAGES, emailFaultOf, readEmail } from './emails.ts';
import { enteredFault, readEntered } from './entered.ts';
import { languageCodes } from './languages.ts';
import { MAX_SIGN_IN_AGE_SECONDS } from './limits.ts';
import { methodNames } from './methods.ts';

export const Language = z.object({ code: z.enum(languageCodes), name: z.string(), flagEmoji: z.string() });
/** A language code; a missing or unsupported one becomes English. */
export const LanguageChoice = z.enum(languageCodes).catch('en').default('en');
export const LanguageParams = z.object({ language: z.enum(languageCodes) });
/** Texts by key; every key begins with `auth.`. */
export const Translations = z.record(z.string(), z.string());

const secret = z
  .string()
  .min(1)
  .max(512)
  .regex(/^[A-Za-z0-9._~-]+$/, 'Not a secret of this service');
const url = z.string().min(1).max(2048);
/** RFC 6749 §4.1.1. It is part of a link in an email, so it must not be able to carry a readable message. */
const state = z
  .string()
  .min(1)
  .max(128)
  .regex(/^[A-Za-z0-9._~+/=-]+$/, 'state must have at most 128 of the characters A-Z, a-z, 0-9 and . _ ~ + / = -');

/** The id of an authorization request that waits for its person. */
const interaction = z.string().regex(/^[A-Za-z0-9_-]{21,64}$/, 'Not an interaction of this service');

/** An email address as people enter it, parsed into its normal form. */
export const Email = z
  .string({ error: EMAIL_MESSAGES.bad_email })
  .max(512, EMAIL_MESSAGES.bad_email)
  .transform((text, context) => {
    const email = readEmail(text);
    if (email) return email;
    const code = emailFaultOf(text);
    context.addIssue({ code: 'custom', message: EMAIL_MESSAGES[code], params: { code } });
    return z.NEVER;
  });

export const SentResponse = z.object({
  sent: z.literal(true),
  expiresIn: z.number().meta({ description: 'Seconds until the link and its code expire' }),
});
export const RedirectResponse = z.object({ redirectUrl: z.string() });
export const Done = z.object({ success: z.literal(true) });

const verifiable = z
  .boolean()
  .optional()
  .meta({ description: 'true: send no email yet if the mail provider of the address takes part in the Email Verification Protocol' });

const MAX_AGE_MESSAGE = `max_age is a whole number of seconds from 0 to ${MAX_SIGN_IN_AGE_SECONDS}`;

/** What a website or an application asks of a sign-in. */
export type Conditions = {
  /** How many seconds ago the address may have been proven; null: at any time. */
  maxAge: number | null;
  /** Only a passkey signs in. */
  passkey: boolean;
};

/**
 * Where a sign-in leads. `url`: where the person returns to with the token. `website`: the registered domain; `audience`: the host that the
 * token is for, where `www.` and the bare domain are one. `interaction`: the authorization request of OpenID Connect; `redirectUri`: where it
 * ends.
 */
export type Destination =
  | { to: 'website'; url: string; host: string; website: string; audience: string; conditions: Conditions }
  | { to: 'portal'; url: string; conditions: Conditions }
  | { to: 'application'; url: string; interaction: string; client: string; redirectUri: string; conditions: Conditions };

/** What a website asks of a sign-in, besides its forward_url. */
export const SignInConditions = z.object({
  max_age: z
    .union(
      [
        z.number(),
        z
          .string()
          .regex(/^\d{1,8}$/)
          .transform(Number),
      ],
      MAX_AGE_MESSAGE,
    )
    .pipe(z.number().int(MAX_AGE_MESSAGE).min(0, MAX_AGE_MESSAGE).max(MAX_SIGN_IN_AGE_SECONDS, MAX_AGE_MESSAGE))
    .optional()
    .meta({ description: 'For a forward_url: how many seconds ago the visitor may have proven the address; unset: at any time' }),
  require: z
    .literal('passkey', 'require can only be passkey')
    .optional()
    .meta({ description: 'For a forward_url: only a passkey signs in; after an email, the visitor creates one first' }),
});

export const DomainAuthRequest = SignInConditions.extend({
  email: Email,
  forward_url: url.optional().meta({ description: 'Where the visitor is sent with the token; unset: the developer portal' }),
  interaction: interaction.optional().meta({ description: 'For the page of an authorization request, instead of forward_url: its id' }),
  language: LanguageChoice,
  verifiable,
});

/** An S256 challenge has 43 characters of base64url (RFC 7636 §4.3), and a verifier 43 to 128 unreserved characters (§4.1). */
export const AuthorizeRequest = z.object({
  email: Email,
  client_id: z.string().min(1).max(128),
  redirect_uri: url,
  code_challenge: z.string().regex(/^[A-Za-z0-9_-]{43}$/, 'code_challenge must be the base64url of a SHA-256'),
  code_challenge_method: z.literal('S256', 'code_challenge_method must be S256'),
  state,
  language: LanguageChoice,
  verifiable,
});
export const AuthorizeResponse = SentResponse.extend({
  attempt: z.string().meta({ description: 'Handle of this attempt, for programs without cookies' }),
});

export const TokenRequest = z.object({
  grant_type: z.literal('authorization_code').optional(),
  code: secret,
  code_verifier: z.string().regex(/^[A-Za-z0-9._~-]{43,128}$/, 'code_verifier must have 43 to 128 unreserved characters'),
  client_id: z.string().min(1).max(128),
  redirect_uri: url.optional(),
});
/** Options with which a page may create a passkey. */
const PasskeyOffer = z.record(z.string(), z.unknown()).optional().meta({
  description: 'In a browser that offers to create a passkey: the PublicKeyCredentialCreationOptionsJSON of WebAuthn for registerPasskey',
});

/** The response of RFC 6749 §5.1, and for the portal's page the second form: its session is an HttpOnly cookie, so the body has no token. */
export const TokenResponse = z.union([
  z.object({
    email: z.string(),
    authKey: z.string().optional().meta({ description: 'Not for applications' }),
    localKey: z.string().optional().meta({ description: 'Not for applications' }),
    access_token: z.string(),
    token_type: z.literal('Bearer'),
    expires_in: z.number(),
  }),
  z.object({ email: z.string(), authKey: z.string(), localKey: z.string(), passkey: PasskeyOffer }),
]);

export const CodeRequest = z.object({
  email: Email,
  code: z.string().transform((text, context) => {
    const { method, value, missing } = readEntered(text);
    if (value !== null) return { method, value };
    context.addIssue({ code: 'custom', message: enteredFault({ method, missing }) });
    return z.NEVER;
  }),
  state: state.optional().meta({ description: 'For a PKCE attempt: its state' }),
  attempt: secret.optional().meta({ description: 'The handle that authorize returned, for programs without cookies' }),
});

/** The address is proven by an email, and the website accepts only a passkey: the visitor creates one, which signs in. */
const AddPasskeyResponse = z.object({
  addPasskey: z.object({
    email: z.string(),
    options: z.record(z.string(), z.unknown()).nullable().meta({
      description: 'The PublicKeyCredentialCreationOptionsJSON of WebAuthn for registerPasskey; null: the service has no passkeys',
    }),
    forwardUrl: z.string().meta({ description: 'For registerPasskey, which then signs in' }),
    again: z.string().meta({ description: 'The sign-in page, to begin again' }),
    interaction: z.string().optional().meta({ description: 'For registerPasskey instead of forwardUrl, for an authorization request' }),
  }),
});
export const CodeResponse = z.union([
  RedirectResponse.extend({ passkey: PasskeyOffer }),
  z.object({ code: z.string() }),
  AddPasskeyResponse,
]);
export const ConfirmLinkResponse = z.union([RedirectResponse, AddPasskeyResponse]);

export const ConfirmLinkRequest = z.object({ t: secret, email: Email });

export const VerifyRequest = z.object({
  token: z.string({ error: 'Give exactly one token' }).min(1, 'Give exactly one token').max(512, 'Give exactly one token'),
  domain: z
    .string()
    .max(253)
    .optional()
    .meta({ description: 'The domain of the website that asks; a token for another website is then refused and remains valid' }),
});
export const VerifyResponse = z.union([
  z.object({
    email: z.string(),
    valid: z.literal(true),
    domain: z.string(),
    method: z.enum(methodNames).meta({ description: 'How the visitor signed in' }),
    at: z.string().meta({ description: 'When the visitor proved the address; for a remembered account, before this sign-in' }),
  }),
  z.object({ email: z.null(), valid: z.literal(false), reason: z.enum(['used', 'expired', 'unknown', 'other_domain']) }),
]);

/** What a sign-in without an email is for; the portal when nothing is given. */
export const SignInDestination = SignInConditions.extend({
  forward_url: url.optional(),
  interaction: interaction.optional().meta({ description: 'For the page of an authorization request, instead of forward_url: its id' }),
});
/** The parameters of a call that say where its sign-in leads. */
export type DestinationParameters = z.input<typeof SignInDestination>;

/**
 * Statuses of an attempt for the browser that began it. `opened`: by its link in this browser; `opened_elsewhere`: in another one;
 * `code_spent`: its code was entered wrongly too often, its link still works.
 */
const attemptStatuses = ['waiting', 'opened', 'opened_elsewhere', 'code_spent', 'mail_failed', 'expired'] as const;

export type AttemptStatus = (typeof attemptStatuses)[number];

/** Without a destination: the latest attempt for the address, whatever it is for. */
export const AttemptQuery = SignInDestination.extend({ email: Email });
/** The status of this browser's latest attempt for an address. */
export const AttemptResponse = z.object({ status: z.enum(attemptStatuses) });

export const ValidateKeyRequest = SignInDestination.extend({ email: Email, key: secret });
export const ValidateKeyResponse = RedirectResponse.extend({
  key: z.string().optional().meta({ description: 'Replaces the key that was sent' }),
});

export const VerifiedEmailRequest = SignInDestination.extend({
  email: Email,
  token: z
    .string()
    .min(1)
    .max(8192)
    .regex(/^[A-Za-z0-9._~-]+$/, 'Not a token of the Email Verification Protocol')
    .meta({ description: 'What the browser has put into the form of the sign-in page' }),
});
export const VerifiedEmailResponse = z.object({
  redirectUrl: z.string().nullable().meta({ description: 'null: the token does not verify the address; request an email' }),
});

export const TokenLoginRequest = z.object({ token: secret, confirm: z.boolean().optional() });
export const TokenLoginResponse = Done.extend({ email: z.string() });

export const InteractionDecision = z.object({
  uid: interaction,
  decision: z.enum(['allow', 'deny', 'other_account']).meta({
    description: 'allow: grant the scopes shown; deny: return access_denied to the application; other_account: sign in as somebody else',
  }),
});
