import type { H3Event } from 'h3';

export const AUTH = process.env.EMAILAUTH_URL ?? '__ORIGIN__';
export const SITE = new URL(process.env.SITE_URL ?? '__SITE__');
export const COOKIE = { httpOnly: true, sameSite: 'lax', secure: SITE.protocol === 'https:', path: '/' } as const;

/** The visitor's session, encrypted in a cookie. */
export function visitorSession(event: H3Event) {
  const password = process.env.SESSION_SECRET;
  if (!password) throw new Error('Set SESSION_SECRET to a random value of at least 32 characters.');
  return useSession<{ email: string }>(event, { name: 'login_session', password, maxAge: 7 * 24 * 3600, cookie: COOKIE });
}

export function refuse(event: H3Event, status: 400 | 503) {
  setResponseStatus(event, status);
  const reason = status === 503 ? 'Sign-in is not available at the moment.' : 'This sign-in is not valid in this browser.';
  return `<p>${reason} <a href="__LOGIN__">Try again</a></p>`;
}

/** Returns a path of this website to return to; the account instead of another website, such as `//evil.example`. */
export const ownPath = (path: unknown) => (typeof path === 'string' && /^\/(?![/\\])[!-~]{0,500}$/.test(path) ? path : '/account');
