const STATE_SECONDS = 3600;
const SESSION_SECONDS = 7 * 24 * 3600;

export default {
  async fetch(request, env) {
    const url = new URL(request.url);
    const { auth, site, isSecure, stateName, sessionName } = settings(env);
    const COOKIE = `Path=/; HttpOnly; SameSite=Lax${isSecure ? '; Secure' : ''}`;

    if (url.pathname === '__LOGIN__') {
      const state = crypto.randomUUID();
      const back = new URLSearchParams({ state, return_to: ownPath(url.searchParams.get('return_to')) });
      const forwardUrl = `${site.origin}__CALLBACK__?${back}`;
      const query = new URLSearchParams({ forward_url: forwardUrl, language: '__LANGUAGE__' });
      return go(`${auth}/auth?${query}`, `${stateName}=${state}; Max-Age=${STATE_SECONDS}; ${COOKIE}`);
    }
    if (url.pathname === '__CALLBACK__') {
      const [state, token] = [url.searchParams.get('state'), url.searchParams.get('token')];
      const back = ownPath(url.searchParams.get('return_to'));
      const expected = cookieOf(request, stateName);
      if (!token || !state) return refuse(400, back);
      // The state has expired, or the link was opened in another browser: the sign-in starts over.
      if (expected === undefined) return go(loginFor(back));
      // The state proves that this browser started the sign-in. Without this check, an attacker could sign the visitor in to another account.
      if (state !== expected) return refuse(400, back);
      const query = new URLSearchParams({ token, domain: site.hostname });
      const result = await fetch(`${auth}/api/verify-token?${query}`, { signal: AbortSignal.timeout(5000) })
        .then((response) => (response.ok ? response.json() : null))
        .catch(() => null);
      if (!result) return refuse(503, back);
      if (!result.valid) return refuse(400, back);
      const session = [encodeURIComponent(result.email), site.host, Date.now() + SESSION_SECONDS * 1000].join('|');
      const mac = hex(await crypto.subtle.sign('HMAC', await keyOf(env), bytes(session)));
      return go(back, `${sessionName}=${session}|${mac}; Max-Age=${SESSION_SECONDS}; ${COOKIE}`, `${stateName}=; Max-Age=0; ${COOKIE}`);
    }
    if (url.pathname === '/logout' && request.method === 'POST') {
      const isOwnForm = request.headers.get('Origin') === site.origin || request.headers.get('Sec-Fetch-Site') === 'same-origin';
      // A form of another website must not sign the visitor out.
      return isOwnForm ? go('/', `${sessionName}=; Max-Age=0; ${COOKIE}`) : new Response('Forbidden', { status: 403 });
    }
    // Pages under /account require a sign-in; all other pages are public.
    if (!/^\/account(?:$|[/.])/.test(url.pathname)) return env.ASSETS.fetch(request);
    if (!(await signedInEmail(request, env))) return go(loginFor(url.pathname + url.search));
    const page = await env.ASSETS.fetch(request);
    const response = new Response(page.body, page);
    response.headers.set('Cache-Control', 'no-store');
    return response;
  },
};

function settings(env) {
  if (!(env.SESSION_SECRET?.length >= 32))
    throw new Error('SESSION_SECRET needs at least 32 random characters. Make one: openssl rand -hex 32');
  const site = new URL(env.SITE_URL ?? '__SITE__');
  const isSecure = site.protocol === 'https:';
  // Another subdomain cannot set a cookie with this prefix.
  const prefix = isSecure ? '__Host-' : '';
  const names = { stateName: `${prefix}login_state`, sessionName: `${prefix}login_session` };
  return { auth: env.EMAILAUTH_URL ?? '__ORIGIN__', site, isSecure, ...names };
}

/** Returns the email address of the signed-in visitor, or null. */
async function signedInEmail(request, env) {
  const { site, sessionName } = settings(env);
  const [email, host, until, mac = ''] = (cookieOf(request, sessionName) ?? '').split('|');
  const given = Uint8Array.from(mac.match(/[0-9a-f]{2}/g) ?? [], (pair) => Number.parseInt(pair, 16));
  const genuine = await crypto.subtle.verify('HMAC', await keyOf(env), given, bytes(`${email}|${host}|${until}`));
  return genuine && host === site.host && Number(until) > Date.now() ? decodeURIComponent(email) : null;
}

/** Returns a path of this website to return to; the account instead of another website, such as `//evil.example`. */
const ownPath = (path) => (path && /^\/(?![/\\])[!-~]{0,500}$/.test(path) ? path : '/account');
const loginFor = (path) => `__LOGIN__?${new URLSearchParams({ return_to: ownPath(path) })}`;
const bytes = (text) => new TextEncoder().encode(text);
const hex = (buffer) => Array.from(new Uint8Array(buffer), (byte) => byte.toString(16).padStart(2, '0')).join('');

// A key for sessions alone: whatever else is signed with the secret is no session.
const keyOf = (env) =>
  crypto.subtle.importKey('raw', bytes(`session:${env.SESSION_SECRET}`), { name: 'HMAC', hash: 'SHA-256' }, false, ['sign', 'verify']);

/** Returns the value of a cookie; an empty one when there are two, of which one may be from another subdomain. */
function cookieOf(request, name) {
  const found = (request.headers.get('Cookie') ?? '').split(/; */).filter((cookie) => cookie.startsWith(`${name}=`));
  return found.length > 1 ? '' : found[0]?.slice(name.length + 1);
}

const go = (to, ...cookies) =>
  new Response(null, { status: 303, headers: [['Location', to], ...cookies.map((cookie) => ['Set-Cookie', cookie])] });

function refuse(status, path) {
  const reason = status === 503 ? 'Sign-in is not available at the moment.' : 'This sign-in is not valid in this browser.';
  const page = `<!doctype html>
<html lang="en"><meta charset="utf-8"><meta name="viewport" content="width=device-width"><title>Sign-in</title>__STYLE__
<p>${reason} <a href="${loginFor(path)}">Try again</a></p></html>`;
  return new Response(page, { status, headers: { 'Content-Type': 'text/html' } });
}
