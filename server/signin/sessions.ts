import { v7 as uuid } from 'uuid';
import { Fault } from '../../contract/errors.ts';
import { ATTEMPT_SECONDS } from '../../contract/limits.ts';
import { CLI_CLIENT_ID, WEB_CLIENT_ID } from '../../contract/pkce.ts';
import type { Output, Parsed } from '../../contract/routes.ts';
import { maskEmail } from '../../contract/rules.ts';
import { type Applications, isApplicationId } from '../applications/applications.ts';
import { APPLICATION_TOKEN_SECONDS, type ApplicationSignInStore } from './application-store.ts';
import { deviceLabelOf } from './device-label.ts';
import { isRedirectOf, type OAuthClient, withCode } from './redirects.ts';
import { createAuthKey, deviceIdOf, digest, idToHandle, randomSecret, type Secrets } from './secrets.ts';
import { type Issue, SESSION_SECONDS, type SessionStore, type SessionUser } from './session-store.ts';
import type { Browser, SignIn } from './signin.ts';
import type { NewAttempt } from './store.ts';

/** A developer's new session: the secret for the `sid` cookie, which is the bearer token too, and the device's key. */
export type NewSession = { email: string; session: string; authKey: string };

export type Sessions = ReturnType<typeof createSessions>;

/** Developers: OAuth 2.0 authorization code with PKCE (RFC 6749, RFC 7636), the portal's own token, and sessions. */
export function createSessions(parts: {
  publicUrl: string;
  signin: SignIn;
  store: SessionStore;
  secrets: Secrets;
  applications: Pick<Applications, 'redirectUrisOf'>;
  applicationSignIns: ApplicationSignInStore;
}) {
  const { publicUrl, signin, store, secrets, applications, applicationSignIns } = parts;
  const builtIn: readonly OAuthClient[] = [
    { id: WEB_CLIENT_ID, redirectUris: [`${publicUrl}/developer`], kind: 'web' },
    { id: CLI_CLIENT_ID, redirectUris: ['/callback'], kind: 'native' },
  ];

  async function clientOf(id: string): Promise<OAuthClient> {
    const client = builtIn.find((known) => known.id === id);
    if (client) return client;
    const redirectUris = await applications.redirectUrisOf(id);
    if (!redirectUris) throw new Fault('unknown_client', { field: 'client_id' });
    return { id, redirectUris, kind: 'application' };
  }

  function mailOf({ kind }: OAuthClient, { state, redirect_uri }: Parsed<'authorize'>): Pick<NewAttempt, 'mailKind' | 'mailData'> {
    // Only the portal's link leads to the portal's callback; any other one to a page of ours, which goes on to the redirect URI.
    if (kind === 'web') return { mailKind: 'portal_sign_in', mailData: { state } };
    if (kind === 'native') return { mailKind: 'portal_sign_in', mailData: {} };
    return { mailKind: 'app_sign_in', mailData: { host: new URL(redirect_uri).hostname } };
  }

  async function newIssue(browser: Browser): Promise<{ issue: Issue; session: string; authKey: string }> {
    const label = await deviceLabelOf(browser.userAgent);
    const session = randomSecret();
    const { key, selector, verifier } = createAuthKey();
    return {
      issue: {
        userId: uuid(),
        session: digest(session),
        device: digest(browser.device),
        selector,
        verifier,
        label,
        replaced: browser.session === undefined ? null : digest(browser.session),
      },
      session,
      authKey: key,
    };
  }

  return {
    /** Begins a sign-in of a developer. @throws Fault unknown_client, bad_redirect_uri, rate_limited; then no mail goes out */
    async authorize(request: Parsed<'authorize'>, browser: Browser): Promise<Output<'authorize'>> {
      const client = await clientOf(request.client_id);
      if (!isRedirectOf(client, request.redirect_uri)) throw new Fault('bad_redirect_uri', { field: 'redirect_uri' });
      const attempt = signin.newAttempt(request.email, request.language, browser);
      await signin.begin({
        ...attempt,
        kind: 'app',
        clientId: client.id,
        redirectUri: request.redirect_uri,
        challenge: request.code_challenge,
        state: request.state,
        ...mailOf(client, request),
      });
      return { sent: true, expiresIn: ATTEMPT_SECONDS, attempt: idToHandle(attempt.id) };
    },

    /** RFC 6749 §4.1.3 with RFC 7636 §4.5. @throws Fault bad_grant */
    async exchange({ code, code_verifier, client_id, redirect_uri }: Parsed<'token'>, browser: Browser): Promise<NewSession> {
      const known = secrets.readLink(code);
      if (known?.kind !== 'app') throw new Fault('bad_grant');
      const { issue, session, authKey } = await newIssue(browser);
      const challenge = digest(code_verifier).toString('base64url');
      const grant = { id: known.id, clientId: client_id, redirectUri: redirect_uri ?? null, challenge };
      const email = await store.exchange({ ...issue, ...grant });
      if (email) return { email, session, authKey };
      await store.refuseExchange(grant);
      throw new Fault('bad_grant');
    },

    /**
     * The same for somebody's application. Its token only tells who the person is: it opens neither portal nor account, ends
     * after an hour, and the browser or program that exchanges it remembers nothing.
     * @throws Fault bad_grant
     */
    async exchangeForApplication({ code, code_verifier, client_id, redirect_uri }: Parsed<'token'>): Promise<Output<'token'>> {
      const known = secrets.readLink(code);
      if (known?.kind !== 'app') throw new Fault('bad_grant');
      const challenge = digest(code_verifier).toString('base64url');
      const token = randomSecret();
      const grant = { id: known.id, clientId: client_id, redirectUri: redirect_uri ?? null, challenge };
      const email = await applicationSignIns.exchange({ ...grant, userId: uuid(), session: digest(token) });
      if (email) return { email, access_token: token, token_type: 'Bearer', expires_in: APPLICATION_TOKEN_SECONDS };
      await store.refuseExchange(grant);
      throw new Fault('bad_grant');
    },

    /**
     * Continues the mailed link of an application for whoever names its address: the program that began the sign-in is never the
     * browser that opens the link, and a mail scanner does not know the address.
     * @returns the application's redirect URI with the code; null when it is not a link of an OAuth client
     * @throws Fault bad_link
     */
    async confirmApplicationLink({ t, email }: Parsed<'confirmLink'>): Promise<string | null> {
      const known = secrets.readLink(t);
      if (known?.kind !== 'app') return null;
      const found = await applicationSignIns.confirmLink(known.id, email);
      if (!found || !isRedirectOf(await clientOf(found.clientId), found.redirectUri)) throw new Fault('bad_link');
      return withCode(found.redirectUri, t, found.state, publicUrl);
    },

    isApplicationId,

    /**
     * Opens a session with the portal's own token. It asks first when another browser began the attempt, or somebody else is signed in.
     * @throws Fault bad_token, confirmation_needed
     */
    async tokenLogin({ token, confirm }: Parsed<'tokenLogin'>, browser: Browser, signedIn: SessionUser | null): Promise<NewSession> {
      const hash = digest(token);
      const { issue, session, authKey } = await newIssue(browser);
      const mayReplace = confirm || signedIn === null || signedIn.email === (await store.peekPortalToken(hash));
      if (mayReplace) {
        const email = await store.tokenLogin({ ...issue, hash, browser: digest(browser.attempt), confirmed: confirm ?? false });
        if (email) return { email, session, authKey };
      }
      const waiting = await store.peekPortalToken(hash);
      if (waiting) throw new Fault('confirmation_needed', { message: `Sign in as ${maskEmail(waiting)}?` });
      throw new Fault('bad_token');
    },

    /** Ends all sessions and keys of the browser's device and the session's, or an application's token. @returns whether it was an application's */
    logout: (session: string | undefined, device: string | undefined) =>
      store.endSession(session ? digest(session) : null, device ? digest(device) : null),

    /** Whose session secret this is, from the `sid` cookie or a bearer token, which may be an application's. */
    accountOf: (session: string): Promise<SessionUser | null> => store.sessionUser(digest(session)),

    /**
     * What an exchange answers. The portal's page gets no `access_token`: its session is in an HttpOnly cookie, where no script can
     * read it. A program has no cookies and gets the answer of RFC 6749 §5.1.
     */
    tokenAnswer({ email, session, authKey }: NewSession, clientId: string, device: string): Output<'token'> {
      const remembered = { email, authKey, localKey: deviceIdOf(digest(device)) };
      if (clientId === WEB_CLIENT_ID) return remembered;
      return { ...remembered, access_token: session, token_type: 'Bearer', expires_in: SESSION_SECONDS };
    },
  };
}
