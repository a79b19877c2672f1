import { createHmac, timingSafeEqual } from 'node:crypto';
import { existsSync } from 'node:fs';
import { env, loadEnvFile } from 'node:process';

if (existsSync('.env')) loadEnvFile('.env');
export const AUTH = env.EMAILAUTH_URL ?? '__ORIGIN__';
export const SITE = new URL(env.SITE_URL ?? '__SITE__');
export const COOKIE = /** @type {const} */ ({ httpOnly: true, sameSite: 'lax', secure: SITE.protocol === 'https:', path: '/' });
const SESSION_SECONDS = 7 * 24 * 3600;

/** @param {string} text */
function sign(text) {
  if (!env.SESSION_SECRET) throw new Error('Set SESSION_SECRET to a long random value.');
  return createHmac('sha256', env.SESSION_SECRET).update(text).digest();
}

/** @param {import('@sveltejs/kit').Cookies} cookies @param {string} email */
export function openSession(cookies, email) {
  const text = Buffer.from(JSON.stringify({ email, until: Date.now() + SESSION_SECONDS * 1000 })).toString('base64url');
  cookies.set('login_session', `${text}.${sign(text).toString('base64url')}`, { ...COOKIE, maxAge: SESSION_SECONDS });
}

/** Returns the email address of the signed-in visitor, or null. @param {import('@sveltejs/kit').Cookies} cookies @returns {string | null} */
export function signedInEmail(cookies) {
  const [text = '', mac = ''] = (cookies.get('login_session') ?? '').split('.');
  const given = Buffer.from(mac, 'base64url');
  if (given.length !== 32 || !timingSafeEqual(given, sign(text))) return null;
  const { email, until } = JSON.parse(Buffer.from(text, 'base64url').toString());
  return until > Date.now() ? email : null;
}

/** Returns a path of this website to return to; the account instead of another website, such as `//evil.example`. @param {string | null} path */
export const ownPath = (path) => (path && /^\/(?![/\\])[!-~]{0,500}$/.test(path) ? path : '/account');
