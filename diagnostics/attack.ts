import {
  type Attack,
  check,
  evaluateSignIn,
  hasOpened,
  type Returning,
  requireReturn,
  returnFromEmail,
  type SignedIn,
  signInVisitor,
} from './attack-visitor.ts';
import { checkVisible, madeUpToken, VERIFY } from './callback.ts';
import { type CheckResult, type Finding, fail, oneLine, pass, skip } from './check.ts';
import { findLogoutForm } from './html.ts';
import type { LocalInbox } from './inbox.ts';
import { redirectOf, startSignIn, stateOf, Visitor } from './login.ts';
import { isFormToken } from './request.ts';
import { evaluateCookies, isSignedIn } from './session.ts';
import type { CheckOptions, Target } from './website.ts';

/** Time limit of one check: a development server compiles a page when it is first requested. */
const TIMEOUT_MS = 90_000;

/**
 * Signs visitors in at a running website through the inbox of a local service. Then attacks its callback, session and logout.
 * Creates visitors at the website, and registers `other-website.example` at the service.
 * @param target with its callback
 */
export async function attackWebsite(target: Target, service: string, inbox: LocalInbox, given: CheckOptions): Promise<CheckResult[]> {
  const options: CheckOptions = { ...given, timeoutMs: TIMEOUT_MS };
  const visible = await checkVisible(target, service, options);
  const { callback } = target;
  if (!callback || visible.some(({ id, ok }) => (id === 'callback' || id === 'login') && ok !== true)) {
    const reason = fail('No visitor could be signed in, so nothing else was checked.', 'Fix what is above, and check again.');
    return [...visible, { id: 'sign_in', name: 'Sign-in', ...reason }];
  }
  const attack: Attack = { website: { ...target, callback, service }, inbox, options, session: null };
  let signedIn: SignedIn | null = null;
  const signIn = await check(attack, 'sign_in', 'Sign-in', async () => {
    signedIn = await signInVisitor(attack);
    return evaluateSignIn(attack, signedIn);
  });
  const visitor = signedIn as SignedIn | null;
  if (!visitor || signIn.ok !== true) return [...visible, signIn];
  const cleanUrl = await check(attack, 'clean_url', 'URL after the sign-in', async () => evaluateUrl(visitor));
  const cookie = await check(attack, 'session_cookie', 'Cookie of the session', () => checkSessionCookie(attack, visitor));
  const attacks = await attackCallback(attack);
  const returnPath = await check(attack, 'return_path', 'Redirect after the sign-in', () => checkReturnPath(attack));
  const logout = await check(attack, 'logout', 'Logout', () => checkLogout(attack, visitor));
  return [...visible, signIn, cleanUrl, cookie, ...attacks, returnPath, logout];
}

/** A URL with a token stays in the history of the browser, and goes to other websites as Referer. */
function evaluateUrl({ response, callback }: SignedIn): Finding {
  const target = redirectOf(response, callback);
  const fix = 'Redirect the visitor to a page of the website without token and state.';
  if (!target) return fail(`The callback responds with ${response.status} at the URL that contains the token.`, fix);
  const token = callback.searchParams.get('token') ?? '';
  if (target.href.includes(token)) return fail('The URL after the callback still contains the token.', fix);
  return pass(`The callback redirects to ${oneLine(target.pathname, 60)}, without the token.`);
}

const COMPARE =
  'Let the callback compare the state with the one in the cookie of this browser before anything else, and refuse it when either is missing.';

/** Attacks the callback with requests that must not open a session; each has a token of its own. */
async function attackCallback(attack: Attack): Promise<CheckResult[]> {
  return [
    await check(attack, 'replay', 'Repeated callback', () => checkReplay(attack)),
    await check(attack, 'other_website', 'Token of another website', () => checkOtherWebsite(attack)),
    await check(attack, 'state_missing', 'Callback without state', () => checkMissingState(attack)),
    await check(attack, 'state_forged', 'Callback with a made-up state', () => checkForgedState(attack)),
    await check(attack, 'state_other_browser', 'Callback in another browser', () => checkOtherBrowser(attack)),
  ];
}

/** Calls the callback a second time, with the cookies from before the first, as someone who has copied them would. */
async function checkReplay(attack: Attack): Promise<Finding> {
  const { visitor, email, callback } = await requireReturn(attack);
  const copy = visitor.copy();
  const first = await visitor.get(callback);
  if (!(await hasOpened(attack, visitor, first, email))) return skip('The sign-in before it failed.', 'Check again.');
  const again = await copy.get(callback);
  if (await hasOpened(attack, copy, again, email)) return fail('The same callback signs in twice: its token is not verified.', VERIFY);
  return refused('The same callback is refused the second time', again.status, VERIFY);
}

