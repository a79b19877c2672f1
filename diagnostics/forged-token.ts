import { randomBytes } from 'node:crypto';
import { type Finding, fail, oneLine, pass, skip } from './check.ts';
import { namesOfSetCookies } from './cookies.ts';
import type { StartedSignIn, Website } from './login.ts';
import { type PageResponse, requestPage } from './request.ts';
import { findGuardedPage, isSignedIn, redirectsAlike, type SessionPage } from './session-page.ts';
import type { CheckOptions } from './website.ts';

const ACCOUNT_PATH = '/account';

/** What a callback must do, for one that accepted a token without verifying it. */
export const VERIFY =
  'Let the callback call /api/verify-token of the service with the token and the domain of the website, and open a session only if `valid` is true.';

/** Returns a token of the right form that no service issued. */
export const madeUpToken = (): string => randomBytes(32).toString('base64url');

/**
 * Checks that the callback refuses a made-up token: without a state, and with the valid state of a sign-in that was started here.
 * Passes only when the refusal with a valid state was seen.
 * @param plain the response of the callback without a token
 * @param started the sign-in, or null when none could be started
 */
export async function checkMadeUpToken(
  website: Website,
  plain: PageResponse,
  started: StartedSignIn | null,
  options: CheckOptions,
): Promise<Finding> {
  const { callback } = website;
  const stateless = new URL(callback);
  stateless.searchParams.append('token', madeUpToken());
  const withoutState = evaluateForgedToken(plain, await requestPage(stateless, options), { hasState: false });
  if (withoutState.ok === false) return withoutState;
  if (!started || started.forwardUrl.origin !== callback.origin) {
    const detail = 'It was not seen: without a sign-in that starts at the website, there is no valid state to send with the token.';
    return skip(detail, options.remedies.nameLogin);
  }
  const page = await findGuardedPage(new URL(website.page ?? ACCOUNT_PATH, callback), options);
  return tryMadeUpToken(started, plain, page);
}

/** Sends a made-up token with the valid state of a sign-in. @param page that shows a session; null: unknown */
export async function tryMadeUpToken(started: StartedSignIn, plain: PageResponse, page: SessionPage | null): Promise<Finding> {
  const { visitor, forwardUrl } = started;
  const known = [...visitor.cookies.keys()];
  const forged = new URL(forwardUrl);
  forged.searchParams.append('token', madeUpToken());
  const response = await visitor.get(forged);
  const opensPage = page?.kind === 'guarded' ? await isSignedIn(page, visitor) : null;
  return evaluateForgedToken(plain, response, { hasState: true, known, page, opensPage });
}

type Forgery = {
  /** Whether the state was the valid one of this visitor. */
  hasState: boolean;
  /** Names of the cookies that the visitor had before. */
  known?: readonly string[];
  page?: SessionPage | null;
  /** Whether the page opened afterwards; null: unknown. */
  opensPage?: boolean | null;
};

/**
 * Returns the finding for the response to a made-up token, which should open no session. A response that sets a cookie that a
 * visitor without a token does not get may have opened one.
 * @param plain the response without a token
 */
export function evaluateForgedToken(plain: PageResponse, forged: PageResponse, forgery: Forgery): Finding {
  const { hasState, known = [], page, opensPage = null } = forgery;
  const { status } = forged;
  const token = `A made-up token ${hasState ? 'with a valid state' : 'without state'}`;
  if (opensPage && page) return fail(`${token} opens ${oneLine(page.url.pathname, 60)}: the callback does not verify the token.`, VERIFY);
  if (status === 429) return skip(`${token} gets 429, too many requests.`, 'Try again later.');
  if (status >= 500) {
    const fix = "See the website's log, and check that its server can reach the service.";
    return fail(`The callback fails with ${status} on a made-up token.`, fix);
  }
  if (status >= 400) return pass(`${token} is refused (${status}).`);
  const before = new Set([...known, ...(plain.status >= 400 ? [] : namesOfSetCookies(plain.setCookies))]);
  const added = namesOfSetCookies(forged.setCookies).filter((name) => !before.has(name));
  if (added.length > 0) {
    return fail(`${token} gets ${status} and the cookie ${oneLine(added.join(', '), 60)}: it may have signed a visitor in.`, VERIFY);
  }
  // A framework may keep its session in a cookie that the visitor has already.
  const isUnchanged = namesOfSetCookies(forged.setCookies).length === 0 && redirectsAlike(plain, forged, PLACE);
  const isRefused = opensPage === false || (status >= 300 && (!hasState || isUnchanged));
  if (isRefused) return pass(`${token} opens no session (${status}).`);
  const what = status < 300 ? `a page (${status})` : `a redirect (${status})`;
  return skip(`${token} gets ${what} and no new cookie: it is unclear whether it was refused.`, 'Let the callback refuse it with 400.');
}

/** Base of relative redirects; both responses come from the same website. */
const PLACE = new URL('https://website.example/');
