import { redirect } from '@sveltejs/kit';
import { AUTH, COOKIE, openSession, SITE } from '../__UP__lib/server/auth.js';

/** @type {import('@sveltejs/kit').RequestHandler} */
export async function GET({ url, cookies }) {
  const [state, token] = [url.searchParams.get('state'), url.searchParams.get('token')];
  // The state shows that this browser began the sign-in; without it, somebody could be signed in to an account not their own.
  if (!token || !state || state !== cookies.get('login_state')) return refuse(400);
  const question = new URLSearchParams({ token, domain: SITE.hostname });
  const answer = await fetch(`${AUTH}/api/verify-token?${question}`, { signal: AbortSignal.timeout(5000) })
    .then((verified) => (verified.ok ? verified.json() : null))
    .catch(() => null);
  if (!answer) return refuse(503);
  if (!answer.valid) return refuse(400);
  cookies.delete('login_state', COOKIE);
  openSession(cookies, answer.email);
  redirect(303, '/account');
}

/** @param {400 | 503} status */
function refuse(status) {
  const reason = status === 503 ? 'Sign-in is not available at the moment.' : 'This sign-in is not valid in this browser.';
  return new Response(`<p>${reason} <a href="/login">Try again</a></p>`, { status, headers: { 'Content-Type': 'text/html' } });
}
