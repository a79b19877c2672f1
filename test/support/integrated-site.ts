import { randomBytes } from 'node:crypto';
import type { IncomingMessage, RequestListener } from 'node:http';

/**
 * Returns a website with a sign-in: /login, /auth/callback, /account. It calls no service: no token is valid.
 * @param site its origin
 * @param options.verifies whether it verifies the token; else it accepts any token with the state of the browser
 */
export function integratedSite(service: string, site: () => string, { verifies = true } = {}): RequestListener {
  return (request, response) => {
    const url = new URL(request.url ?? '/', site());
    const redirect = (location: string, cookie?: string) =>
      response
        .writeHead(303, { Location: location, ...(cookie && { 'Set-Cookie': `${cookie}; HttpOnly; Secure; SameSite=Lax; Path=/` }) })
        .end();
    if (url.pathname === '/login') {
      const state = randomBytes(16).toString('hex');
      const forwardUrl = `${site()}/auth/callback?state=${state}`;
      return redirect(`${service}/auth?${new URLSearchParams({ forward_url: forwardUrl })}`, `login_state=${state}`);
    }
    if (url.pathname === '/account') return cookieOf(request, 'session') ? response.end('Signed in') : redirect('/login');
    if (url.pathname !== '/auth/callback') return response.writeHead(404).end();
    const state = url.searchParams.get('state');
    const isRight = url.searchParams.has('token') && state !== null && state === cookieOf(request, 'login_state');
    return isRight && !verifies ? redirect('/account', 'session=open') : response.writeHead(400).end();
  };
}

const cookieOf = ({ headers }: IncomingMessage, name: string) => new RegExp(`(?:^|; )${name}=([^;]+)`).exec(headers.cookie ?? '')?.[1];
