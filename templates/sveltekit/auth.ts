import { createHmac, timingSafeEqual } from 'node:crypto';
import { existsSync } from 'node:fs';
import { env, loadEnvFile } from 'node:process';
import type { Cookies } from '@sveltejs/kit';
import { building } from '$app/environment';

if (existsSync('.env')) loadEnvFile('.env');
export const AUTH = env.EMAILAUTH_URL ?? '__ORIGIN__';
export const SITE = new URL(env.SITE_URL ?? '__SITE__');
export const COOKIE = { httpOnly: true, sameSite: 'lax', secure: SITE.protocol === 'https:', path: '/' } as const;
// Another subdomain cannot set a cookie with this prefix.
const PREFIX = COOKIE.secure ? '__Host-' : '';
export const STATE = `${PREFIX}login_state`;
export const SESSION = `${PREFIX}login_session`;
const SESSION_SECONDS = 7 * 24 * 3600;

const SECRET = env.SESSION_SECRET ?? '';
if (SECRET.length < 32 && !building) throw new Error('SESSION_SECRET needs at least 32 random characters. Make one: openssl rand -hex 32');
// A key for sessions alone: whatever else the app signs with its secret is no session.
const sign = (text: string) => createHmac('sha256', `session:${SECRET}`).update(text).digest();

/** Returns the value of a cookie; an empty one when there are two, of which one may be from another subdomain. */
export function cookieOf(request: Request, name: string): string | undefined {
  const found = (request.headers.get('cookie') ?? '').split(/; */).filter((cookie) => cookie.startsWith(`${name}=`));
  return found.length > 1 ? '' : found[0]?.slice(name.length + 1);
}

export function openSession(cookies: Cookies, email: string) {
  const session = { email, host: SITE.host, until: Date.now() + SESSION_SECONDS * 1000 };
  const text = Buffer.from(JSON.stringify(session)).toString('base64url');
  cookies.set(SESSION, `${text}.${sign(text).toString('base64url')}`, { ...COOKIE, maxAge: SESSION_SECONDS });
}

/** Returns the email address of the signed-in visitor, or null. */
export function signedInEmail(request: Request): string | null {
  const [text = '', mac = ''] = (cookieOf(request, SESSION) ?? '').split('.');
  const given = Buffer.from(mac, 'base64url');
  if (given.length !== 32 || !timingSafeEqual(given, sign(text))) return null;
  const { email, host, until } = JSON.parse(Buffer.from(text, 'base64url').toString());
  return host === SITE.host && until > Date.now() ? email : null;
}

/** Returns a path of this website to return to; the account instead of another website, such as `//evil.example`. */
export const ownPath = (path: string | null) => (path && /^\/(?![/\\])[!-~]{0,500}$/.test(path) ? path : '/account');
