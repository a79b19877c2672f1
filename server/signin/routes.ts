import { WEB_CLIENT_ID } from '../../contract/pkce.ts';
import { type Browser, browserOf, clearSession, rememberAccount, setSession } from '../accounts/browser.ts';
import type { Sessions } from '../accounts/sessions.ts';
import { isApplicationId } from '../applications/applications.ts';
import type { Cookies } from '../http/cookies.ts';
import { type Served, serve } from '../http/invoke.ts';
import { bearerOf } from '../http/reading.ts';
import { countSignIn } from '../metrics/metrics.ts';
import { digest } from '../secrets.ts';
import type { OwnAttempts } from './attempts.ts';
import type { SignInCodes } from './code.ts';
import type { SignInLinks } from './link.ts';
import { type OAuth, tokenResponse } from './oauth.ts';
import type { AddressProven, PasskeyOffers, SignedIn } from './opener.ts';
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
}: SignIn): Served[] {
  const addPasskey = async (cookies: Cookies, proven: AddressProven, { device }: Browser) => {
    rememberAccount(cookies, proven.email, proven.authKey);
    return { addPasskey: await passkeys.require(cookies, proven, device) };
  };
  return [
    serve('domainAuth', async (input, caller) => {
      await emailVerification.refuseVerifiable(input);
      return rememberRefusal(caller.cookies, input, () => requests.start(input, browserOf(caller, 'renew')));
    }),
    serve('attempt', async (input, caller) => {
      const { attempt, device } = browserOf(caller);
      return { status: await ownAttempts.status({ attempt: digest(attempt), device: digest(device) }, input) };
    }),
    serve('confirmLink', async (input, caller) => {
      // A sign-in to an application remembers nothing in this browser: its own program continues.
      const redirectUrl = await oauth.confirmLink(input);
      if (redirectUrl) return { redirectUrl };
      const browser = browserOf(caller);
      const opened = await countSignIn('confirmed_link', links.confirm(input, browser));
      return opened.redirectUrl === null ? addPasskey(caller.cookies, opened, browser) : remember(caller.cookies, opened);
    }),
    serve('confirmBrowser', async (input, caller) => {
      await links.confirmBrowser(input, browserOf(caller, 'renew'));
      forgetRefusal(caller.cookies);
      return { success: true };
    }),
    serve('emailCode', async (input, caller) => {
      const browser = browserOf(caller);
      const entered = await countSignIn('code', codes.enter(input, browser));
      if ('code' in entered) return entered;
      if (entered.redirectUrl === null) return addPasskey(caller.cookies, entered, browser);
      const passkey =
        entered.authKey === null ? null : await passkeys.offer(caller.cookies, { email: entered.email, device: browser.device });
      return { ...remember(caller.cookies, entered), ...(passkey && { passkey }) };
    }),
    serve('verifyToken', (input, caller) => verifier.verify(input, caller)),
    serve('verifyTokenByPost', (input, caller) => verifier.verify(input, caller)),
    serve('authorize', async ({ email, language, verifiable, ...input }, caller) => {
      await emailVerification.refuseVerifiable({ email, verifiable });
      const request = () => oauth.authorize({ email, language, ...input }, browserOf(caller, 'renew'));
      return input.client_id === WEB_CLIENT_ID ? rememberRefusal(caller.cookies, { email, language }, request) : request();
    }),
    serve('token', async (input, caller) => {
      if (isApplicationId(input.client_id)) return countSignIn('application', oauth.exchangeForApplication(input));
      const browser = browserOf(caller, 'renew');
      const session = await countSignIn('developer', oauth.exchange(input, browser));
      setSession(caller.cookies, session);
      const passkey =
        input.client_id === WEB_CLIENT_ID ? await passkeys.offer(caller.cookies, { email: session.email, device: browser.device }) : null;
      return { ...tokenResponse(session, input.client_id, browser), ...(passkey && { passkey }) };
    }),
    serve('validateKey', async (input, caller) => {
      const signedIn = await countSignIn('remembered_account', quickLogins.login(input, browserOf(caller, 'renew')));
      const { authKey } = signedIn;
      return { ...remember(caller.cookies, signedIn), ...(authKey !== null && authKey !== input.key && { key: authKey }) };
    }),
    serve('tokenLogin', async (input, caller) => {
      const signedIn = await sessions.signedInBy(caller.cookies.get('sid'));
      const session = await countSignIn('portal_token', portalSessions.tokenLogin(input, browserOf(caller, 'renew'), signedIn));
      setSession(caller.cookies, session);
      return { success: true, email: session.email };
    }),
    serve('session', async (_input, { cookies }) => {
      const user = await sessions.signedInBy(cookies.get('sid'));
      return { user: user && { id: user.id, email: user.email, name: user.name } };
    }),
    serve('logout', async (_input, { cookies, header }) => {
      const wasApplication = await sessions.logout(bearerOf(header('authorization')) ?? cookies.get('sid'), cookies.get('device'));
      if (!wasApplication) clearSession(cookies);
      return { success: true };
    }),
  ];
}

/** Sets the key of the account, unless the browser has it: setting a former key again would end its successors. */
function remember(cookies: Cookies, { email, authKey, redirectUrl }: SignedIn): { redirectUrl: string } {
  if (authKey !== null) rememberAccount(cookies, email, authKey);
  return { redirectUrl };
}
