import { error, redirect } from '@sveltejs/kit';
import { COOKIE, SESSION, SITE, signedInEmail } from '../../lib/server/auth.js';

/** @type {import('@sveltejs/kit').ServerLoad} */
export function load({ url, request, setHeaders }) {
  setHeaders({ 'Cache-Control': 'no-store' });
  const email = signedInEmail(request);
  if (!email) redirect(303, `__LOGIN__?${new URLSearchParams({ return_to: url.pathname + url.search })}`);
  return { email };
}

/** @type {import('@sveltejs/kit').Actions} */
export const actions = {
  logout({ request: { headers }, cookies }) {
    // A form of another website must not sign the visitor out.
    if (headers.get('Origin') !== SITE.origin && headers.get('Sec-Fetch-Site') !== 'same-origin') error(403);
    cookies.delete(SESSION, COOKIE);
    redirect(303, '/');
  },
};
