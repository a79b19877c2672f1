const { createHmac, randomUUID, timingSafeEqual } = require('node:crypto');
const { existsSync } = require('node:fs');
const { Router } = require('express');

if (existsSync('.env')) process.loadEnvFile('.env');
const AUTH = process.env.EMAILAUTH_URL ?? '__ORIGIN__';
const SITE = new URL(process.env.SITE_URL ?? '__SITE__');
const SECRET = process.env.SESSION_SECRET ?? '';
if (!SECRET) throw new Error('Set SESSION_SECRET to a long random value.');
const COOKIE = { httpOnly: true, sameSite: 'lax', secure: SITE.protocol === 'https:', path: '/' };
const SESSION_MS = 7 * 24 * 3600 * 1000;

/** Register it before your other routes: `app.use(auth)`. */
const auth = Router();

auth.get('__LOGIN__', (request, response) => {
  const state = randomUUID();
  const back = new URLSearchParams({ state, return_to: ownPath(request.query.return_to) });
  const forwardUrl = `${SITE.origin}__CALLBACK__?${back}`;
  response.cookie('login_state', state, { ...COOKIE, maxAge: 15 * 60 * 1000 });
  response.redirect(303, `${AUTH}/auth?${new URLSearchParams({ forward_url: forwardUrl, language: '__LANGUAGE__' })}`);
});

auth.get('__CALLBACK__', async (request, response) => {
  const { state, token, return_to } = request.query;
  // The state proves that this browser started the sign-in. Without this check, an attacker could sign the visitor in to another account.
  if (typeof token !== 'string' || !state || state !== cookieOf(request, 'login_state')) return refuse(response, 400);
  const query = new URLSearchParams({ token, domain: SITE.hostname });
  const result = await fetch(`${AUTH}/api/verify-token?${query}`, { signal: AbortSignal.timeout(5000) })
    .then((verification) => (verification.ok ? verification.json() : null))
    .catch(() => null);
  if (!result) return refuse(response, 503);
  if (!result.valid) return refuse(response, 400);
  response.clearCookie('login_state', COOKIE);
  response.cookie('login_session', signSession({ email: result.email, until: Date.now() + SESSION_MS }), { ...COOKIE, maxAge: SESSION_MS });
  response.redirect(303, ownPath(return_to));
});

auth.get('/account', signedInOnly, (_request, response) => {
  const email = response.locals.email.replace(/[&<>"']/g, (sign) => `&#${sign.charCodeAt(0)};`);
  response.send(`<p>Signed in as ${email}</p><form method="post" action="/logout"><button>Log out</button></form>`);
});

auth.post('/logout', (_request, response) => response.clearCookie('login_session', COOKIE).redirect(303, '/'));

/** Returns the email address of the signed-in visitor, or null. */
const signedInEmail = (request) => readSession(cookieOf(request, 'login_session'));

/** Middleware for routes that require a sign-in; `response.locals.email` is the email address. */
function signedInOnly(request, response, next) {
  response.locals.email = signedInEmail(request);
  if (response.locals.email) next();
  else response.redirect(303, `__LOGIN__?${new URLSearchParams({ return_to: request.originalUrl })}`);
}

/** Returns a path of this website to return to; the account instead of another website, such as `//evil.example`. */
const ownPath = (path) => (typeof path === 'string' && /^\/(?![/\\])[!-~]{0,500}$/.test(path) ? path : '/account');

function refuse(response, status) {
  const reason = status === 503 ? 'Sign-in is not available at the moment.' : 'This sign-in is not valid in this browser.';
  response.status(status).send(`<p>${reason} <a href="__LOGIN__">Try again</a></p>`);
}

const cookieOf = (request, name) => request.headers.cookie?.match(new RegExp(`(?:^|; )${name}=([^;]+)`))?.[1];
const sign = (text) => createHmac('sha256', SECRET).update(text).digest();

function signSession(session) {
  const text = Buffer.from(JSON.stringify(session)).toString('base64url');
  return `${text}.${sign(text).toString('base64url')}`;
}

function readSession(signed = '') {
  const [text = '', mac = ''] = signed.split('.');
  const given = Buffer.from(mac, 'base64url');
  if (given.length !== 32 || !timingSafeEqual(given, sign(text))) return null;
  const { email, until } = JSON.parse(Buffer.from(text, 'base64url').toString());
  return until > Date.now() ? email : null;
}

module.exports = { auth, signedInEmail, signedInOnly };
