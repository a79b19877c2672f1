import { type RequestEvent, redirect } from '@sveltejs/kit';
import { AUTH, COOKIE, cookieOf, openSession, ownPath, SITE, STATE } from '../__UP__lib/server/auth';

export async function GET({ url, request, cookies }: RequestEvent) {
  const [state, token] = [url.searchParams.get('state'), url.searchParams.get('token')];
  const path = ownPath(url.searchParams.get('return_to'));
  const login = `__LOGIN__?${new URLSearchParams({ return_to: path })}`;
  const expected = cookieOf(request, STATE);
  if (!token || !state) return refuse(400, login);
  // The state has expired, or the link was opened in another browser: the sign-in starts over.
  if (expected === undefined) redirect(303, login);
  // The state proves that this browser started the sign-in. Without this check, an attacker could sign the visitor in to another account.
  if (state !== expected) return refuse(400, login);
  const query = new URLSearchParams({ token, domain: SITE.hostname });
  const result = await fetch(`${AUTH}/api/verify-token?${query}`, { signal: AbortSignal.timeout(5000) })
    .then((response) => (response.ok ? response.json() : null))
    .catch(() => null);
  if (!result) return refuse(503, login);
  if (!result.valid) return refuse(400, login);
  cookies.delete(STATE, COOKIE);
  openSession(cookies, result.email);
  redirect(303, path);
}

function refuse(status: 400 | 503, login: string) {
  const reason = status === 503 ? 'Sign-in is not available at the moment.' : 'This sign-in is not valid in this browser.';
  const page = `<!doctype html>
<html lang="en"><meta charset="utf-8"><meta name="viewport" content="width=device-width"><title>Sign-in</title>__STYLE__
<p>${reason} <a href="${login}">Try again</a></p></html>`;
  return new Response(page, { status, headers: { 'Content-Type': 'text/html' } });
}
