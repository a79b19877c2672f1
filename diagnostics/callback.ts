import { randomBytes } from 'node:crypto';
import { WEBSITE_PATHS } from '../contract/pages.ts';
import { type CheckResult, type Finding, fail, oneLine, pass, runCheck, skip } from './check.ts';
import { evaluateLogin, type StartedSignIn, startSignIn, stateOf, type Website } from './login.ts';
import { describeNetworkError, isFormToken, isLocalProblem, namesOfSetCookies, type PageResponse, requestPage } from './request.ts';
import { evaluateCookies, findGuardedPage, isSignedIn, redirectsAlike, type SessionPage } from './session.ts';
import type { CheckOptions, Remedies, Target } from './website.ts';

/** What is only visible in a sign-in with an email, by the id of its check. */
const UNSEEN = {
  state: ['State of the sign-in', 'whether the callback compares the state, shows only with a valid token'],
  other_website: ['Token of another website', 'whether it is refused, shows only with a valid token'],
  replay: ['Repeated callback', 'whether it is refused, shows only after a sign-in'],
  session: ['Session and logout', 'the cookie of the session and its end show only after a sign-in'],
} as const;

/**
 * Checks what is visible from outside, without an email: the start of a sign-in, and whether the callback refuses a made-up token. What
 * is not visible is skipped, and its fix says what checks it.
 * @param service origin of the service
 */
export async function checkCallback(target: Target, service: string, options: CheckOptions): Promise<CheckResult[]> {
  const seen = await checkVisible(target, service, options);
  const unseen = Object.entries(UNSEEN).map(([id, [name, reason]]) => ({
    id,
    name,
    ...skip(`Not visible from outside: ${reason}.`, options.remedies.wholeSignIn),
  }));
  return [...seen, ...unseen];
}

/** Checks what is visible without an email. @returns the checks `callback`, `callback_refusal`, `login` and `login_cookie` */
export async function checkVisible(target: Target, service: string, options: CheckOptions): Promise<CheckResult[]> {
  const { callback } = target;
  const { result: exists, response: plain } = await checkExistence(target, service, options);
  const website: Website | null = callback && plain && { ...target, callback, service };
  const [first = null, second = null] = website ? await startTwoSignIns(website, options) : [];
  const absent = skip('There is no callback to test.');
  const timedOut = skip('It was not seen: the website did not respond in time.', 'Try again.');
  const check = (id: string, name: string, evaluate: (website: Website) => Finding | Promise<Finding>) =>
    runCheck({ id, name, ...options, timedOut }, async () => (website && exists.ok !== false ? evaluate(website) : absent));
  const refusal = await runCheck({ id: 'callback_refusal', name: 'Refusal of a made-up token', ...options, timedOut }, async (signal) => {
    if (!website || !plain || exists.ok === false || plain.status === 429) return absent;
    return checkMadeUpToken(website, plain, first, { ...options, signal });
  });
  const { nameLogin: missing, urlOption } = options.remedies;
  return [
    exists,
    refusal,
    await check('login', 'Login', (website) => evaluateLogin(first, second, website, { missing, urlOption })),
    await check('login_cookie', 'Cookie of the state', ({ callback }) =>
      first ? evaluateLoginCookies(first, second, callback) : skip('No sign-in could be started.', missing),
    ),
  ];
}

/** Starts the sign-ins of two visitors. @returns none or one when the website did not do so in time */
async function startTwoSignIns(website: Website, options: CheckOptions): Promise<StartedSignIn[]> {
  const started: StartedSignIn[] = [];
  // For its time limit; the result does not matter.
  await runCheck({ id: '', name: '', ...options }, async (signal) => {
    for (let i = 0; i < 2; i++) {
      const each = await startSignIn(website, { ...options, signal });
      if (!each) break;
      started.push(each);
    }
    return pass('');
  });
  return started;
}

function evaluateLoginCookies(started: StartedSignIn, other: StartedSignIn | null, { protocol }: URL): Finding {
  const cookies = [...started.visitor.cookies.values()].filter((cookie) => !isFormToken(cookie));
  if (cookies.length === 0) {
    return fail(
      'The login sets no cookie, so the callback cannot know which browser started the sign-in.',
      'Keep the state in a cookie that is HttpOnly and SameSite=Lax.',
    );
  }
  const states = (other ? stateOf(started, other) : []).map((name) => started.forwardUrl.searchParams.get(name) ?? '');
  // Other cookies, such as that of a language, may be for scripts. A framework may encode or store the state.
  const withState = cookies.filter(({ value }) => states.some((state) => state !== '' && value.includes(state)));
  const forServer = cookies.filter(({ httpOnly }) => httpOnly);
  return evaluateCookies(withState.length > 0 ? withState : forServer.length > 0 ? forServer : cookies, 'login', protocol === 'https:');
}

