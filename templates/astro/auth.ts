import { getSecret } from 'astro:env/server';
import type { AstroSession } from 'astro';

export const AUTH = getSecret('EMAILAUTH_URL') ?? '__ORIGIN__';
export const SITE = new URL(getSecret('SITE_URL') ?? '__SITE__');
export const COOKIE = { httpOnly: true, sameSite: 'lax', secure: SITE.protocol === 'https:', path: '/' } as const;
// Another subdomain cannot set a cookie with this prefix.
export const STATE = COOKIE.secure ? '__Host-login_state' : 'login_state';

/** Returns the value of a cookie; an empty one when there are two, of which one may be from another subdomain. */
export function cookieOf({ headers }: Request, name: string): string | undefined {
  const found = (headers.get('cookie') ?? '').split(/; */).filter((cookie) => cookie.startsWith(`${name}=`));
  return found.length > 1 ? '' : found[0]?.slice(name.length + 1);
}

/** Returns the email address of the signed-in visitor, or null. The session is stored on the server, so it needs no key. */
export async function signedInEmail(session: AstroSession | undefined): Promise<string | null> {
  return (await session?.get('host')) === SITE.host ? await session?.get('email') : null;
}

export function refuse(status: 400 | 503, login: string) {
  const reason = status === 503 ? 'Sign-in is not available at the moment.' : 'This sign-in is not valid in this browser.';
  const page = `<!doctype html>
<html lang="en"><meta charset="utf-8"><meta name="viewport" content="width=device-width"><title>Sign-in</title>__STYLE__
<p>${reason} <a href="${login}">Try again</a></p></html>`;
  return new Response(page, { status, headers: { 'Content-Type': 'text/html' } });
}

/** Returns a path of this website to return to; the account instead of another website, such as `//evil.example`. */
export const ownPath = (path: string | null) => (path && /^\/(?![/\\])[!-~]{0,500}$/.test(path) ? path : '/account');