async function checkOtherWebsite(attack: Attack): Promise<Finding> {
  const started = await startSignIn(attack.website, attack.options);
  if (!started) return skip('No sign-in could be started.');
  const { visitor, forwardUrl } = started;
  const token = await attack.inbox.tokenOfOtherWebsite();
  const callback = withToken(forwardUrl, token);
  const response = await visitor.get(callback);
  // The token belongs to no visitor of this website.
  const isOpen = attack.session?.page?.kind === 'personal' ? response.status < 400 : await hasOpened(attack, visitor, response, '');
  const fix =
    'Send `domain` with the host of this website to /api/verify-token, so that the service refuses tokens that another website received.';
  if (isOpen) return fail('A token of another website signs its visitor in here.', fix);
  return refused('A token of another website is refused', response.status, fix);
}

/** Leaves the state out: in the browser that started the sign-in, and in one that has no cookie either. */
async function checkMissingState(attack: Attack): Promise<Finding> {
  for (const hasCookies of [true, false]) {
    const { returning, states } = await returnWithState(attack);
    if (states.length === 0) return NO_STATE;
    const callback = new URL(returning.callback);
    for (const name of states) callback.searchParams.delete(name);
    const opened = await opens(attack, hasCookies ? returning.visitor : newVisitor(attack), callback, returning.email);
    if (opened.isOpen) return fail(`A callback without ${oneLine(states.join(', '), 40)} signs a visitor in.`, COMPARE);
    if (opened.status >= 500) return crashed(opened.status, COMPARE);
  }
  return pass('A callback without the state is refused.');
}

async function checkForgedState(attack: Attack): Promise<Finding> {
  const { returning, states } = await returnWithState(attack);
  if (states.length === 0) return NO_STATE;
  const callback = new URL(returning.callback);
  for (const name of states) callback.searchParams.set(name, madeUpToken());
  const { isOpen, status } = await opens(attack, returning.visitor, callback, returning.email);
  if (isOpen) return fail('A callback with a made-up state signs a visitor in.', COMPARE);
  return refused('A callback with a made-up state is refused', status, COMPARE);
}

/** Opens the callback in a browser that has started no sign-in, and in one that has started another. */
async function checkOtherBrowser(attack: Attack): Promise<Finding> {
  for (const hasStarted of [false, true]) {
    const { callback, email } = await requireReturn(attack);
    const other = hasStarted ? (await startSignIn(attack.website, attack.options))?.visitor : newVisitor(attack);
    if (!other) return skip('No sign-in could be started.');
    const { isOpen, status } = await opens(attack, other, callback, email);
    if (isOpen) {
      return fail(
        'A callback of one browser signs another one in: an attacker could sign visitors in to an account of the attacker.',
        COMPARE,
      );
    }
    if (status >= 500) return crashed(status, COMPARE);
  }
  return pass('A callback is refused in another browser.');
}

const NO_STATE = fail('forward_url contains no state.', COMPARE);

const newVisitor = ({ website, options }: Attack) => new Visitor(website.callback.origin, options);

/** Returns a visitor with a valid callback, and the names of the parameters of its state. */
async function returnWithState(attack: Attack): Promise<{ returning: Returning; states: string[] }> {
  const returning = await requireReturn(attack);
  const other = await startSignIn(attack.website, attack.options);
  return { returning, states: other ? stateOf(returning.started, other) : [] };
}

async function opens(attack: Attack, visitor: Visitor, callback: URL, email: string): Promise<{ isOpen: boolean; status: number }> {
  const response = await visitor.get(callback);
  return { isOpen: await hasOpened(attack, visitor, response, email), status: response.status };
}

function withToken(forwardUrl: URL, token: string): URL {
  const callback = new URL(forwardUrl);
  callback.searchParams.append('token', token);
  return callback;
}

/** Returns the finding for a request that opened no session: a callback that fails on it has not refused it. */
function refused(what: string, status: number, fix: string): Finding {
  return status >= 500 ? crashed(status, fix) : pass(`${what} (${status}).`);
}

/** Returns the finding for a request on which the callback fails. */
function crashed(status: number, fix: string): Finding {
  return fail(`The callback fails with ${status} on this request.`, `See the website's log. ${fix}`);
}

