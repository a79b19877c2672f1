import { redirect } from '@sveltejs/kit';
import { COOKIE, signedInEmail } from '../../lib/server/auth.js';

/** @type {import('@sveltejs/kit').ServerLoad} */
export function load({ cookies }) {
  const email = signedInEmail(cookies);
  if (!email) redirect(303, '/login');
  return { email };
}

/** @type {import('@sveltejs/kit').Actions} */
export const actions = {
  logout({ cookies }) {
    cookies.delete('session', COOKIE);
    redirect(303, '/');
  },
};
