import { type Attack, hasOpened, returnFromEmail, type SignedIn } from './attack-sign-in.ts';
import { type Finding, fail, oneLine, pass, skip } from './check.ts';
import { isFormToken } from './cookies.ts';
import { findLogoutForm } from './logout-form.ts';
import { evaluateCookies } from './session-cookies.ts';
import { isSignedIn } from './session-page.ts';

const NO_PAGE = 'No page for signed-in visitors was found.';

/** Checks who else could use the session: scripts of the page, other websites, and someone who knew the cookies from before. */
export async function checkSessionCookie({ session, website }: Attack, { visitor, before, email }: SignedIn): Promise<Finding> {
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
export async function checkReturnPath(attack: Attack): Promise<Finding> {
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
export async function checkLogout({ session, website }: Attack, { visitor, email }: SignedIn): Promise<Finding> {
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
