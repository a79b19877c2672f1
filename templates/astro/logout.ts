import type { APIRoute } from 'astro';
import { SITE } from '../lib/auth';

export const prerender = false;

export const POST: APIRoute = ({ request: { headers }, session, redirect }) => {
  // A form of another website must not sign the visitor out.
  if (headers.get('Origin') !== SITE.origin && headers.get('Sec-Fetch-Site') !== 'same-origin') return new Response(null, { status: 403 });
  session?.destroy();
  return redirect('/', 303);
};
