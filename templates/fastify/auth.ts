import { createHmac, randomUUID, timingSafeEqual } from 'node:crypto';
import { existsSync } from 'node:fs';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import plugin from 'fastify-plugin';

if (existsSync('.env')) process.loadEnvFile('.env');
const AUTH = process.env.EMAILAUTH_URL ?? '__ORIGIN__';
const SITE = new URL(process.env.SITE_URL ?? '__SITE__');
const SECRET = process.env.SESSION_SECRET ?? '';
if (!SECRET) throw new Error('Set SESSION_SECRET to a long random value.');
const COOKIE = `Path=/; HttpOnly; SameSite=Lax${SITE.protocol === 'https:' ? '; Secure' : ''}`;
const SESSION_SECONDS = 7 * 24 * 3600;

type Query = Record<string, unknown>;
type Result = { valid: true; email: string } | { valid: false };

declare module 'fastify' {
  interface FastifyRequest {
    /** The email address of the visitor, in routes with `signedInOnly`. */
    email: string;
  }
}

/** Register it before your other routes: `app.register(auth)`. */
export const auth = plugin(async (app: FastifyInstance) => {
  app.decorateRequest('email', '');

  app.get<{ Querystring: Query }>('__LOGIN__', async (request, reply) => {
    const state = randomUUID();
    const back = new URLSearchParams({ state, return_to: ownPath(request.query.return_to) });
    const forwardUrl = `${SITE.origin}__CALLBACK__?${back}`;
    setCookie(reply, 'login_state', state, 900);
    return reply.redirect(`${AUTH}/auth?${new URLSearchParams({ forward_url: forwardUrl, language: '__LANGUAGE__' })}`, 303);
  });

  app.get<{ Querystring: Query }>('__CALLBACK__', async (request, reply) => {
    const { state, token, return_to } = request.query;
    // The state proves that this browser started the sign-in. Without this check, an attacker could sign the visitor in to another account.
    if (typeof token !== 'string' || !state || state !== cookieOf(request, 'login_state')) return refuse(reply, 400);
    const query = new URLSearchParams({ token, domain: SITE.hostname });
    const result = await fetch(`${AUTH}/api/verify-token?${query}`, { signal: AbortSignal.timeout(5000) })
      .then((response) => (response.ok ? (response.json() as Promise<Result>) : null))
      .catch(() => null);
    if (!result) return refuse(reply, 503);
    if (!result.valid) return refuse(reply, 400);
    setCookie(reply, 'login_state', '', 0);
    setCookie(reply, 'login_session', signSession({ email: result.email, until: Date.now() + SESSION_SECONDS * 1000 }), SESSION_SECONDS);
    return reply.redirect(ownPath(return_to), 303);
  });

  app.get('/account', { preHandler: signedInOnly }, async (request, reply) => {
    const email = request.email.replace(/[&<>"']/g, (sign) => `&#${sign.charCodeAt(0)};`);
    const page = `<p>Signed in as ${email}</p><form method="post" action="/logout"><button>Log out</button></form>`;
    return reply.type('text/html').send(page);
  });

  app.register(async (scope) => {
    // A form sends its content type even without fields, and Fastify parses only JSON by default. An existing parser is kept.
    const form = 'application/x-www-form-urlencoded';
    if (!scope.hasContentTypeParser(form)) scope.addContentTypeParser(form, async () => ({}));
    scope.post('/logout', async (_request, reply) => {
      setCookie(reply, 'login_session', '', 0);
      return reply.redirect('/', 303);
    });
  });
});

/** The `preHandler` of routes that require a sign-in; `request.email` is the email address. */
export async function signedInOnly(request: FastifyRequest, reply: FastifyReply) {
  const email = readSession(cookieOf(request, 'login_session'));
  if (!email) return reply.redirect(`__LOGIN__?${new URLSearchParams({ return_to: request.url })}`, 303);
  request.email = email;
}

/** Returns a path of this website to return to; the account instead of another website, such as `//evil.example`. */
const ownPath = (path: unknown) => (typeof path === 'string' && /^\/(?![/\\])[!-~]{0,500}$/.test(path) ? path : '/account');

// Without a plugin for cookies, which can be registered only once: the app may register it with its own options.
const cookieOf = (request: FastifyRequest, name: string) => request.headers.cookie?.match(new RegExp(`(?:^|; )${name}=([^;]+)`))?.[1];
const setCookie = (reply: FastifyReply, name: string, value: string, maxAge: number) =>
  reply.header('Set-Cookie', `${name}=${value}; Max-Age=${maxAge}; ${COOKIE}`);
const sign = (text: string) => createHmac('sha256', `session:${SECRET}`).update(text).digest();

function signSession(session: { email: string; until: number }): string {
  const text = Buffer.from(JSON.stringify(session)).toString('base64url');
  return `${text}.${sign(text).toString('base64url')}`;
}

function readSession(signed = ''): string | null {
  const [text = '', mac = ''] = signed.split('.');
  const given = Buffer.from(mac, 'base64url');
  if (given.length !== 32 || !timingSafeEqual(given, sign(text))) return null;
  const { email, until } = JSON.parse(Buffer.from(text, 'base64url').toString());
  return until > Date.now() ? email : null;
}

function refuse(reply: FastifyReply, status: 400 | 503) {
  const reason = status === 503 ? 'Sign-in is not available at the moment.' : 'This sign-in is not valid in this browser.';
  return reply.code(status).type('text/html').send(`<p>${reason} <a href="__LOGIN__">Try again</a></p>`);
}
