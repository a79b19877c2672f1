import type { Input } from '../../../contract/calls.ts';
import type { LanguageCode } from '../../../contract/languages.ts';
import type { PasskeyCreationOptions } from '../../../contract/pages.ts';
import { challengeOf, createPkce, WEB_CLIENT_ID } from '../../../contract/pkce.ts';
import { api } from '../../lib/api.ts';
import { deletePkce, type PkceBundle, readPkce, remember, safePath } from '../../lib/storage.ts';
import { paths } from '../../pages.ts';

/** Returns what this browser has stored for an attempt with PKCE (RFC 7636). @param state of the attempt; null: a form began it */
export function bundleOf(state: string | null): PkceBundle | null {
  const stored = state === null ? null : readPkce(state);
  return typeof stored === 'string' ? null : stored;
}

/** Returns a new verifier and state for an address. */
export async function createBundle(email: string): Promise<PkceBundle> {
  const { codeVerifier, state } = await createPkce();
  return { codeVerifier, state, redirectUri: location.origin + paths.developer, email };
}

/** Returns the request for an email to the address of a bundle. */
export async function authorizationOf(
  { codeVerifier, state, redirectUri, email }: PkceBundle,
  language: LanguageCode,
): Promise<Input<'authorize'>> {
  const challenge = { code_challenge: await challengeOf(codeVerifier), code_challenge_method: 'S256' } as const;
  return { email, client_id: WEB_CLIENT_ID, redirect_uri: redirectUri, ...challenge, state, language };
}

/** Exchanges a code for a session and remembers the account. Returns where to go on, and what a passkey may be created with. @throws ApiError */
export async function exchange(
  code: string,
  bundle: PkceBundle,
  signal?: AbortSignal,
): Promise<{ url: string; passkey: PasskeyCreationOptions | undefined }> {
  const request = { code, code_verifier: bundle.codeVerifier, client_id: WEB_CLIENT_ID };
  const { email, authKey, ...response } = await api.token(request, { signal });
  if (email && authKey) remember(email, authKey);
  else console.warn('The token response has no email or authKey: this account is not remembered.');
  deletePkce(bundle.state);
  return { url: safePath(bundle.redirectUri, paths.developer), passkey: 'passkey' in response ? response.passkey : undefined };
}
