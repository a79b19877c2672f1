const SESSION_SECONDS = 7 * 24 * 3600;

export default {
  async fetch(request, env) {
    const url = new URL(request.url);
    const auth = env.EMAILAUTH_URL ?? '__ORIGIN__';
    const site = new URL(env.SITE_URL ?? '__SITE__');
    const COOKIE = `Path=/; HttpOnly; SameSite=Lax${site.protocol === 'https:' ? '; Secure' : ''}`;
    if (!env.SESSION_SECRET) throw new Error('Set SESSION_SECRET to a long random value.');

    if (url.pathname === '__LOGIN__') {
      const state = crypto.randomUUID();
      const back = new URLSearchParams({ state, return_to: ownPath(url.searchParams.get('return_to')) });
      const forwardUrl = `${site.origin}__CALLBACK__?${back}`;
      const query = new URLSearchParams({ forward_url: forwardUrl, language: '__LANGUAGE__' });
      return go(`${auth}/auth?${query}`, `login_state=${state}; Max-Age=900; ${COOKIE}`);
    }
    if (url.pathname === '__CALLBACK__') {
      const [state, token] = [url.searchParams.get('state'), url.searchParams.get('token')];
      // The state proves that this browser started the sign-in. Without this check, an attacker could sign the visitor in to another account.
      if (!token || !state || state !== cookieOf(request, 'login_state')) return refuse(400);
      const query = new URLSearchParams({ token, domain: site.hostname });
      const result = await fetch(`${auth}/api/verify-token?${query}`, { signal: AbortSignal.timeout(5000) })
        .then((response) => (response.ok ? response.json() : null))
        .catch(() => null);
      if (!result) return refuse(503);
      if (!result.valid) return refuse(400);
      const session = `${encodeURIComponent(result.email)}|${Date.now() + SESSION_SECONDS * 1000}`;
      const mac = hex(await crypto.subtle.sign('HMAC', await keyOf(env), bytes(session)));
      const back = ownPath(url.searchParams.get('return_to'));
      return go(back, `login_session=${session}|${mac}; Max-Age=${SESSION_SECONDS}; ${COOKIE}`, `login_state=; Max-Age=0; ${COOKIE}`);
    }
    if (url.pathname === '/logout' && request.method === 'POST') return go('/', `login_session=; Max-Age=0; ${COOKIE}`);
    // Pages under /account require a sign-in; all other pages are public.
    if (/^\/account(?:$|[/.])/.test(url.pathname) && !(await signedInEmail(request, env)))
      return go(`__LOGIN__?${new URLSearchParams({ return_to: url.pathname + url.search })}`);
    return env.ASSETS.fetch(request);
  },
};

/** Returns the email address of the signed-in visitor, or null. */
async function signedInEmail(request, env) {
  const [email, until, mac = ''] = (cookieOf(request, 'login_session') ?? '').split('|');
  const given = Uint8Array.from(mac.match(/[0-9a-f]{2}/g) ?? [], (pair) => Number.parseInt(pair, 16));
  const genuine = await crypto.subtle.verify('HMAC', await keyOf(env), given, bytes(`${email}|${until}`));
  return genuine && Number(until) > Date.now() ? decodeURIComponent(email) : null;
}

/** Returns a path of this website to return to; the account instead of another website, such as `//evil.example`. */
const ownPath = (path) => (path && /^\/(?![/\\])[!-~]{0,500}$/.test(path) ? path : '/account');
const bytes = (text) => new TextEncoder().encode(text);
const hex = (buffer) => Array.from(new Uint8Array(buffer), (byte) => byte.toString(16).padStart(2, '0')).join('');
const keyOf = (env) =>
  crypto.subtle.importKey('raw', bytes(env.SESSION_SECRET), { name: 'HMAC', hash: 'SHA-256' }, false, ['sign', 'verify']);
const cookieOf = (request, name) => request.headers.get('Cookie')?.match(new RegExp(`(?:^|; )${name}=([^;]+)`))?.[1];
const go = (to, ...cookies) =>
  new Response(null, { status: 303, headers: [['Location', to], ...cookies.map((cookie) => ['Set-Cookie', cookie])] });

function refuse(status) {
  const reason = status === 503 ? 'Sign-in is not available at the moment.' : 'This sign-in is not valid in this browser.';
  return new Response(`<p>${reason} <a href="__LOGIN__">Try again</a></p>`, { status, headers: { 'Content-Type': 'text/html' } });
}
