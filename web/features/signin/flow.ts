import type { LanguageCode } from '../../../contract/languages.ts';
import { challengeOf, createPkce, WEB_CLIENT_ID } from '../../../contract/pkce.ts';
import { call } from '../../lib/call.ts';
import { dropPkce, keepPkce, type PkceBundle } from '../../lib/pkce-store.ts';
import { remember } from '../../lib/remembered.ts';
import { safePath } from '../../lib/safe-path.ts';
import { paths } from '../../paths.ts';

/** How this page signs somebody in: by forward_url for a site, by PKCE for the portal. */
export type Flow = {
  /** Has a mail sent. @throws ApiError */
  requestMail(email: string, language: LanguageCode): Promise<void>;
  /** Redeems the mail's six digits. @returns where to go; @throws ApiError */
  enterCode(email: string, code: string): Promise<string>;
};

/** @param forwardUrl where the visitor goes with the token, as the page's address gave it; null for the portal's own sign-in */
export function createFlow(forwardUrl: string | null): Flow {
  return forwardUrl === null ? portalFlow() : forwardFlow(forwardUrl);
}

function forwardFlow(forwardUrl: string): Flow {
  return {
    async requestMail(email, language) {
      await call<'domainAuth'>('POST', '/api/auth/domain-auth', { email, forward_url: forwardUrl, language });
    },
    async enterCode(email, code) {
      const answer = await call<'emailCode'>('POST', '/api/auth/email-code', { email, code });
      return 'redirectUrl' in answer ? answer.redirectUrl : forwardUrl;
    },
  };
}

/** OAuth 2.0 with PKCE (RFC 7636). */
function portalFlow(): Flow {
  let bundle: PkceBundle | null = null;
  return {
    async requestMail(email, language) {
      // A second mail for the same address keeps the verifier, so that the first one still works.
      if (bundle?.email !== email) {
        const { codeVerifier, state } = await createPkce();
        bundle = { codeVerifier, state, redirectUri: location.origin + paths.developer, email };
      }
      await call<'authorize'>('POST', '/api/auth/authorize', {
        email,
        client_id: WEB_CLIENT_ID,
        redirect_uri: bundle.redirectUri,
        code_challenge: await challengeOf(bundle.codeVerifier),
        code_challenge_method: 'S256',
        state: bundle.state,
        language,
      });
      keepPkce(bundle);
    },
    async enterCode(email, code) {
      if (!bundle) throw new Error('No sign-in was begun');
      const answer = await call<'emailCode'>('POST', '/api/auth/email-code', { email, code, state: bundle.state });
      return 'code' in answer ? exchange(answer.code, bundle) : safePath(answer.redirectUrl, paths.developer);
    },
  };
}

/** Exchanges a code for a session and remembers the account. @returns the path to go to; @throws ApiError */
export async function exchange(code: string, bundle: PkceBundle, signal?: AbortSignal): Promise<string> {
  const request = { code, code_verifier: bundle.codeVerifier, client_id: WEB_CLIENT_ID };
  const { email, authKey } = await call<'token'>('POST', '/api/auth/token', request, signal);
  if (email && authKey) remember(email, authKey);
  else console.warn('The token answer lacks email or authKey; this account is not remembered.');
  dropPkce(bundle.state);
  return safePath(bundle.redirectUri, paths.developer);
}
