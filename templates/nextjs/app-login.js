import { cookies } from 'next/headers';
import { NextResponse } from 'next/server';
import { AUTH, COOKIE, ownPath, SITE, STATE } from '../__LOGINUP__lib/auth';

const STATE_SECONDS = 3600;

export async function GET({ nextUrl }) {
  const returnTo = ownPath(nextUrl.searchParams.get('return_to'));
  const jar = await cookies();
  const state = crypto.randomUUID();
  jar.set(STATE, state, { ...COOKIE, maxAge: STATE_SECONDS });
  const forwardUrl = `${SITE.origin}__CALLBACK__?${new URLSearchParams({ state, return_to: returnTo })}`;
  return NextResponse.redirect(`${AUTH}/auth?${new URLSearchParams({ forward_url: forwardUrl, language: '__LANGUAGE__' })}`, 303);
}
