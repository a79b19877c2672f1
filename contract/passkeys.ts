import { z } from 'zod';
import { MAX_PASSKEY_NAME_LENGTH } from './rules.ts';
import { Done, LanguageChoice, RedirectResponse, SignInDestination } from './signin.ts';

/** Bytes in base64url, as the JSON of WebAuthn Level 3 (§5.1) has them. @param max characters */
const bytes = (max: number) =>
  z
    .string()
    .max(max)
    .regex(/^[A-Za-z0-9_-]+$/, 'Not base64url');

/** WebAuthn allows 1023 bytes. */
const credentialId = bytes(1364);

const credential = { id: credentialId, rawId: credentialId, type: z.literal('public-key') };

/** The challenge of a page for a passkey, as it is signed. */
export const PasskeyChallenge = z.object({
  challenge: z.string().meta({ description: 'Base64url; valid once, in this browser, for 5 minutes' }),
  rpId: z.string().meta({ description: 'The RP ID of WebAuthn; empty where there are no passkeys' }),
});

/** The AuthenticationResponseJSON of WebAuthn, and what the sign-in is for. */
export const PasskeySignInRequest = SignInDestination.extend({
  credential: z.object({
    ...credential,
    response: z.object({
      clientDataJSON: bytes(8192),
      authenticatorData: bytes(4096),
      signature: bytes(8192),
      userHandle: bytes(128),
    }),
  }),
  attempt: z
    .string()
    .regex(/^[A-Za-z0-9_-]{22}$/, 'Not an attempt')
    .optional()
    .meta({ description: 'For the login of a program, instead of forward_url: the handle that authorize returned' }),
});
export const PasskeySignInResponse = RedirectResponse;

/** The RegistrationResponseJSON of WebAuthn. */
export const PasskeyRegistration = z.object({
  credential: z.object({
    ...credential,
    response: z.object({
      clientDataJSON: bytes(8192),
      attestationObject: bytes(16_384),
      transports: z
        .array(z.string().regex(/^[a-z-]{1,32}$/))
        .max(10)
        .default([]),
    }),
  }),
  language: LanguageChoice,
  forward_url: SignInDestination.shape.forward_url.meta({
    description: 'Signs in with the new passkey too, where a website accepts nothing else',
  }),
  interaction: SignInDestination.shape.interaction.meta({ description: 'The same for the page of an authorization request: its id' }),
});
export const PasskeyRegistered = Done.extend({
  name: z.string(),
  redirectUrl: z.string().optional().meta({ description: 'With forward_url or interaction: where the visitor goes on to' }),
});

export const PasskeyOptions = z.object({
  options: z.record(z.string(), z.unknown()).nullable().meta({
    description: 'The PublicKeyCredentialCreationOptionsJSON of WebAuthn for registerPasskey; null: the service has no passkeys',
  }),
});

export const Passkey = z.object({
  id: z.string(),
  name: z.string(),
  credentialId: z.string().meta({ description: 'Base64url; for the signals of WebAuthn to the browser' }),
  synced: z.boolean().meta({ description: 'The passkey is backed up, and available on several devices of its owner' }),
  createdAt: z.string(),
  lastUsedAt: z.string().nullable(),
});
export const PasskeyList = z.object({
  rpId: z.string(),
  userHandle: z.string().nullable().meta({ description: 'Base64url: the user.id of WebAuthn; null without a passkey' }),
  passkeys: z.array(Passkey),
});
export const PasskeyName = z
  .string()
  .trim()
  .min(1, 'Give the passkey a name')
  .max(MAX_PASSKEY_NAME_LENGTH, `The name may have ${MAX_PASSKEY_NAME_LENGTH} characters`)
  .regex(/^[^\p{Cc}]*$/u, 'The name contains a control character');
export const PasskeyParams = z.object({ id: z.uuid() });
