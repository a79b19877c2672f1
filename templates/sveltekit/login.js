import { redirect } from '@sveltejs/kit';
import { AUTH, COOKIE, SITE } from '../../lib/server/auth.js';

/** @type {import('@sveltejs/kit').RequestHandler} */
export function GET({ cookies }) {
  const state = crypto.randomUUID();
  cookies.set('login_state', state, { ...COOKIE, maxAge: 900 });
  const forwardUrl = `${SITE.origin}__CALLBACK__?state=${state}`;
  const query = new URLSearchParams({ forward_url: forwardUrl, language: '__LANGUAGE__' });
  redirect(303, `${AUTH}/auth?${query}`, { external: true });
}
