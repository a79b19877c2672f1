import { randomUUID } from 'node:crypto';
import { cookies } from 'next/headers';
import { redirect } from 'next/navigation';
import { AUTH, COOKIE, SITE } from '@/lib/auth';

export async function GET() {
  const state = randomUUID();
  (await cookies()).set('login_state', state, { ...COOKIE, maxAge: 900 });
  const forwardUrl = `${SITE.origin}__CALLBACK__?state=${state}`;
  redirect(`${AUTH}/auth?${new URLSearchParams({ forward_url: forwardUrl, language: '__LANGUAGE__' })}`);
}
