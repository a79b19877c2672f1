import { AUTH, COOKIE, ownPath, SITE, STATE } from '__LOGINUP__lib/auth';
import type { APIRoute } from 'astro';

export const prerender = false;
const STATE_SECONDS = 3600;

export const GET: APIRoute = ({ url, cookies, redirect }) => {
  const state = crypto.randomUUID();
  cookies.set(STATE, state, { ...COOKIE, maxAge: STATE_SECONDS });
  const back = new URLSearchParams({ state, return_to: ownPath(url.searchParams.get('return_to')) });
  const forwardUrl = `${SITE.origin}__CALLBACK__?${back}`;
  return redirect(`${AUTH}/auth?${new URLSearchParams({ forward_url: forwardUrl, language: '__LANGUAGE__' })}`, 303);
};
