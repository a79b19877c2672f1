import type { LanguageCode } from '../../../contract/languages.ts';
import type { PasskeyCreationOptions, RequiredPasskey } from '../../../contract/pages.ts';
import { challengeOf, createPkce, WEB_CLIENT_ID } from '../../../contract/pkce.ts';
import type { Input, Output } from '../../../contract/routes.ts';
import type { AttemptStatus, DestinationParameters } from '../../../contract/signin.ts';
import { api } from '../../lib/api.ts';
import { deletePkce, type PkceBundle, readPkce, remember, storePkce } from '../../lib/storage.ts';
import { paths, safePath } from '../../paths.ts';

/** Where a sign-in by email goes on to, and the options with which a passkey may be created before; or the passkey that must be added. */
export type Outcome = { url: string; passkey?: PasskeyCreationOptions } | { addPasskey: RequiredPasskey };

/** The requests of a sign-in: by forward_url or authorization request, or by PKCE for the portal. */
export type Flow = {
  /** Requests an email. @param verifiable the browser may prove the address instead @throws ApiError, verifiable_email when it may, with this address */
  requestMail(email: string, language: LanguageCode, verifiable?: true): Promise<void>;
  /** Redeems the six digits of the email. @throws ApiError */
  enterCode(email: string, code: string): Promise<Outcome>;
  /** Returns the status of the newest email to an address. @throws ApiError */
  statusOf(email: string, signal: AbortSignal): Promise<AttemptStatus>;
};

/** Returns the status of the newest email for a destination. */
const statusFor = async (input: Input<'attempt'>, signal: AbortSignal) => (await api.attempt(input, { signal })).status;

/**
 * @param destination null: the portal
 * @param state of the attempt with PKCE that this browser has begun already
 */
export function createFlow(destination: DestinationParameters | null, state: string | null): Flow {
  return destination === null ? portalFlow(state) : forwardFlow(destination);
}

function forwardFlow(destination: DestinationParameters): Flow {
  return {
    statusOf: (email, signal) => statusFor({ email, ...destination }, signal),
    async requestMail(email, language, verifiable) {
      await api.domainAuth({ email, ...destination, language, verifiable });
    },
    async enterCode(email, code) {
      const response = await api.emailCode({ email, code });
      if ('redirectUrl' in response) return { url: response.redirectUrl, passkey: response.passkey };
      if ('addPasskey' in response) return response;
      return { url: destination.forward_url ?? location.href };
    },
  };
}

/** OAuth 2.0 with PKCE (RFC 7636). An attempt that a form began has no state, and its code needs no verifier. */
function portalFlow(begunState: string | null): Flow {
  let bundle: PkceBundle | null = null;
  // Read when it is needed: the first render has no storage.
  const currentBundle = () => {
    const stored = bundle === null && begunState !== null ? readPkce(begunState) : bundle;
    return typeof stored === 'string' ? null : stored;
  };
  return {
    statusOf: (email, signal) => statusFor({ email, forward_url: location.origin + paths.developer }, signal),
    async requestMail(email, language, verifiable) {
      bundle = currentBundle();
      // A second email for the same address keeps the verifier, so that the first one still works.
      if (bundle?.email !== email) {
        const { codeVerifier, state } = await createPkce();
        bundle = { codeVerifier, state, redirectUri: location.origin + paths.developer, email };
      }
      await api.authorize({
        email,
        client_id: WEB_CLIENT_ID,
        redirect_uri: bundle.redirectUri,
        code_challenge: await challengeOf(bundle.codeVerifier),
        code_challenge_method: 'S256',
        state: bundle.state,
        language,
        verifiable,
      });
      storePkce(bundle);
    },
    async enterCode(email, code) {
      const begun = currentBundle();
      const response = await api.emailCode({ email, code, state: begun?.state });
      if ('code' in response && begun) return exchange(response.code, begun);
      return { url: pathOf(response), passkey: 'passkey' in response ? response.passkey : undefined };
    },
  };
}

const pathOf = (response: Output<'emailCode'>) => safePath('redirectUrl' in response ? response.redirectUrl : '', paths.developer);

/** Exchanges a code for a session and remembers the account. @throws ApiError */
export async function exchange(code: string, bundle: PkceBundle, signal?: AbortSignal): Promise<Extract<Outcome, { url: string }>> {
  const request = { code, code_verifier: bundle.codeVerifier, client_id: WEB_CLIENT_ID };
  const { email, authKey, ...response } = await api.token(request, { signal });
  if (email && authKey) remember(email, authKey);
  else console.warn('The token response has no email or authKey: this account is not remembered.');
  deletePkce(bundle.state);
  const url = safePath(bundle.redirectUri, paths.developer);
  return { url, passkey: 'passkey' in response ? response.passkey : undefined };
}

/** Signs a remembered account in again by its key. @throws ApiError */
export const signInAgain = (input: Input<'validateKey'>) => api.validateKey(input);

/**
 * Signs in with what the browser knows of the mail provider. Returns where the sign-in leads, or null when that does not verify the
 * address, for whatever reason: the email is the way then.
 */
export async function signInVerified(email: string, token: string, destination: DestinationParameters | null): Promise<string | null> {
  try {
    const { redirectUrl } = await api.verifiedEmailSignIn({ email, token, ...destination });
    return redirectUrl && destination === null ? safePath(redirectUrl, paths.developer) : redirectUrl;
  } catch {
    return null;
  }
}

/** Returns the texts of the sign-in pages in a language. @throws ApiError */
export const loadTexts = (language: LanguageCode) => api.translations({ language });
