import { WEB_CLIENT_ID } from '../../contract/pkce.ts';
import { browserOf, clearSession, rememberAccount, setSession } from '../accounts/browser.ts';
import type { Sessions } from '../accounts/sessions.ts';
import { isApplicationId } from '../applications/applications.ts';
import { type Endpoint, handle } from '../http/endpoint.ts';
import { bearerOf } from '../http/reading.ts';
import { countSignIn } from '../metrics/metrics.ts';
import { digest } from '../secrets.ts';
import type { OwnAttempts } from './attempts.ts';
import type { SignInCodes } from './code.ts';
import type { SignInLinks } from './link.ts';
import { type OAuth, tokenResponse } from './oauth.ts';
import { type PasskeyOffers, respondToProof } from './opener.ts';
import type { PortalSessions } from './portal.ts';
import type { QuickLogins } from './quick-login.ts';
import { forgetRefusal, rememberRefusal, type SignInRequests } from './request.ts';
import type { TokenVerifier } from './verify.ts';

/** The flows of signing in. */
export type SignIn = {
  requests: SignInRequests;
  ownAttempts: OwnAttempts;
  links: SignInLinks;
  codes: SignInCodes;
  quickLogins: QuickLogins;
  oauth: OAuth;
  sessions: Sessions;
  portalSessions: PortalSessions;
  verifier: TokenVerifier;
  passkeys: PasskeyOffers;
  emailVerification: { refuseVerifiable(input: { email: string; verifiable?: boolean }): Promise<void> };
};

/** Binds the calls of signing in. */
export function signInRoutes({
  requests,
  ownAttempts,
  links,
  codes,
  quickLogins,
  oauth,
  sessions,
  portalSessions,
  verifier,
  passkeys,
  emailVerification,
}: SignIn): Endpoint[] {
  return [
    handle('domainAuth', async (input, caller) => {
      await emailVerification.refuseVerifiable(input);
      return rememberRefusal(caller.cookies, input, () => requests.start(input, browserOf(caller, 'renew')));
    }),
    handle('attempt', async (input, caller) => {
      const { attempt, device } = browserOf(caller);
      return { status: await ownAttempts.status({ attempt: digest(attempt), device: digest(device) }, input) };
    }),
    handle('confirmLink', async (input, caller) => {
      // A sign-in to an application remembers nothing in this browser: its own program continues.
      const redirectUrl = await oauth.confirmLink(input);
      if (redirectUrl) return { redirectUrl };
      const browser = browserOf(caller);
      const opened = await countSignIn('confirmed_link', links.confirm(input, browser));
      return respondToProof(passkeys, caller.cookies, opened, browser, { offers: false });
    }),
    handle('confirmBrowser', async (input, caller) => {
      await links.confirmBrowser(input, browserOf(caller, 'renew'));
      forgetRefusal(caller.cookies);
      return { success: true };
    }),
    handle('emailCode', async (input, caller) => {
      const browser = browserOf(caller);
      const entered = await countSignIn(input.code.method, codes.enter(input, browser));
      return 'code' in entered ? entered : respondToProof(passkeys, caller.cookies, entered, browser);
    }),
    handle('verifyToken', (input, caller) => verifier.verify(input, caller)),
    handle('verifyTokenByPost', (input, caller) => verifier.verify(input, caller)),
    handle('authorize', async ({ email, language, verifiable, ...input }, caller) => {
      await emailVerification.refuseVerifiable({ email, verifiable });
      const request = () => oauth.authorize({ email, language, ...input }, browserOf(caller, 'renew'));
      return input.client_id === WEB_CLIENT_ID ? rememberRefusal(caller.cookies, { email, language }, request) : request();
    }),
    handle('token', async (input, caller) => {
      if (isApplicationId(input.client_id)) return countSignIn('application', oauth.exchangeForApplication(input));
      const browser = browserOf(caller, 'renew');
      const session = await countSignIn('developer', oauth.exchange(input, browser));
      setSession(caller.cookies, session);
      const passkey =
        input.client_id === WEB_CLIENT_ID ? await passkeys.offer(caller.cookies, { email: session.email, device: browser.device }) : null;
      return { ...tokenResponse(session, input.client_id, browser), ...(passkey && { passkey }) };
    }),
    handle('validateKey', async (input, caller) => {
      const { email, authKey, redirectUrl } = await countSignIn('remembered_account', quickLogins.login(input, browserOf(caller, 'renew')));
      if (authKey !== null) rememberAccount(caller.cookies, email, authKey);
      return { redirectUrl, ...(authKey !== null && authKey !== input.key && { key: authKey }) };
    }),
    handle('tokenLogin', async (input, caller) => {
      const signedIn = await sessions.signedInBy(caller.cookies.get('sid'));
      const session = await countSignIn('portal_token', portalSessions.tokenLogin(input, browserOf(caller, 'renew'), signedIn));
      setSession(caller.cookies, session);
      return { success: true, email: session.email };
    }),
    handle('session', async (_input, { cookies }) => {
      const user = await sessions.signedInBy(cookies.get('sid'));
      return { user: user && { id: user.id, email: user.email, name: user.name } };
    }),
    handle('logout', async (_input, { cookies, header }) => {
      const wasApplication = await sessions.logout(bearerOf(header('authorization')) ?? cookies.get('sid'), cookies.get('device'));
      if (!wasApplication) clearSession(cookies);
      return { success: true };
    }),
  ];
}
