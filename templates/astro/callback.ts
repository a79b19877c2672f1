import { AUTH, COOKIE, cookieOf, ownPath, refuse, SITE, STATE } from '__UP__lib/auth';
import type { APIRoute } from 'astro';

export const prerender = false;

export const GET: APIRoute = async ({ url, request, cookies, session, redirect }) => {
  if (!session) throw new Error('Sessions are missing: set a session driver in astro.config.mjs, or use an adapter that has one.');
  const [state, token] = [url.searchParams.get('state'), url.searchParams.get('token')];
  const path = ownPath(url.searchParams.get('return_to'));
  const login = `__LOGIN__?${new URLSearchParams({ return_to: path })}`;
  const expected = cookieOf(request, STATE);
  if (!token || !state) return refuse(400, login);
  // The state has expired, or the link was opened in another browser: the sign-in starts over.
  if (expected === undefined) return redirect(login, 303);
  // The state proves that this browser started the sign-in. Without this check, an attacker could sign the visitor in to another account.
  if (state !== expected) return refuse(400, login);
  const query = new URLSearchParams({ token, domain: SITE.hostname });
  const result = await fetch(`${AUTH}/api/verify-token?${query}`, { signal: AbortSignal.timeout(5000) })
    .then((response) => (response.ok ? response.json() : null))
    .catch(() => null);
  if (!result) return refuse(503, login);
  if (!result.valid) return refuse(400, login);
  cookies.delete(STATE, COOKIE);
  await session.regenerate();
  session.set('email', result.email);
  session.set('host', SITE.host);
  return redirect(path, 303);
};
