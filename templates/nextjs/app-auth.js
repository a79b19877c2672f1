import { createHmac, timingSafeEqual } from 'node:crypto';
import { cookies } from 'next/headers';

export const AUTH = process.env.EMAILAUTH_URL ?? '__ORIGIN__';
export const SITE = new URL(process.env.SITE_URL ?? '__SITE__');
export const COOKIE = { httpOnly: true, sameSite: 'lax', secure: SITE.protocol === 'https:', path: '/' };
const SESSION_SECONDS = 7 * 24 * 3600;

function sign(text) {
  if (!process.env.SESSION_SECRET) throw new Error('Set SESSION_SECRET to a long random value.');
  return createHmac('sha256', process.env.SESSION_SECRET).update(text).digest();
}

export async function openSession(email) {
  const text = Buffer.from(JSON.stringify({ email, until: Date.now() + SESSION_SECONDS * 1000 })).toString('base64url');
  (await cookies()).set('login_session', `${text}.${sign(text).toString('base64url')}`, { ...COOKIE, maxAge: SESSION_SECONDS });
}

/** Returns the email address of the signed-in visitor, or null. For server components in `<Suspense>`, route handlers and server actions. */
export async function signedInEmail() {
  const [text = '', mac = ''] = ((await cookies()).get('login_session')?.value ?? '').split('.');
  const given = Buffer.from(mac, 'base64url');
  if (given.length !== 32 || !timingSafeEqual(given, sign(text))) return null;
  const { email, until } = JSON.parse(Buffer.from(text, 'base64url').toString());
  return until > Date.now() ? email : null;
}

/** Returns a path of this website to return to; the account instead of another website, such as `//evil.example`. */
export const ownPath = (path) => (path && /^\/(?![/\\])[!-~]{0,500}$/.test(path) ? path : '/account');
