import { AUTH, COOKIE, refuse, SITE } from '__UP__lib/auth';
import type { APIRoute } from 'astro';

export const prerender = false;

export const GET: APIRoute = async ({ url, cookies, session, redirect }) => {
  if (!session) throw new Error('There are no sessions: set a session driver in astro.config.mjs, or take an adapter that has one.');
  const [state, token] = [url.searchParams.get('state'), url.searchParams.get('token')];
  // The state shows that this browser began the sign-in; without it, somebody could be signed in to an account not their own.
  if (!token || !state || state !== cookies.get('login_state')?.value) return refuse(400);
  const question = new URLSearchParams({ token, domain: SITE.hostname });
  const answer = await fetch(`${AUTH}/api/verify-token?${question}`, { signal: AbortSignal.timeout(5000) })
    .then((verified) => (verified.ok ? verified.json() : null))
    .catch(() => null);
  if (!answer) return refuse(503);
  if (!answer.valid) return refuse(400);
  cookies.delete('login_state', COOKIE);
  await session.regenerate();
  session.set('email', answer.email);
  return redirect('/account', 303);
};