const NO_PAGE = 'No page for signed-in visitors was found.';

/** Checks who else could use the session: scripts of the page, other websites, or someone who knew the earlier cookies. */
async function checkSessionCookie({ session, website }: Attack, { visitor, before, email }: SignedIn): Promise<Finding> {
  const isSecure = website.callback.protocol === 'https:';
  const cookies = [...visitor.cookies.values()].filter((cookie) => !isFormToken(cookie));
  if (cookies.length === 0) return skip('The website sets no cookie.');
  const page = session?.page;
  if (!page) return evaluateCookies(cookies, 'session', isSecure);
  if (await isSignedIn(page, before.copy(), email)) {
    const detail =
      'A cookie from before the sign-in opens the session: an attacker who sets it in the browser is signed in with the visitor.';
    return fail(detail, 'Let the callback create a new session, with a new id, for every sign-in.');
  }
  const isReadable = await isSignedIn(
    page,
    visitor.copy(({ httpOnly }) => !httpOnly),
    email,
  );
  // Where the session needs no cookie that scripts can read, the other cookies are those of the session.
  return evaluateCookies(
    cookies.filter(({ httpOnly }) => httpOnly !== isReadable),
    'session',
    isSecure,
  );
}

/** Names that websites give to the parameter with the page to return to. */
const RETURN_PARAMETERS = ['return_to', 'returnTo', 'return', 'next', 'redirect', 'redirect_to', 'redirectTo', 'callbackUrl', 'url', 'to'];
const EVIL_HOST = 'evil.example';
const EVIL = [`//${EVIL_HOST}/`, `/\\${EVIL_HOST}/`, `https://${EVIL_HOST}/`];

/** Asks the login, and the callback, to return to another website after the sign-in. */
async function checkReturnPath(attack: Attack): Promise<Finding> {
  let signedIn = 0;
  for (const address of EVIL) {
    const query = new URLSearchParams(RETURN_PARAMETERS.map((name): [string, string] => [name, address])).toString();
    // Null: the login refused the parameter.
    const returning = await returnFromEmail(attack, `?${query}`);
    if (!returning) continue;
    const { visitor, email } = returning;
    const callback = new URL(returning.callback);
    for (const name of RETURN_PARAMETERS) callback.searchParams.set(name, address);
    const response = await visitor.get(callback);
    const { leavesTo } = await visitor.follow(response, callback);
    if (leavesTo?.hostname === EVIL_HOST) {
      return fail(
        `After the sign-in, a visitor is redirected to another website that the link named: ${address}`,
        'Redirect only to a path of the website: one that starts with a single `/`, and contains no `\\`.',
      );
    }
    if (await hasOpened(attack, visitor, response, email)) signedIn++;
  }
  if (signedIn === 0) return pass('The website refuses a sign-in that names another website to return to.');
  return pass('Visitors stay on the website, also when the link names another one to return to.');
}

/** Checks that a link or image cannot sign a visitor out, and that the form does. */
async function checkLogout({ session, website }: Attack, { visitor, email }: SignedIn): Promise<Finding> {
  const page = session?.page;
  if (!page) return skip(NO_PAGE, 'Name a page for signed-in visitors, such as /account, and check again.');
  const { response, url } = await visitor.open(page.url);
  const form = findLogoutForm(response.body, url) ?? { action: new URL('/logout', website.callback), body: '', contentType: undefined };
  if (form.action.origin !== url.origin) return skip('The form of the logout leads to another website.');
  const path = oneLine(form.action.pathname, 60);
  if (form.action.pathname !== url.pathname) {
    const reader = visitor.copy();
    await reader.get(form.action);
    if (!(await isSignedIn(page, reader, email)) || !(await isSignedIn(page, visitor, email))) {
      return fail(
        `A GET of ${path} ends the session, so that an image on any page could sign visitors out.`,
        'Let the logout accept POST only.',
      );
    }
  }
  const { status } = await visitor.post(form.action, form.body, form.contentType);
  if (!(await isSignedIn(page, visitor, email))) return pass(`A POST of ${path} ends the session (${status}).`);
  if ([404, 405].includes(status)) {
    return skip(`No logout was found: ${oneLine(url.pathname, 60)} has no form for it, and ${path} does not accept POST (${status}).`);
  }
  return fail(`After a POST of ${path} (${status}), the visitor is still signed in.`, 'Let the logout delete the session and its cookie.');
}
