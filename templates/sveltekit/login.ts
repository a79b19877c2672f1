import type { RequestEvent } from '@sveltejs/kit';
import { AUTH, COOKIE, ownPath, SITE, STATE } from '../__LOGINUP__lib/server/auth';

const STATE_SECONDS = 3600;

export function GET({ url, cookies }: RequestEvent) {
  const state = crypto.randomUUID();
  cookies.set(STATE, state, { ...COOKIE, maxAge: STATE_SECONDS });
  const back = new URLSearchParams({ state, return_to: ownPath(url.searchParams.get('return_to')) });
  const forwardUrl = `${SITE.origin}__CALLBACK__?${back}`;
  const query = new URLSearchParams({ forward_url: forwardUrl, language: '__LANGUAGE__' });
  return new Response(null, { status: 303, headers: { Location: `${AUTH}/auth?${query}` } });
}
