import { type Finding, fail, oneLine, pass } from './check.ts';
import { isFormToken, type SetCookie } from './cookies.ts';

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