/** Checks what the callback does without a token. @returns `response` is null when there was none */
async function checkExistence(
  target: Target,
  service: string,
  options: CheckOptions,
): Promise<{ result: CheckResult; response: PageResponse | null }> {
  const { callback, isLocal } = target;
  const { remedies } = options;
  const { urlOption } = remedies;
  const checkAddress = `Check that the website is running, or give the right address with ${urlOption}.`;
  const timedOut = fail('The callback did not respond in time.', checkAddress);
  let response: PageResponse | null = null;
  const result = await runCheck({ id: 'callback', name: 'Callback', ...options, timedOut }, async (signal) => {
    if (!callback) {
      const fix = `Give it with ${urlOption}, such as ${urlOption} http://localhost:5173/auth/callback`;
      return skip('The port of a callback on this machine is unknown.', fix);
    }
    try {
      response = await requestPage(callback, { ...options, signal });
      return evaluateCallback(response, { callback, isLocal, service, remedies });
    } catch (error) {
      if (signal.aborted) return timedOut;
      const problem = describeNetworkError(error, callback.host);
      return isLocalProblem(problem) ? skip(problem.detail) : fail(problem.detail, problem.fix || checkAddress);
    }
  });
  return { result, response };
}

type CallbackContext = { callback: URL; isLocal: boolean; service: string; remedies: Remedies };

/** Returns the finding for the response to a visitor without a token. */
export function evaluateCallback(response: PageResponse, context: CallbackContext): Finding {
  const { status } = response;
  const { callback, isLocal, remedies } = context;
  const where = `${callback.host}${callback.pathname}`;
  if (status === 404 || status === 410) {
    const fix = `Serve the callback there, or give its address with ${remedies.urlOption}. ${remedies.writeCallback}`;
    return fail(`There is nothing at ${where} (${status}).`, fix);
  }
  if (status === 405) return fail(`${where} does not accept GET (405), the method of a visitor's browser.`, 'Let the callback accept GET.');
  if (status === 429) return skip(`${where} has too many requests (429).`, 'Try again later.');
  if (status >= 500)
    return fail(`${where} fails with ${status} when there is no token.`, "See the website's log; it should respond with 400.");
  if (status >= 300 && status < 400) return evaluateCallbackRedirect(response, context);
  if (status < 300) {
    return skip(
      `${where} responds to a request without a token with ${status}, like an ordinary page.`,
      'Check that this is the callback; it should reject such a request with 400, as our templates do.',
    );
  }
  const advice = !isLocal && callback.port ? 'Visitors are only sent to port 443, so use this port for tests only.' : '';
  return pass(`${where} exists and rejects a request without a token (${status}).`, advice);
}

function evaluateCallbackRedirect({ status, location }: PageResponse, { callback, service, remedies }: CallbackContext): Finding {
  const where = `${callback.host}${callback.pathname}`;
  const target = location && URL.canParse(location, callback.href) ? new URL(location, callback) : null;
  if (!target) return fail(`${where} answers ${status} without a valid Location.`, 'Give the redirect a Location.');
  const shown = oneLine(target.host, 60);
  if (target.protocol === 'http:' && callback.protocol === 'https:') {
    return fail(`${where} redirects to http at ${shown}, where a token could be read in transit.`, 'Redirect to https.');
  }
  if (target.host === callback.host || target.origin === service) return pass(`${where} redirects a visitor without a token (${status}).`);
  const fix = `Serve the callback at ${callback.host} itself, or use ${shown} in forward_url and check it with ${remedies.urlOption}.`;
  return fail(`${where} redirects to another host, ${shown}, together with the token.`, fix);
}

/** What a callback must do, for one that accepted a token without verifying it. */
export const VERIFY =
  'Let the callback call /api/verify-token of the service with the token and the domain of the website, and open a session only if `valid` is true.';

/** Returns a token of the right form that no service issued. */
export const madeUpToken = (): string => randomBytes(32).toString('base64url');

/**
 * Checks that the callback refuses a made-up token, without a state and with the valid state of a sign-in that was started here.
 * Passes only when the refusal with a valid state was seen.
 * @param plain the response of the callback without a token
 * @param started the sign-in, or null when none could be started
 */
async function checkMadeUpToken(
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
  const page = await findGuardedPage(new URL(website.page ?? WEBSITE_PATHS.account, callback), options);
  return tryMadeUpToken(started, plain, page);
}

/** Sends a made-up token with the valid state of a sign-in. @param page that shows a session; null: unknown */
async function tryMadeUpToken(started: StartedSignIn, plain: PageResponse, page: SessionPage | null): Promise<Finding> {
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
  const isUnchanged = namesOfSetCookies(forged.setCookies).length === 0 && redirectsAlike(plain, forged, REDIRECT_BASE);
  const isRefused = opensPage === false || (status >= 300 && (!hasState || isUnchanged));
  if (isRefused) return pass(`${token} opens no session (${status}).`);
  const what = status < 300 ? `a page (${status})` : `a redirect (${status})`;
  return skip(`${token} gets ${what} and no new cookie: it is unclear whether it was refused.`, 'Let the callback refuse it with 400.');
}

/** The base of relative redirects, whichever website both responses come from. */
const REDIRECT_BASE = new URL('https://website.example/');
