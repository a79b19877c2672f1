import type { H3Event } from 'h3';

export const AUTH = process.env.EMAILAUTH_URL ?? '__ORIGIN__';
export const SITE = new URL(process.env.SITE_URL ?? '__SITE__');
export const COOKIE = { httpOnly: true, sameSite: 'lax', secure: SITE.protocol === 'https:', path: '/' } as const;
// Another subdomain cannot set a cookie with this prefix.
const PREFIX = COOKIE.secure ? '__Host-' : '';
export const STATE = `${PREFIX}login_state`;
const SESSION = `${PREFIX}login_session`;
const SECRET = process.env.SESSION_SECRET ?? '';
if (SECRET.length < 32) throw new Error('SESSION_SECRET needs at least 32 random characters. Make one: openssl rand -hex 32');

/** The visitor's session, encrypted in a cookie. Its password is for sessions alone: whatever else the app seals with its secret is none. */
export const visitorSession = (event: H3Event) =>
  useSession<{ email: string; host: string }>(event, {
    name: SESSION,
    password: `session:${SECRET}`,
    maxAge: 7 * 24 * 3600,
    cookie: COOKIE,
  });

/** Returns the email address of the signed-in visitor, or null. */
export async function signedInEmail(event: H3Event): Promise<string | null> {
  if (!cookieOf(event, SESSION)) return null;
  const { data } = await visitorSession(event);
  return data.host === SITE.host && data.email ? data.email : null;
}

/** Returns the value of a cookie; an empty one when there are two, of which one may be from another subdomain. */
export function cookieOf(event: H3Event, name: string): string | undefined {
  const found = (getHeader(event, 'Cookie') ?? '').split(/; */).filter((cookie) => cookie.startsWith(`${name}=`));
  return found.length > 1 ? '' : found[0]?.slice(name.length + 1);
}

export function refuse(event: H3Event, status: 400 | 503, path: unknown) {
  setResponseStatus(event, status);
  const reason = status === 503 ? 'Sign-in is not available at the moment.' : 'This sign-in is not valid in this browser.';
  return `<!doctype html>
<html lang="en"><meta charset="utf-8"><meta name="viewport" content="width=device-width"><title>Sign-in</title>__STYLE__
<p>${reason} <a href="${loginFor(path)}">Try again</a></p></html>`;
}

/** Returns a path of this website to return to; the account instead of another website, such as `//evil.example`. */
export const ownPath = (path: unknown) => (typeof path === 'string' && /^\/(?![/\\])[!-~]{0,500}$/.test(path) ? path : '/account');
export const loginFor = (path: unknown) => `__LOGIN__?${new URLSearchParams({ return_to: ownPath(path) })}`;
