import { AUTH, COOKIE, ownPath, refuse, SITE } from '__UP__lib/auth';
import type { APIRoute } from 'astro';

export const prerender = false;

export const GET: APIRoute = async ({ url, cookies, session, redirect }) => {
  if (!session) throw new Error('Sessions are missing: set a session driver in astro.config.mjs, or use an adapter that has one.');
  const [state, token] = [url.searchParams.get('state'), url.searchParams.get('token')];
  // The state proves that this browser started the sign-in. Without this check, an attacker could sign the visitor in to another account.
  if (!token || !state || state !== cookies.get('login_state')?.value) return refuse(400);
  const query = new URLSearchParams({ token, domain: SITE.hostname });
  const result = await fetch(`${AUTH}/api/verify-token?${query}`, { signal: AbortSignal.timeout(5000) })
    .then((response) => (response.ok ? response.json() : null))
    .catch(() => null);
  if (!result) return refuse(503);
  if (!result.valid) return refuse(400);
  cookies.delete('login_state', COOKIE);
  await session.regenerate();
  session.set('email', result.email);
  return redirect(ownPath(url.searchParams.get('return_to')), 303);
};
