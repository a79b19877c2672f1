import { error, type RequestEvent, redirect, type ServerLoadEvent } from '@sveltejs/kit';
import { COOKIE, SESSION, SITE, signedInEmail } from '../../lib/server/auth';

export function load({ url, request, setHeaders }: ServerLoadEvent) {
  setHeaders({ 'Cache-Control': 'no-store' });
  const email = signedInEmail(request);
  if (!email) redirect(303, `__LOGIN__?${new URLSearchParams({ return_to: url.pathname + url.search })}`);
  return { email };
}

export const actions = {
  logout({ request: { headers }, cookies }: RequestEvent) {
    // A form of another website must not sign the visitor out.
    if (headers.get('Origin') !== SITE.origin && headers.get('Sec-Fetch-Site') !== 'same-origin') error(403);
    cookies.delete(SESSION, COOKIE);
    redirect(303, '/');
  },
};
