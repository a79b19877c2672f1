import type { APIRoute } from 'astro';

export const prerender = false;

export const POST: APIRoute = ({ session, redirect }) => {
  session?.destroy();
  return redirect('/', 303);
};
