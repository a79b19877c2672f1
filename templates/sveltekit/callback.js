import { redirect } from '@sveltejs/kit';
import { AUTH, COOKIE, openSession, ownPath, SITE } from '../__UP__lib/server/auth.js';

/** @type {import('@sveltejs/kit').RequestHandler} */
export async function GET({ url, cookies }) {
  const [state, token] = [url.searchParams.get('state'), url.searchParams.get('token')];
  // The state proves that this browser started the sign-in. Without this check, an attacker could sign the visitor in to another account.
  if (!token || !state || state !== cookies.get('login_state')) return refuse(400);
  const query = new URLSearchParams({ token, domain: SITE.hostname });
  const result = await fetch(`${AUTH}/api/verify-token?${query}`, { signal: AbortSignal.timeout(5000) })
    .then((response) => (response.ok ? response.json() : null))
    .catch(() => null);
  if (!result) return refuse(503);
  if (!result.valid) return refuse(400);
  cookies.delete('login_state', COOKIE);
  openSession(cookies, result.email);
  redirect(303, ownPath(url.searchParams.get('return_to')));
}

/** @param {400 | 503} status */
function refuse(status) {
  const reason = status === 503 ? 'Sign-in is not available at the moment.' : 'This sign-in is not valid in this browser.';
  return new Response(`<p>${reason} <a href="__LOGIN__">Try again</a></p>`, { status, headers: { 'Content-Type': 'text/html' } });
}
