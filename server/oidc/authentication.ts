import { rpIdOf } from '../passkeys/passkeys.ts';
import type { TokenMethod } from '../signin/methods.ts';

/** The authentication context class of a sign-in by email (OpenID Connect Core §2). */
const EMAIL_ACR = 'urn:emailauth:acr:email';

/**
 * The classes of the methods. Those of a passkey (OpenID Connect EAP ACR Values 1.0 §2) are phishing-resistant: `phrh` with a key in
 * the hardware of one device, as the authenticator says.
 */
export const ACR = {
  link: EMAIL_ACR,
  code: EMAIL_ACR,
  remembered: EMAIL_ACR,
  hardware_passkey: 'phrh',
  passkey: 'phr',
  verified_email: EMAIL_ACR,
} as const satisfies Record<TokenMethod, string>;

const PASSKEY_ACRS: readonly string[] = [ACR.passkey, ACR.hardware_passkey];

/** Returns the classes that a service can provide, which without passkeys is only that of an email. */
export const acrValuesOf = (publicUrl: string): string[] => (rpIdOf(publicUrl, null) === null ? [EMAIL_ACR] : [EMAIL_ACR, ...PASSKEY_ACRS]);

/** Whether an acr_values parameter accepts only a passkey. Unknown classes do not count, nor does one that the service cannot provide. */
export function asksForPasskey(acrValues: unknown, publicUrl: string): boolean {
  const known = acrValuesOf(publicUrl).filter((acr) =>
    String(acrValues ?? '')
      .split(' ')
      .includes(acr),
  );
  return known.length > 0 && known.every(isPasskeyAcr);
}

/** Whether an authentication context class is that of a passkey. */
export const isPasskeyAcr = (acr: string | undefined): boolean => acr !== undefined && PASSKEY_ACRS.includes(acr);

/**
 * Authentication methods (RFC 8176 §2): a secret of an email that is used once, the click of a person in a browser that is
 * remembered for the address or signed in at its mail provider, and a key that the person unlocked: in the hardware of one device, or
 * synced.
 */
export const AMR = {
  link: ['otp'],
  code: ['otp'],
  remembered: ['user'],
  hardware_passkey: ['hwk', 'user'],
  passkey: ['swk', 'user'],
  verified_email: ['user'],
} as const satisfies Record<TokenMethod, readonly string[]>;
