import { cookies } from 'next/headers';
import { type NextRequest, NextResponse } from 'next/server';
import { AUTH, COOKIE, ownPath, SITE } from '../__LOGINUP__lib/auth';

export async function GET({ nextUrl }: NextRequest) {
  const returnTo = ownPath(nextUrl.searchParams.get('return_to'));
  const jar = await cookies();
  const state = crypto.randomUUID();
  jar.set('login_state', state, { ...COOKIE, maxAge: 900 });
  const forwardUrl = `${SITE.origin}__CALLBACK__?${new URLSearchParams({ state, return_to: returnTo })}`;
  return NextResponse.redirect(`${AUTH}/auth?${new URLSearchParams({ forward_url: forwardUrl, language: '__LANGUAGE__' })}`, 303);
}
