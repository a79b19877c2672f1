import { cookies } from 'next/headers';
import { NextResponse } from 'next/server';
import { AUTH, openSession, ownPath, SITE } from '../__UP__lib/auth';

export async function GET({ nextUrl }) {
  const [state, token] = [nextUrl.searchParams.get('state'), nextUrl.searchParams.get('token')];
  const jar = await cookies();
  // The state proves that this browser started the sign-in. Without this check, an attacker could sign the visitor in to another account.
  if (!token || !state || state !== jar.get('login_state')?.value) return refuse(400);
  const query = new URLSearchParams({ token, domain: SITE.hostname });
  const result = await fetch(`${AUTH}/api/verify-token?${query}`, { cache: 'no-store', signal: AbortSignal.timeout(5000) })
    .then((response) => (response.ok ? response.json() : null))
    .catch(() => null);
  if (!result) return refuse(503);
  if (!result.valid) return refuse(400);
  jar.delete('login_state');
  await openSession(result.email);
  return NextResponse.redirect(new URL(ownPath(nextUrl.searchParams.get('return_to')), SITE), 303);
}

function refuse(status) {
  const reason = status === 503 ? 'Sign-in is not available at the moment.' : 'This sign-in is not valid in this browser.';
  return new Response(`<p>${reason} <a href="__LOGIN__">Try again</a></p>`, { status, headers: { 'Content-Type': 'text/html' } });
}
