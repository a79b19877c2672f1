import { cookies } from 'next/headers';
import { type NextRequest, NextResponse } from 'next/server';
import { AUTH, openSession, SITE } from '@/lib/auth';

export async function GET({ nextUrl }: NextRequest) {
  const [state, token] = [nextUrl.searchParams.get('state'), nextUrl.searchParams.get('token')];
  const jar = await cookies();
  // The state shows that this browser began the sign-in; without it, somebody could be signed in to an account not their own.
  if (!token || !state || state !== jar.get('login_state')?.value) return refuse(400);
  const question = new URLSearchParams({ token, domain: SITE.hostname });
  const answer = await fetch(`${AUTH}/api/verify-token?${question}`, { cache: 'no-store', signal: AbortSignal.timeout(5000) })
    .then((verified) => (verified.ok ? verified.json() : null))
    .catch(() => null);
  if (!answer) return refuse(503);
  if (!answer.valid) return refuse(400);
  jar.delete('login_state');
  await openSession(answer.email);
  return NextResponse.redirect(new URL('/account', SITE), 303);
}

function refuse(status: 400 | 503) {
  const reason = status === 503 ? 'Sign-in is not available at the moment.' : 'This sign-in is not valid in this browser.';
  return new Response(`<p>${reason} <a href="/login">Try again</a></p>`, { status, headers: { 'Content-Type': 'text/html' } });
}
