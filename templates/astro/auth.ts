import { getSecret } from 'astro:env/server';

export const AUTH = getSecret('EMAILAUTH_URL') ?? '__ORIGIN__';
export const SITE = new URL(getSecret('SITE_URL') ?? '__SITE__');
export const COOKIE = { httpOnly: true, sameSite: 'lax', secure: SITE.protocol === 'https:', path: '/' } as const;

export function refuse(status: 400 | 503) {
  const reason = status === 503 ? 'Sign-in is not available at the moment.' : 'This sign-in is not valid in this browser.';
  return new Response(`<p>${reason} <a href="/login">Try again</a></p>`, { status, headers: { 'Content-Type': 'text/html' } });
}
