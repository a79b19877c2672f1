import type { APIRoute } from 'astro';
import { AUTH, COOKIE, SITE } from '../lib/auth';

export const prerender = false;

export const GET: APIRoute = ({ cookies, redirect }) => {
  const state = crypto.randomUUID();
  cookies.set('login_state', state, { ...COOKIE, maxAge: 900 });
  const forwardUrl = `${SITE.origin}__CALLBACK__?state=${state}`;
  return redirect(`${AUTH}/auth?${new URLSearchParams({ forward_url: forwardUrl, language: '__LANGUAGE__' })}`, 303);
};
