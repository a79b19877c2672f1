import { createHmac, timingSafeEqual } from 'node:crypto';

export const AUTH = process.env.EMAILAUTH_URL ?? '__ORIGIN__';
export const SITE = new URL(process.env.SITE_URL ?? '__SITE__');
const IS_SECURE = SITE.protocol === 'https:';
// Another subdomain cannot set a cookie with this prefix.
const PREFIX = IS_SECURE ? '__Host-' : '';
export const STATE = `${PREFIX}login_state`;
export const SESSION = `${PREFIX}login_session`;
const SESSION_SECONDS = 7 * 24 * 3600;

const SECRET = process.env.SESSION_SECRET ?? '';
// A build may lack the secret; it signs nothing.
if (SECRET.length < 32 && process.env.NEXT_PHASE !== 'phase-production-build')
  throw new Error('SESSION_SECRET needs at least 32 random characters. Make one: openssl rand -hex 32');
// A key for sessions alone: whatever else the app signs with its secret is no session.
const sign = (text) => createHmac('sha256', `session:${SECRET}`).update(text).digest();

/** Sets a cookie; with a `maxAge` of 0 seconds, deletes it. */
export function setCookie(response, name, value, maxAge) {
  const secure = IS_SECURE ? '; Secure' : '';
  response.appendHeader('Set-Cookie', `${name}=${value}; Max-Age=${maxAge}; Path=/; HttpOnly; SameSite=Lax${secure}`);
}

/** Returns the value of a cookie; an empty one when there are two, of which one may be from another subdomain. */
export function cookieOf({ headers }, name) {
  const found = (headers.cookie ?? '').split(/; */).filter((cookie) => cookie.startsWith(`${name}=`));
  return found.length > 1 ? '' : found[0]?.slice(name.length + 1);
}

export function openSession(response, email) {
  const session = { email, host: SITE.host, until: Date.now() + SESSION_SECONDS * 1000 };
  const text = Buffer.from(JSON.stringify(session)).toString('base64url');
  setCookie(response, SESSION, `${text}.${sign(text).toString('base64url')}`, SESSION_SECONDS);
}

/** Returns the email address of the signed-in visitor, or null. For `getServerSideProps` and API routes. */
export function signedInEmail(request) {
  const [text = '', mac = ''] = (cookieOf(request, SESSION) ?? '').split('.');
  const given = Buffer.from(mac, 'base64url');
  if (given.length !== 32 || !timingSafeEqual(given, sign(text))) return null;
  const { email, host, until } = JSON.parse(Buffer.from(text, 'base64url').toString());
  return host === SITE.host && until > Date.now() ? email : null;
}

/** Returns a path of this website to return to; the account instead of another website, such as `//evil.example`. */
export const ownPath = (path) => (typeof path === 'string' && /^\/(?![/\\])[!-~]{0,500}$/.test(path) ? path : '/account');
