import { randomUUID } from 'node:crypto';
import cookies from '@fastify/cookie';
import plugin from 'fastify-plugin';

const AUTH = process.env.EMAILAUTH_URL ?? '__ORIGIN__';
const SITE = new URL(process.env.SITE_URL ?? '__SITE__');
const SECRET = process.env.SESSION_SECRET;
if (!SECRET) throw new Error('Set SESSION_SECRET to a long random value.');
const COOKIE = { httpOnly: true, sameSite: 'lax', secure: SITE.protocol === 'https:', path: '/' };
const SESSION_SECONDS = 7 * 24 * 3600;
// A separate key, so that no other value signed with the secret is accepted as a session.
const signer = new cookies.Signer(`session:${SECRET}`);

/** Register it before your other routes: `await app.register(auth)`. */
export const auth = plugin(async (app) => {
  await app.register(cookies, { secret: SECRET });
  app.decorateRequest('email', '');

  app.get('/login', (_request, reply) => {
    const state = randomUUID();
    const forwardUrl = `${SITE.origin}__CALLBACK__?state=${state}`;
    reply.setCookie('login_state', state, { ...COOKIE, maxAge: 900 });
    return reply.redirect(`${AUTH}/auth?${new URLSearchParams({ forward_url: forwardUrl, language: '__LANGUAGE__' })}`, 303);
  });

  app.get('__CALLBACK__', async (request, reply) => {
    const { state, token } = request.query;
    // The state proves that this browser started the sign-in. Without this check, an attacker could sign the visitor in to another account.
    if (typeof token !== 'string' || !state || state !== request.cookies.login_state) return refuse(reply, 400);
    const query = new URLSearchParams({ token, domain: SITE.hostname });
    const result = await fetch(`${AUTH}/api/verify-token?${query}`, { signal: AbortSignal.timeout(5000) })
      .then((response) => (response.ok ? response.json() : null))
      .catch(() => null);
    if (!result) return refuse(reply, 503);
    if (!result.valid) return refuse(reply, 400);
    const session = JSON.stringify({ email: result.email, until: Date.now() + SESSION_SECONDS * 1000 });
    reply.clearCookie('login_state', COOKIE);
    reply.setCookie('session', signer.sign(session), { ...COOKIE, maxAge: SESSION_SECONDS });
    return reply.redirect('/account', 303);
  });

  app.get('/account', { preHandler: signedInOnly }, (request, reply) => {
    const email = request.email.replace(/[&<>"']/g, (sign) => `&#${sign.charCodeAt(0)};`);
    const page = `<p>Signed in as ${email}</p><form method="post" action="/logout"><button>Log out</button></form>`;
    return reply.type('text/html').send(page);
  });

  app.register(async (scope) => {
    // A form sends its content type even without fields, and Fastify parses only JSON by default. An existing parser is kept.
    const form = 'application/x-www-form-urlencoded';
    if (!scope.hasContentTypeParser(form)) scope.addContentTypeParser(form, (_request, _payload, done) => done(null, {}));
    scope.post('/logout', (_request, reply) => reply.clearCookie('session', COOKIE).redirect('/', 303));
  });
});

/** The `preHandler` of routes that require a sign-in; `request.email` is the email address. */
export async function signedInOnly(request, reply) {
  const { valid, value } = signer.unsign(request.cookies.session ?? '');
  const { email, until } = valid ? JSON.parse(value) : { email: '', until: 0 };
  if (until < Date.now()) return reply.redirect('/login', 303);
  request.email = email;
}

function refuse(reply, status) {
  const reason = status === 503 ? 'Sign-in is not available at the moment.' : 'This sign-in is not valid in this browser.';
  return reply.code(status).type('text/html').send(`<p>${reason} <a href="/login">Try again</a></p>`);
}
