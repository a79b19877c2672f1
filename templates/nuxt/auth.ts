import type { H3Event } from 'h3';

export const AUTH = process.env.EMAILAUTH_URL ?? '__ORIGIN__';
export const SITE = new URL(process.env.SITE_URL ?? '__SITE__');
export const COOKIE = { httpOnly: true, sameSite: 'lax', secure: SITE.protocol === 'https:', path: '/' } as const;

/** The visitor's session, encrypted in a cookie. */
export function visitorSession(event: H3Event) {
  const password = process.env.SESSION_SECRET;
  if (!password) throw new Error('Set SESSION_SECRET to a random value of at least 32 characters.');
  return useSession<{ email: string }>(event, { name: 'session', password, maxAge: 7 * 24 * 3600, cookie: COOKIE });
}

export function refuse(event: H3Event, status: 400 | 503) {
  setResponseStatus(event, status);
  const reason = status === 503 ? 'Sign-in is not available at the moment.' : 'This sign-in is not valid in this browser.';
  return `<p>${reason} <a href="/login">Try again</a></p>`;
}
