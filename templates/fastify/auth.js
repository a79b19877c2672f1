import { randomUUID } from 'node:crypto';
import cookies from '@fastify/cookie';
import plugin from 'fastify-plugin';

const AUTH = process.env.EMAILAUTH_URL ?? '__ORIGIN__';
const SITE = new URL(process.env.SITE_URL ?? '__SITE__');
const SECRET = process.env.SESSION_SECRET;
if (!SECRET) throw new Error('Set SESSION_SECRET to a long random value.');
const COOKIE = { httpOnly: true, sameSite: 'lax', secure: SITE.protocol === 'https:', path: '/' };
const SESSION_SECONDS = 7 * 24 * 3600;
// A key of its own: what else is signed with the secret is no session.
const signer = new cookies.Signer(`session:${SECRET}`);

/** Add it before your own routes: `await app.register(auth)`. */
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
    // The state shows that this browser began the sign-in; without it, somebody could be signed in to an account not their own.
    if (typeof token !== 'string' || !state || state !== request.cookies.login_state) return refuse(reply, 400);
    const question = new URLSearchParams({ token, domain: SITE.hostname });
    const answer = await fetch(`${AUTH}/api/verify-token?${question}`, { signal: AbortSignal.timeout(5000) })
      .then((verified) => (verified.ok ? verified.json() : null))
      .catch(() => null);
    if (!answer) return refuse(reply, 503);
    if (!answer.valid) return refuse(reply, 400);
    const session = JSON.stringify({ email: answer.email, until: Date.now() + SESSION_SECONDS * 1000 });
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
    // A form sends its type even without a field, and Fastify knows only JSON by itself. A parser of yours stays.
    const form = 'application/x-www-form-urlencoded';
    if (!scope.hasContentTypeParser(form)) scope.addContentTypeParser(form, (_request, _payload, done) => done(null, {}));
    scope.post('/logout', (_request, reply) => reply.clearCookie('session', COOKIE).redirect('/', 303));
  });
});

/** The `preHandler` of every route that needs a visitor; `request.email` says who it is. */
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
