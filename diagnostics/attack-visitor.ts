import { WEBSITE_PATHS } from '../contract/pages.ts';
import { type CheckResult, type Finding, fail, oneLine, pass, runCheck } from './check.ts';
import type { LocalInbox } from './inbox.ts';
import { redirectOf, type StartedSignIn, startSignIn, type Visitor, type Website } from './login.ts';
import { namesOfSetCookies, type PageResponse } from './request.ts';
import { findSessionPage, isSignedIn, type SessionPage } from './session.ts';
import type { CheckOptions } from './website.ts';

/** A website under attack, and how to sign in to it. */
export type Attack = {
  website: Website;
  inbox: LocalInbox;
  options: CheckOptions;
  /** Tells a session from none; null until a visitor has signed in. */
  session: Session | null;
};

/** How a session of the website is recognized. */
type Session = { page: SessionPage | null; cookies: readonly string[] };

/** A visitor who has opened the link of the email; the callback has not been requested. */
export type Returning = { visitor: Visitor; email: string; started: StartedSignIn; callback: URL };

/** A visitor who was signed in, and what the callback responded. */
export type SignedIn = Returning & {
  response: PageResponse;
  /** The visitor before the callback. */
  before: Visitor;
};

/** Runs one check of an attack. */
export const check = ({ options }: Attack, id: string, name: string, evaluate: () => Promise<Finding>): Promise<CheckResult> =>
  runCheck({ id, name, ...options }, evaluate);

/**
 * Starts a sign-in and opens the link of its email.
 * @param query of the login's URL
 * @returns null when the login did not lead to the service
 */
export async function returnFromEmail({ website, inbox, options }: Attack, query = ''): Promise<Returning | null> {
  const started = await startSignIn(website, options, query);
  if (!started) return null;
  const email = inbox.newAddress();
  const callback = await inbox.signIn(started.forwardUrl.href, email);
  return { visitor: started.visitor, email, started, callback };
}

/** @throws Error when no sign-in starts, although one did before */
export async function requireReturn(attack: Attack): Promise<Returning> {
  const returning = await returnFromEmail(attack);
  if (!returning) throw new Error('the login did not lead to the service again');
  return returning;
}

/** Whether a visitor was signed in by a request that should be refused. @param email whose token was sent */
export async function hasOpened({ session }: Attack, visitor: Visitor, response: PageResponse, email: string): Promise<boolean> {
  if (session?.page) return isSignedIn(session.page, visitor, email);
  return response.status < 400 && namesOfSetCookies(response.setCookies).some((name) => session?.cookies.includes(name));
}

/** Signs a visitor in, and finds out how a session is recognized. @throws Error when no sign-in starts */
export async function signInVisitor(attack: Attack): Promise<SignedIn> {
  const returning = await requireReturn(attack);
  const before = returning.visitor.copy();
  const response = await returning.visitor.get(returning.callback);
  const { website, options } = attack;
  const landing = redirectOf(response, returning.callback);
  const paths = [website.page, landing?.origin === website.callback.origin ? landing.pathname : undefined, WEBSITE_PATHS.account, '/'];
  const urls = [...new Set(paths.filter((path) => path !== undefined))].map((path) => new URL(path, website.callback));
  attack.session = {
    page: response.status < 400 ? await findSessionPage(urls, returning.visitor, returning.email, options) : null,
    cookies: namesOfSetCookies(response.setCookies),
  };
  return { ...returning, response, before };
}

/** Returns the finding for a valid sign-in. */
export function evaluateSignIn({ session }: Attack, { response }: SignedIn): Finding {
  const { status } = response;
  if (status >= 400) {
    const fix =
      status === 503
        ? 'Check that the server of the website can reach the service: EMAILAUTH_URL.'
        : "See the website's log; the callback should accept a valid token with its state, and `domain` should be the host of the website.";
    return fail(`The callback refuses a valid sign-in (${status}).`, fix);
  }
  if (session?.page) return pass(`A visitor signs in, which ${oneLine(session.page.url.pathname, 60)} shows.`);
  const name = 'Name a page for signed-in visitors, such as /account, and check again.';
  if (!session?.cookies.length) return fail(`After a valid sign-in (${status}) there is no new cookie, and no page that differs.`, name);
  return pass(`The callback sets the cookie ${oneLine(session.cookies.join(', '), 60)}; no page for signed-in visitors was found.`, name);
}
