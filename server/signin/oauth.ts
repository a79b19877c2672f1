import { v7 as uuid } from 'uuid';
import { Fault } from '../../contract/errors.ts';
import type { Output, Parsed } from '../../contract/routes.ts';
import { ATTEMPT_SECONDS, CLI_CLIENT_ID, WEB_CLIENT_ID } from '../../contract/rules.ts';
import { type Browser, type NewSession, SESSION_SECONDS } from '../accounts/browser.ts';
import { deviceIdOf, type Sessions } from '../accounts/sessions.ts';
import type { Applications } from '../applications/applications.ts';
import { digest, randomSecret } from '../secrets.ts';
import { APPLICATION_TOKEN_SECONDS, type CodeGrant, exchangeOf, type OAuthStore } from './oauth-store.ts';
import { isRedirectOf, type OAuthClient, withCode } from './redirects.ts';
import { newAttempt, type SignInRequests } from './request.ts';
import type { NewAttempt } from './request-store.ts';
import { type AttemptSecrets, idToHandle } from './secrets.ts';

type Parts = {
  publicUrl: string;
  requests: SignInRequests;
  sessions: Sessions;
  store: OAuthStore;
  secrets: AttemptSecrets;
  applications: Pick<Applications, 'redirectUrisOf'>;
};

/** OAuth 2.0 authorization code with PKCE (RFC 6749, RFC 7636), for the portal, the command line and developers' applications. */
export class OAuth {
  readonly #parts: Parts;
  readonly #builtIn: readonly OAuthClient[];

  constructor(parts: Parts) {
    this.#parts = parts;
    this.#builtIn = [
      { id: WEB_CLIENT_ID, redirectUris: [`${parts.publicUrl}/developer`], kind: 'web' },
      { id: CLI_CLIENT_ID, redirectUris: ['/callback'], kind: 'native' },
    ];
  }

  /** Begins a sign-in with an email. @throws Fault unknown_client, bad_redirect_uri, rate_limited; then no email is sent */
  async authorize(request: Parsed<'authorize'>, browser: Browser): Promise<Output<'authorize'>> {
    const client = await this.#clientOf(request.client_id);
    if (!isRedirectOf(client, request.redirect_uri)) throw new Fault('bad_redirect_uri', { field: 'redirect_uri' });
    const attempt = newAttempt(request.email, request.language, browser);
    await this.#parts.requests.begin({
      ...attempt,
      kind: 'app',
      clientId: client.id,
      redirectUri: request.redirect_uri,
      challenge: request.code_challenge,
      state: request.state,
      ...mailOf(client, request),
    });
    return { sent: true, expiresIn: ATTEMPT_SECONDS, attempt: idToHandle(attempt.id) };
  }

  /** Exchanges a code for a session (RFC 6749 §4.1.3, RFC 7636 §4.5). @throws Fault bad_grant */
  async exchange(request: Parsed<'token'>, browser: Browser): Promise<NewSession> {
    const grant = this.#grantOf(request);
    return (await this.#parts.sessions.open(exchangeOf(grant), browser)) ?? this.#refuse(grant);
  }

  /**
   * Exchanges a code for the token of a developer's application. The token only identifies the person: it opens neither portal nor
   * account and ends after an hour, and the browser or program that exchanges it is not remembered.
   * @throws Fault bad_grant
   */
  async exchangeForApplication(request: Parsed<'token'>): Promise<Output<'token'>> {
    const grant = this.#grantOf(request);
    const token = randomSecret();
    const email = await this.#parts.store.exchangeForApplication(grant, { userId: uuid(), session: digest(token) });
    if (!email) return this.#refuse(grant);
    return { email, access_token: token, token_type: 'Bearer', expires_in: APPLICATION_TOKEN_SECONDS };
  }

  /**
   * Continues a sign-in to an application by its link, after the address was given: the program that began the sign-in is never
   * the browser that opens the link, and a mail scanner does not know the address.
   * @returns the application's redirect URI with the code; null when it is not a link of an OAuth client
   * @throws Fault bad_link
   */
  async confirmLink({ t, email }: Parsed<'confirmLink'>): Promise<string | null> {
    const { secrets, store, publicUrl } = this.#parts;
    const attempt = secrets.readLink(t);
    if (attempt?.kind !== 'app') return null;
    const link = await store.confirmLink(attempt.id, email);
    if (!link || !isRedirectOf(await this.#clientOf(link.clientId), link.redirectUri)) throw new Fault('bad_link');
    return withCode(link.redirectUri, t, link.state, publicUrl);
  }

  async #clientOf(id: string): Promise<OAuthClient> {
    const client = this.#builtIn.find((builtIn) => builtIn.id === id);
    if (client) return client;
    const redirectUris = await this.#parts.applications.redirectUrisOf(id);
    if (!redirectUris) throw new Fault('unknown_client', { field: 'client_id' });
    return { id, redirectUris, kind: 'application' };
  }

  /** @throws Fault bad_grant */
  #grantOf({ code, code_verifier, client_id, redirect_uri }: Parsed<'token'>): CodeGrant {
    const attempt = this.#parts.secrets.readLink(code);
    if (attempt?.kind !== 'app') throw new Fault('bad_grant');
    const challenge = digest(code_verifier).toString('base64url');
    return { id: attempt.id, clientId: client_id, redirectUri: redirect_uri ?? null, challenge };
  }

  /** @throws Fault bad_grant, always */
  async #refuse(grant: CodeGrant): Promise<never> {
    await this.#parts.store.refuse(grant);
    throw new Fault('bad_grant');
  }
}

function mailOf({ kind }: OAuthClient, { state, redirect_uri }: Parsed<'authorize'>): Pick<NewAttempt, 'mailKind' | 'mailData'> {
  // The portal's link leads to the portal's callback; any other one to the link page, which continues to the redirect URI.
  if (kind === 'web') return { mailKind: 'portal_sign_in', mailData: { state } };
  if (kind === 'native') return { mailKind: 'portal_sign_in', mailData: {} };
  return { mailKind: 'app_sign_in', mailData: { host: new URL(redirect_uri).hostname } };
}

/**
 * Returns the response to an exchange. The portal's page gets no `access_token`: its session is in an HttpOnly cookie, which
 * scripts cannot read. A program has no cookies and gets the response of RFC 6749 §5.1.
 */
export function tokenResponse({ email, session, authKey }: NewSession, clientId: string, { device }: Browser): Output<'token'> {
  const remembered = { email, authKey, localKey: deviceIdOf(digest(device)) };
  if (clientId === WEB_CLIENT_ID) return remembered;
  return { ...remembered, access_token: session, token_type: 'Bearer', expires_in: SESSION_SECONDS };
}
