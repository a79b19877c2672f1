import { createHmac, timingSafeEqual } from 'node:crypto';

export const AUTH = process.env.EMAILAUTH_URL ?? '__ORIGIN__';
export const SITE = new URL(process.env.SITE_URL ?? '__SITE__');
const SESSION_SECONDS = 7 * 24 * 3600;

function sign(text) {
  if (!process.env.SESSION_SECRET) throw new Error('Set SESSION_SECRET to a long random value.');
  return createHmac('sha256', process.env.SESSION_SECRET).update(text).digest();
}

/** Sets a cookie; with a `maxAge` of 0 seconds, deletes it. */
export function setCookie(response, name, value, maxAge) {
  const secure = SITE.protocol === 'https:' ? '; Secure' : '';
  response.appendHeader('Set-Cookie', `${name}=${value}; Max-Age=${maxAge}; Path=/; HttpOnly; SameSite=Lax${secure}`);
}

export function openSession(response, email) {
  const text = Buffer.from(JSON.stringify({ email, until: Date.now() + SESSION_SECONDS * 1000 })).toString('base64url');
  setCookie(response, 'login_session', `${text}.${sign(text).toString('base64url')}`, SESSION_SECONDS);
}

/** Returns the email address of the signed-in visitor, or null. For `getServerSideProps` and API routes. */
export function signedInEmail(request) {
  const [text = '', mac = ''] = (request.cookies.login_session ?? '').split('.');
  const given = Buffer.from(mac, 'base64url');
  if (given.length !== 32 || !timingSafeEqual(given, sign(text))) return null;
  const { email, until } = JSON.parse(Buffer.from(text, 'base64url').toString());
  return until > Date.now() ? email : null;
}

/** Returns a path of this website to return to; the account instead of another website, such as `//evil.example`. */
export const ownPath = (path) => (typeof path === 'string' && /^\/(?![/\\])[!-~]{0,500}$/.test(path) ? path : '/account');
