import { METHODS, type Method } from '../../contract/methods.ts';
import { rpIdOf } from '../signin/methods/passkeys.ts';

/** The authentication context class of a sign-in by email (OpenID Connect Core §2). */
const EMAIL_ACR = 'urn:emailauth:acr:email';

/**
 * The classes of a passkey (OpenID Connect EAP ACR Values 1.0 §2), which are phishing-resistant: `phrh` with a key in the hardware of
 * one device, as the authenticator says.
 */
const PASSKEY_ACRS = { synced: 'phr', hardware: 'phrh' } as const;

/** How a person signed in. `hardware`: with a passkey that is bound to one device. */
export type Authentication = { method: Method; hardware: boolean };

/** Returns the classes that a service can provide, which without passkeys is only that of an email. */
export const acrValuesOf = (publicUrl: string): string[] =>
  rpIdOf(publicUrl, null) === null ? [EMAIL_ACR] : [EMAIL_ACR, ...Object.values(PASSKEY_ACRS)];

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
export const isPasskeyAcr = (acr: string | undefined): boolean => Object.values(PASSKEY_ACRS).some((known) => known === acr);

/** Returns the authentication context class of a sign-in. */
export function acrOf({ method, hardware }: Authentication): string {
  if (!('hardware' in METHODS[method].amr)) return EMAIL_ACR;
  return hardware ? PASSKEY_ACRS.hardware : PASSKEY_ACRS.synced;
}

/**
 * Returns the authentication methods of a sign-in (RFC 8176 §2): a secret of an email that is used once, the click of a person in a
 * browser that is remembered for the address or signed in at its mail provider, and a key that the person unlocked: in the hardware of one
 * device, or synced.
 */
export function amrOf({ method, hardware }: Authentication): string[] {
  const { amr } = METHODS[method];
  if ('hardware' in amr) return [...(hardware ? amr.hardware : amr.synced)];
  return [...amr];
}
