import { Hono } from 'hono';
import { env } from 'hono/adapter';
import { deleteCookie, getCookie, getSignedCookie, setCookie, setSignedCookie } from 'hono/cookie';
import { html } from 'hono/html';

try {
  // Node.js: other runtimes read `.env` themselves.
  globalThis.process?.loadEnvFile?.();
} catch {
  // There is no `.env`: the environment has the settings.
}

const SESSION_SECONDS = 7 * 24 * 3600;

function settings(c) {
  const { EMAILAUTH_URL = '__ORIGIN__', SITE_URL = '__SITE__', SESSION_SECRET } = env(c);
  if (!SESSION_SECRET) throw new Error('Set SESSION_SECRET to a long random value.');
  const site = new URL(SITE_URL);
  const cookie = { httpOnly: true, sameSite: 'Lax', secure: site.protocol === 'https:', path: '/' };
  // A separate key, so that no other value signed with the secret is accepted as a session.
  return { authUrl: EMAILAUTH_URL, site, secret: `session:${SESSION_SECRET}`, cookie };
}

/** Register it before your other routes: `app.route('/', auth)`. */
export const auth = new Hono();

auth.get('__LOGIN__', (c) => {
  const { authUrl, site, cookie } = settings(c);
  const state = crypto.randomUUID();
  setCookie(c, 'login_state', state, { ...cookie, maxAge: 900 });
  const back = new URLSearchParams({ state, return_to: ownPath(c.req.query('return_to')) });
  const forwardUrl = `${site.origin}__CALLBACK__?${back}`;
  return c.redirect(`${authUrl}/auth?${new URLSearchParams({ forward_url: forwardUrl, language: '__LANGUAGE__' })}`, 303);
});

auth.get('__CALLBACK__', async (c) => {
  const { authUrl, site, secret, cookie } = settings(c);
  const { state, token, return_to } = c.req.query();
  // The state proves that this browser started the sign-in. Without this check, an attacker could sign the visitor in to another account.
  if (!token || !state || state !== getCookie(c, 'login_state')) return refuse(c, 400);
  const query = new URLSearchParams({ token, domain: site.hostname });
  const result = await fetch(`${authUrl}/api/verify-token?${query}`, { signal: AbortSignal.timeout(5000) })
    .then((response) => (response.ok ? response.json() : null))
    .catch(() => null);
  if (!result) return refuse(c, 503);
  if (!result.valid) return refuse(c, 400);
  deleteCookie(c, 'login_state', cookie);
  const session = JSON.stringify({ email: result.email, until: Date.now() + SESSION_SECONDS * 1000 });
  await setSignedCookie(c, 'login_session', session, secret, { ...cookie, maxAge: SESSION_SECONDS });
  return c.redirect(ownPath(return_to), 303);
});

/** Middleware for routes that require a sign-in; `c.get('email')` is the email address. */
export async function signedInOnly(c, next) {
  const session = await getSignedCookie(c, settings(c).secret, 'login_session');
  const { email, until } = session ? JSON.parse(session) : { email: '', until: 0 };
  const { pathname, search } = new URL(c.req.url);
  if (until < Date.now()) return c.redirect(`__LOGIN__?${new URLSearchParams({ return_to: pathname + search })}`, 303);
  c.set('email', email);
  await next();
}

auth.get('/account', signedInOnly, (c) =>
  c.html(html`<p>Signed in as ${c.get('email')}</p><form method="post" action="/logout"><button>Log out</button></form>`),
);

auth.post('/logout', (c) => {
  deleteCookie(c, 'login_session', settings(c).cookie);
  return c.redirect('/', 303);
});

/** Returns a path of this website to return to; the account instead of another website, such as `//evil.example`. */
const ownPath = (path = '') => (/^\/(?![/\\])[!-~]{0,500}$/.test(path) ? path : '/account');

function refuse(c, status) {
  const reason = status === 503 ? 'Sign-in is not available at the moment.' : 'This sign-in is not valid in this browser.';
  return c.html(html`<p>${reason} <a href="__LOGIN__">Try again</a></p>`, status);
}
