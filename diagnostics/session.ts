import { type Finding, fail, oneLine, pass } from './check.ts';
import { type Arrival, redirectOf, Visitor } from './login.ts';
import { isFormToken, type PageResponse, type SetCookie } from './request.ts';
import type { CheckOptions } from './website.ts';

/** A page that shows whether a visitor is signed in. */
export type SessionPage = {
  url: URL;
  /** What a visitor without a session gets. */
  anonymous: Arrival;
  /** `guarded`: others are redirected or refused. `personal`: it is the same page for all, with the email address of a signed-in visitor. */
  kind: 'guarded' | 'personal';
};

/** Returns the page when visitors without a session do not get it, else null. */
export async function findGuardedPage(url: URL, options: CheckOptions): Promise<SessionPage | null> {
  const anonymous = await new Visitor(url.origin, options).open(url);
  return isGuarded(anonymous, url) ? { url, anonymous, kind: 'guarded' } : null;
}

/**
 * Returns the first of these pages that is different for a signed-in visitor, or null.
 * @param email of the visitor
 */
export async function findSessionPage(
  urls: readonly URL[],
  visitor: Visitor,
  email: string,
  options: CheckOptions,
): Promise<SessionPage | null> {
  for (const url of urls) {
    const anonymous = await new Visitor(url.origin, options).open(url);
    for (const kind of ['guarded', 'personal'] as const) {
      const page: SessionPage = { url, anonymous, kind };
      if ((kind === 'personal' || isGuarded(anonymous, url)) && (await isSignedIn(page, visitor, email))) return page;
    }
  }
  return null;
}

/** Returns whether the page shows that the visitor is signed in. @param email of the visitor, where the page is personal */
export async function isSignedIn({ url, anonymous, kind }: SessionPage, visitor: Visitor, email = ''): Promise<boolean> {
  const arrival = await visitor.open(url);
  if (!isPage(arrival)) return false;
  if (kind === 'personal') return email !== '' && arrival.response.body.includes(email) && !anonymous.response.body.includes(email);
  return !isPage(anonymous) || pathOf(arrival.url) !== pathOf(anonymous.url);
}

/** Whether the visitor was refused, or redirected to another page. A page that does not exist is not guarded. */
function isGuarded(arrival: Arrival, url: URL): boolean {
  if (arrival.leavesTo) return true;
  const { status } = arrival.response;
  return status === 401 || status === 403 || (status < 300 && pathOf(arrival.url) !== pathOf(url));
}

const isPage = ({ response, leavesTo }: Arrival) => !leavesTo && response.status >= 200 && response.status < 300;

const pathOf = ({ pathname }: URL) => pathname.replace(/\/$/, '');

/** Whether two responses redirect to the same page, whatever its query. */
export function redirectsAlike(one: PageResponse, other: PageResponse, base: URL): boolean {
  const [first, second] = [redirectOf(one, base), redirectOf(other, base)];
  return first !== null && second !== null && first.origin === second.origin && pathOf(first) === pathOf(second);
}

/**
 * Returns the finding for the flags of the cookies of a login or of a session.
 * @param kind `login`: the cookies with the state; it must come back after the redirect from the service
 * @param isSecure whether the website is on https
 */
export function evaluateCookies(cookies: readonly SetCookie[], kind: 'login' | 'session', isSecure: boolean): Finding {
  const relevant = cookies.filter((cookie) => !isFormToken(cookie));
  const namesOf = (test: (cookie: SetCookie) => boolean) => {
    const found = relevant.filter(test).map(({ name }) => name);
    return found.length > 0 ? oneLine(found.join(', '), 60) : null;
  };
  const readable = namesOf(({ httpOnly }) => !httpOnly);
  if (readable) return fail(`Scripts of the page can read the cookie ${readable}.`, 'Set it with HttpOnly.');
  const crossSite = namesOf(({ sameSite }) => sameSite === 'none');
  if (crossSite)
    return fail(`The cookie ${crossSite} is sent with requests of other websites (SameSite=None).`, 'Set it with SameSite=Lax.');
  const strict = kind === 'login' && namesOf(({ sameSite }) => sameSite === 'strict');
  if (strict) {
    const detail = `Browsers do not send the cookie ${strict} when the visitor comes back from the email (SameSite=Strict).`;
    return fail(detail, 'Set it with SameSite=Lax.');
  }
  const insecure = isSecure && namesOf(({ secure }) => !secure);
  if (insecure) return fail(`The cookie ${insecure} is also sent over http, where it can be read in transit.`, 'Set it with Secure.');
  const implicit = namesOf(({ sameSite }) => sameSite === null);
  const flags = ['HttpOnly', ...(implicit ? [] : ['SameSite']), ...(isSecure ? ['Secure'] : [])].join(', ');
  const advice = implicit
    ? `Set ${implicit} with SameSite=Lax: some browsers send it with requests of other websites for two minutes.`
    : '';
  return pass(`${oneLine(relevant.map(({ name }) => name).join(', '), 60)}: ${flags}.`, advice);
}
