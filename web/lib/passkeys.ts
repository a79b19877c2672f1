import type { Input, Output } from '../../contract/calls.ts';
import type { PasskeyCreationOptions } from '../../contract/pages.ts';

/** Methods of WebAuthn Level 3 (§5.1.10) that are newer than the types and some browsers. */
type Signals = {
  signalUnknownCredential?(options: { rpId: string; credentialId: string }): Promise<void>;
  signalAllAcceptedCredentials?(options: { rpId: string; userId: string; allAcceptedCredentialIds: string[] }): Promise<void>;
};

/** Returns the API for passkeys, unless the browser lacks the conversions of WebAuthn Level 3 §5.1.8. */
export const passkeyApi = () =>
  typeof PublicKeyCredential === 'function' && 'parseRequestOptionsFromJSON' in PublicKeyCredential ? PublicKeyCredential : null;

/** Creates a passkey. @throws DOMException InvalidStateError for a device that has one of the options, NotAllowedError when none was created */
export async function createPasskey(options: PasskeyCreationOptions): Promise<Input<'registerPasskey'>['credential']> {
  const publicKey = passkeyApi()?.parseCreationOptionsFromJSON(options as unknown as PublicKeyCredentialCreationOptionsJSON);
  const created = (await navigator.credentials.create({ publicKey })) as PublicKeyCredential;
  return created.toJSON() as Input<'registerPasskey'>['credential'];
}

/** Tells the browser that the service does not know a passkey, so that it is not offered again. */
export function signalUnknown(rpId: string, credentialId: string): void {
  const signals: Signals = PublicKeyCredential;
  void signals.signalUnknownCredential?.({ rpId, credentialId }).catch(() => {});
}

/** Tells the browser which passkeys are left, so that it offers no removed one. */
export function signalAccepted({ rpId, userHandle, passkeys }: Output<'listPasskeys'>): void {
  if (typeof PublicKeyCredential === 'undefined' || userHandle === null) return;
  const signals: Signals = PublicKeyCredential;
  const allAcceptedCredentialIds = passkeys.map(({ credentialId }) => credentialId);
  void signals.signalAllAcceptedCredentials?.({ rpId, userId: userHandle, allAcceptedCredentialIds }).catch(() => {});
}
