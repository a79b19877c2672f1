import { error, redirect } from '@sveltejs/kit';
import { AUTH, COOKIE, openSession, SITE } from '$lib/server/auth';

/** @type {import('@sveltejs/kit').RequestHandler} */
export async function GET({ url, cookies, fetch }) {
  const [state, token] = [url.searchParams.get('state'), url.searchParams.get('token')];
  // The state shows that this browser began the sign-in; without it, somebody could be signed in to an account not their own.
  if (!token || !state || state !== cookies.get('login_state')) error(400, 'This sign-in is not valid in this browser. Try again.');
  const question = new URLSearchParams({ token, domain: SITE.hostname });
  const answer = await fetch(`${AUTH}/api/verify-token?${question}`, { signal: AbortSignal.timeout(5000) })
    .then((verified) => (verified.ok ? verified.json() : null))
    .catch(() => null);
  if (!answer) error(503, 'Sign-in is not available at the moment. Try again.');
  if (!answer.valid) error(400, 'This sign-in is used up or too old. Try again.');
  cookies.delete('login_state', COOKIE);
  openSession(cookies, answer.email);
  redirect(303, '/account');
}
