import { createHmac, randomUUID, timingSafeEqual } from 'node:crypto';
import { existsSync } from 'node:fs';
import { type NextFunction, type Request, type Response, Router } from 'express';

if (existsSync('.env')) process.loadEnvFile('.env');
const AUTH = process.env.EMAILAUTH_URL ?? '__ORIGIN__';
const SITE = new URL(process.env.SITE_URL ?? '__SITE__');
const SECRET = process.env.SESSION_SECRET ?? '';
if (SECRET.length < 32) throw new Error('SESSION_SECRET needs at least 32 random characters. Make one: openssl rand -hex 32');
const COOKIE = { httpOnly: true, sameSite: 'lax', secure: SITE.protocol === 'https:', path: '/' } as const;
// Another subdomain cannot set a cookie with this prefix.
const PREFIX = COOKIE.secure ? '__Host-' : '';
const STATE = `${PREFIX}login_state`;
const SESSION = `${PREFIX}login_session`;
const STATE_MS = 3600 * 1000;
const SESSION_MS = 7 * 24 * 3600 * 1000;

type Result = { valid: true; email: string } | { valid: false };

/** Register it before your other routes: `app.use(auth)`. */
export const auth: Router = Router();

auth.get('__LOGIN__', (request, response) => {
  const state = randomUUID();
  const back = new URLSearchParams({ state, return_to: ownPath(request.query.return_to) });
  const forwardUrl = `${SITE.origin}__CALLBACK__?${back}`;
  response.cookie(STATE, state, { ...COOKIE, maxAge: STATE_MS });
  response.redirect(303, `${AUTH}/auth?${new URLSearchParams({ forward_url: forwardUrl, language: '__LANGUAGE__' })}`);
});

auth.get('__CALLBACK__', async (request, response) => {
  const { state, token, return_to } = request.query;
  const expected = cookieOf(request, STATE);
  if (typeof token !== 'string' || !token || !state) return refuse(response, 400, return_to);
  // The state has expired, or the link was opened in another browser: the sign-in starts over.
  if (expected === undefined) return response.redirect(303, loginFor(return_to));
  // The state proves that this browser started the sign-in. Without this check, an attacker could sign the visitor in to another account.
  if (state !== expected) return refuse(response, 400, return_to);
  const query = new URLSearchParams({ token, domain: SITE.hostname });
  const result = await fetch(`${AUTH}/api/verify-token?${query}`, { signal: AbortSignal.timeout(5000) })
    .then((verification) => (verification.ok ? (verification.json() as Promise<Result>) : null))
    .catch(() => null);
  if (!result) return refuse(response, 503, return_to);
  if (!result.valid) return refuse(response, 400, return_to);
  response.clearCookie(STATE, COOKIE);
  response.cookie(SESSION, signSession(result.email), { ...COOKIE, maxAge: SESSION_MS });
  response.redirect(303, ownPath(return_to));
});

auth.get('/account', signedInOnly, (_request, response) => {
  const email = response.locals.email.replace(/[&<>"']/g, (sign: string) => `&#${sign.charCodeAt(0)};`);
  response.send(page(`<p>Signed in as ${email}</p><form method="post" action="/logout"><button>Log out</button></form>`));
});

auth.post('/logout', ({ headers }, response) => {
  // A form of another website must not sign the visitor out.
  if (headers.origin !== SITE.origin && headers['sec-fetch-site'] !== 'same-origin') response.sendStatus(403);
  else response.clearCookie(SESSION, COOKIE).redirect(303, '/');
});

/** Returns the email address of the signed-in visitor, or null. */
export const signedInEmail = (request: Request): string | null => readSession(cookieOf(request, SESSION));

/** Middleware for routes that require a sign-in; `response.locals.email` is the email address. */
export function signedInOnly(request: Request, response: Response, next: NextFunction): void {
  response.set('Cache-Control', 'no-store');
  response.locals.email = signedInEmail(request);
  if (response.locals.email) next();
  else response.redirect(303, loginFor(request.originalUrl));
}

/** Returns a path of this website to return to; the account instead of another website, such as `//evil.example`. */
const ownPath = (path: unknown) => (typeof path === 'string' && /^\/(?![/\\])[!-~]{0,500}$/.test(path) ? path : '/account');
const loginFor = (path: unknown) => `__LOGIN__?${new URLSearchParams({ return_to: ownPath(path) })}`;

function refuse(response: Response, status: 400 | 503, path: unknown): void {
  const reason = status === 503 ? 'Sign-in is not available at the moment.' : 'This sign-in is not valid in this browser.';
  response.status(status).send(page(`<p>${reason} <a href="${loginFor(path)}">Try again</a></p>`));
}

/** Returns a page in the style of this file's own, around HTML. */
export const page = (body: string) => `<!doctype html>
<html lang="en"><meta charset="utf-8"><meta name="viewport" content="width=device-width"><title>Sign-in</title>__STYLE__${body}</html>`;

/** Returns the value of a cookie; an empty one when there are two, of which one may be from another subdomain. */
function cookieOf({ headers }: Request, name: string): string | undefined {
  const found = (headers.cookie ?? '').split(/; */).filter((cookie) => cookie.startsWith(`${name}=`));
  return found.length > 1 ? '' : found[0]?.slice(name.length + 1);
}

// A key for sessions alone: whatever else the app signs with its secret is no session.
const sign = (text: string) => createHmac('sha256', `session:${SECRET}`).update(text).digest();

function signSession(email: string): string {
  const session = { email, host: SITE.host, until: Date.now() + SESSION_MS };
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
