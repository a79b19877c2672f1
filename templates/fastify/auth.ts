import { createHmac, randomUUID, timingSafeEqual } from 'node:crypto';
import { existsSync } from 'node:fs';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import plugin from 'fastify-plugin';

if (existsSync('.env')) process.loadEnvFile('.env');
const AUTH = process.env.EMAILAUTH_URL ?? '__ORIGIN__';
const SITE = new URL(process.env.SITE_URL ?? '__SITE__');
const SECRET = process.env.SESSION_SECRET ?? '';
if (SECRET.length < 32) throw new Error('SESSION_SECRET needs at least 32 random characters. Make one: openssl rand -hex 32');
const IS_SECURE = SITE.protocol === 'https:';
const COOKIE = `Path=/; HttpOnly; SameSite=Lax${IS_SECURE ? '; Secure' : ''}`;
// Another subdomain cannot set a cookie with this prefix.
const PREFIX = IS_SECURE ? '__Host-' : '';
const STATE = `${PREFIX}login_state`;
const SESSION = `${PREFIX}login_session`;
const STATE_SECONDS = 3600;
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
    setCookie(reply, STATE, state, STATE_SECONDS);
    return reply.redirect(`${AUTH}/auth?${new URLSearchParams({ forward_url: forwardUrl, language: '__LANGUAGE__' })}`, 303);
  });

  app.get<{ Querystring: Query }>('__CALLBACK__', async (request, reply) => {
    const { state, token, return_to } = request.query;
    const expected = cookieOf(request, STATE);
    if (typeof token !== 'string' || !token || !state) return refuse(reply, 400, return_to);
    // The state has expired, or the link was opened in another browser: the sign-in starts over.
    if (expected === undefined) return reply.redirect(loginFor(return_to), 303);
    // The state proves that this browser started the sign-in. Without this check, an attacker could sign the visitor in to another account.
    if (state !== expected) return refuse(reply, 400, return_to);
    const query = new URLSearchParams({ token, domain: SITE.hostname });
    const result = await fetch(`${AUTH}/api/verify-token?${query}`, { signal: AbortSignal.timeout(5000) })
      .then((response) => (response.ok ? (response.json() as Promise<Result>) : null))
      .catch(() => null);
    if (!result) return refuse(reply, 503, return_to);
    if (!result.valid) return refuse(reply, 400, return_to);
    setCookie(reply, STATE, '', 0);
    setCookie(reply, SESSION, signSession(result.email), SESSION_SECONDS);
    return reply.redirect(ownPath(return_to), 303);
  });

  app.get('/account', { preHandler: signedInOnly }, async (request, reply) => {
    const email = request.email.replace(/[&<>"']/g, (sign) => `&#${sign.charCodeAt(0)};`);
    return send(reply, `<p>Signed in as ${email}</p><form method="post" action="/logout"><button>Log out</button></form>`);
  });

  app.register(async (scope) => {
    // A form sends its content type even without fields, and Fastify parses only JSON by default. An existing parser is kept.
    const form = 'application/x-www-form-urlencoded';
    if (!scope.hasContentTypeParser(form)) scope.addContentTypeParser(form, async () => ({}));
    scope.post('/logout', async ({ headers }, reply) => {
      // A form of another website must not sign the visitor out.
      if (headers.origin !== SITE.origin && headers['sec-fetch-site'] !== 'same-origin') return reply.code(403).send();
      setCookie(reply, SESSION, '', 0);
      return reply.redirect('/', 303);
    });
  });
});

/** The `preHandler` of routes that require a sign-in; `request.email` is the email address. */
export async function signedInOnly(request: FastifyRequest, reply: FastifyReply) {
  reply.header('Cache-Control', 'no-store');
  const email = readSession(cookieOf(request, SESSION));
  if (!email) return reply.redirect(loginFor(request.url), 303);
  request.email = email;
}

/** Returns a path of this website to return to; the account instead of another website, such as `//evil.example`. */
const ownPath = (path: unknown) => (typeof path === 'string' && /^\/(?![/\\])[!-~]{0,500}$/.test(path) ? path : '/account');
const loginFor = (path: unknown) => `__LOGIN__?${new URLSearchParams({ return_to: ownPath(path) })}`;

// Without a plugin for cookies, which can be registered only once: the app may register it with its own options.
const setCookie = (reply: FastifyReply, name: string, value: string, maxAge: number) =>
  reply.header('Set-Cookie', `${name}=${value}; Max-Age=${maxAge}; ${COOKIE}`);

/** Returns the value of a cookie; an empty one when there are two, of which one may be from another subdomain. */
function cookieOf({ headers }: FastifyRequest, name: string): string | undefined {
  const found = (headers.cookie ?? '').split(/; */).filter((cookie) => cookie.startsWith(`${name}=`));
  return found.length > 1 ? '' : found[0]?.slice(name.length + 1);
}

// A key for sessions alone: whatever else the app signs with its secret is no session.
const sign = (text: string) => createHmac('sha256', `session:${SECRET}`).update(text).digest();

function signSession(email: string): string {
  const session = { email, host: SITE.host, until: Date.now() + SESSION_SECONDS * 1000 };
  const text = Buffer.from(JSON.stringify(session)).toString('base64url');
  return `${text}.${sign(text).toString('base64url')}`;
}

function readSession(signed = ''): string | null {
  const [text = '', mac = ''] = signed.split('.');
  const given = Buffer.from(mac, 'base64url');
  if (given.length !== 32 || !timingSafeEqual(given, sign(text))) return null;
  const { email, host, until } = JSON.parse(Buffer.from(text, 'base64url').toString());
  return host === SITE.host && until > Date.now() ? email : null;
}

function refuse(reply: FastifyReply, status: 400 | 503, path: unknown) {
  const reason = status === 503 ? 'Sign-in is not available at the moment.' : 'This sign-in is not valid in this browser.';
  return send(reply.code(status), `<p>${reason} <a href="${loginFor(path)}">Try again</a></p>`);
}

const send = (reply: FastifyReply, body: string) => reply.type('text/html').send(page(body));

/** Returns a page in the style of this file's own, around HTML. */
export const page = (body: string) => `<!doctype html>
<html lang="en"><meta charset="utf-8"><meta name="viewport" content="width=device-width"><title>Sign-in</title>__STYLE__${body}</html>`;
