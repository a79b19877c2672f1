import type { Cookies } from '../http/cookies.ts';
import { isRandomSecret, randomSecret } from '../secrets.ts';
import { rememberAccount } from './remembered.ts';

/** What identifies the browser or program of a request. `attempt` and `device` are created when it has none; `session` is its `sid`. */
export type Browser = { attempt: string; device: string; session: string | undefined; clientAddress: string; userAgent: string };

/** The parts of a request that identify its browser. */
export type BrowserRequest = { clientAddress: string; cookies: Cookies; header(name: string): string | undefined };

/** Maximum life of a session in seconds, 30 days. One that is not used ends after 7 days. */
export const SESSION_SECONDS = 30 * 86_400;

/** A developer's new session. `session` is the secret of the `sid` cookie, which is the bearer token too; `authKey` the device's key. */
export type NewSession = { email: string; session: string; authKey: string };

/**
 * Returns the browser of a request, and sets the cookies that it lacks.
 * @param life `renew` sets all cookies again, where a sign-in begins or a session opens, so that their lifetimes start over
 */
export function browserOf({ clientAddress, cookies, header }: BrowserRequest, life: 'renew' | 'keep' = 'keep'): Browser {
  const secretOf = (name: 'attempt' | 'device') => {
    const sent = cookies.get(name);
    const isValid = isRandomSecret(sent);
    const secret = isValid ? sent : randomSecret();
    if (life === 'renew' || !isValid) cookies.set(name, secret);
    return secret;
  };
  const sid = cookies.get('sid');
  return {
    attempt: secretOf('attempt'),
    device: secretOf('device'),
    session: isRandomSecret(sid) ? sid : undefined,
    clientAddress,
    userAgent: header('user-agent') ?? '',
  };
}

/** Sets the cookies of a new session. */
export function setSession(cookies: Cookies, { session, email, authKey }: NewSession): void {
  cookies.set('sid', session);
  rememberAccount(cookies, email, authKey);
}
