import { type Context, Hono, type Next } from 'hono';
import { env } from 'hono/adapter';
import { deleteCookie, getSignedCookie, setCookie, setSignedCookie } from 'hono/cookie';
import { html } from 'hono/html';

try {
  // Node.js: other runtimes read `.env` themselves.
  (globalThis as { process?: { loadEnvFile?(): void } }).process?.loadEnvFile?.();
} catch {
  // There is no `.env`: the environment has the settings.
}

type Variables = { email: string };
type Result = { valid: true; email: string } | { valid: false };
const STATE_SECONDS = 3600;
const SESSION_SECONDS = 7 * 24 * 3600;

function settings(c: Context) {
  const { EMAILAUTH_URL = '__ORIGIN__', SITE_URL = '__SITE__', SESSION_SECRET = '' } = env<Record<string, string | undefined>>(c);
  if (SESSION_SECRET.length < 32) throw new Error('SESSION_SECRET needs at least 32 random characters. Make one: openssl rand -hex 32');
  const site = new URL(SITE_URL);
  const cookie = { httpOnly: true, sameSite: 'Lax', secure: site.protocol === 'https:', path: '/' } as const;
  // Another subdomain cannot set a cookie with this prefix.
  const prefix = cookie.secure ? '__Host-' : '';
  return {
    authUrl: EMAILAUTH_URL,
    site,
    // A key for sessions alone: whatever else the app signs with its secret is no session.
    key: `session:${SESSION_SECRET}`,
    cookie,
    names: { state: `${prefix}login_state`, session: `${prefix}login_session` },
  };
}

/** Register it before your other routes: `app.route('/', auth)`. */
export const auth = new Hono<{ Variables: Variables }>();

auth.get('__LOGIN__', (c) => {
  const { authUrl, site, cookie, names } = settings(c);
  const state = crypto.randomUUID();
  setCookie(c, names.state, state, { ...cookie, maxAge: STATE_SECONDS });
  const back = new URLSearchParams({ state, return_to: ownPath(c.req.query('return_to')) });
  const forwardUrl = `${site.origin}__CALLBACK__?${back}`;
  return c.redirect(`${authUrl}/auth?${new URLSearchParams({ forward_url: forwardUrl, language: '__LANGUAGE__' })}`, 303);
});

auth.get('__CALLBACK__', async (c) => {
  const { authUrl, site, key, cookie, names } = settings(c);
  const { state, token, return_to } = c.req.query();
  const expected = cookieOf(c, names.state);
  if (!token || !state) return refuse(c, 400, return_to);
  // The state has expired, or the link was opened in another browser: the sign-in starts over.
  if (expected === undefined) return c.redirect(loginFor(return_to), 303);
  // The state proves that this browser started the sign-in. Without this check, an attacker could sign the visitor in to another account.
  if (state !== expected) return refuse(c, 400, return_to);
  const query = new URLSearchParams({ token, domain: site.hostname });
  const result = await fetch(`${authUrl}/api/verify-token?${query}`, { signal: AbortSignal.timeout(5000) })
    .then((response) => (response.ok ? (response.json() as Promise<Result>) : null))
    .catch(() => null);
  if (!result) return refuse(c, 503, return_to);
  if (!result.valid) return refuse(c, 400, return_to);
  deleteCookie(c, names.state, cookie);
  const session = JSON.stringify({ email: result.email, host: site.host, until: Date.now() + SESSION_SECONDS * 1000 });
  await setSignedCookie(c, names.session, session, key, { ...cookie, maxAge: SESSION_SECONDS });
  return c.redirect(ownPath(return_to), 303);
});

/** Middleware for routes that require a sign-in; `c.get('email')` is the email address. */
export async function signedInOnly(c: Context<{ Variables: Variables }>, next: Next) {
  const { key, site, names } = settings(c);
  const session = cookieOf(c, names.session) && (await getSignedCookie(c, key, names.session));
  const { email, host, until } = session ? JSON.parse(session) : { email: '', host: '', until: 0 };
  const { pathname, search } = new URL(c.req.url);
  if (host !== site.host || until < Date.now()) return c.redirect(loginFor(pathname + search), 303);
  c.set('email', email);
  await next();
  c.header('Cache-Control', 'no-store');
}

auth.get('/account', signedInOnly, (c) =>
  c.html(page(html`<p>Signed in as ${c.get('email')}</p><form method="post" action="/logout"><button>Log out</button></form>`)),
);

auth.post('/logout', (c) => {
  const { site, cookie, names } = settings(c);
  // A form of another website must not sign the visitor out.
  if (c.req.header('Origin') !== site.origin && c.req.header('Sec-Fetch-Site') !== 'same-origin') return c.body(null, 403);
  deleteCookie(c, names.session, cookie);
  return c.redirect('/', 303);
});

/** Returns a path of this website to return to; the account instead of another website, such as `//evil.example`. */
const ownPath = (path = '') => (/^\/(?![/\\])[!-~]{0,500}$/.test(path) ? path : '/account');
const loginFor = (path?: string) => `__LOGIN__?${new URLSearchParams({ return_to: ownPath(path) })}`;

/** Returns the value of a cookie; an empty one when there are two, of which one may be from another subdomain. */
function cookieOf(c: Context, name: string): string | undefined {
  const found = (c.req.header('Cookie') ?? '').split(/; */).filter((cookie) => cookie.startsWith(`${name}=`));
  return found.length > 1 ? '' : found[0]?.slice(name.length + 1);
}

function refuse(c: Context, status: 400 | 503, path?: string) {
  const reason = status === 503 ? 'Sign-in is not available at the moment.' : 'This sign-in is not valid in this browser.';
  return c.html(page(html`<p>${reason} <a href="${loginFor(path)}">Try again</a></p>`), status);
}

/** Returns a page in the style of this file's own, around HTML. */
export const page = (body: ReturnType<typeof html>) => html`<!doctype html>
<html lang="en"><meta charset="utf-8"><meta name="viewport" content="width=device-width"><title>Sign-in</title>__STYLE__${body}</html>`;
