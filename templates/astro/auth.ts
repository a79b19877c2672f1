import { getSecret } from 'astro:env/server';

export const AUTH = getSecret('EMAILAUTH_URL') ?? '__ORIGIN__';
export const SITE = new URL(getSecret('SITE_URL') ?? '__SITE__');
export const COOKIE = { httpOnly: true, sameSite: 'lax', secure: SITE.protocol === 'https:', path: '/' } as const;

export function refuse(status: 400 | 503) {
  const reason = status === 503 ? 'Sign-in is not available at the moment.' : 'This sign-in is not valid in this browser.';
  return new Response(`<p>${reason} <a href="__LOGIN__">Try again</a></p>`, { status, headers: { 'Content-Type': 'text/html' } });
}

/** Returns a path of this website to return to; the account instead of another website, such as `//evil.example`. */
export const ownPath = (path: string | null) => (path && /^\/(?![/\\])[!-~]{0,500}$/.test(path) ? path : '/account');
