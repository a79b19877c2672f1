import { redirect } from '@sveltejs/kit';
import { COOKIE, signedInEmail } from '../../lib/server/auth.js';

/** @type {import('@sveltejs/kit').ServerLoad} */
export function load({ url, cookies }) {
  const email = signedInEmail(cookies);
  if (!email) redirect(303, `__LOGIN__?${new URLSearchParams({ return_to: url.pathname + url.search })}`);
  return { email };
}

/** @type {import('@sveltejs/kit').Actions} */
export const actions = {
  logout({ cookies }) {
    cookies.delete('login_session', COOKIE);
    redirect(303, '/');
  },
};
