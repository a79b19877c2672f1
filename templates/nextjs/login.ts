import { cookies } from 'next/headers';
import { NextResponse } from 'next/server';
import { AUTH, COOKIE, SITE } from '@/lib/auth';

export async function GET() {
  const state = crypto.randomUUID();
  (await cookies()).set('login_state', state, { ...COOKIE, maxAge: 900 });
  const forwardUrl = `${SITE.origin}__CALLBACK__?state=${state}`;
  return NextResponse.redirect(`${AUTH}/auth?${new URLSearchParams({ forward_url: forwardUrl, language: '__LANGUAGE__' })}`, 303);
}
