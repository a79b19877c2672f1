import type { IncomingMessage } from 'node:http';
import { isRandomSecret } from '../signin/secrets.ts';
import type { Sessions } from '../signin/sessions.ts';
import type { Cookies } from './cookies.ts';
import type { Identity } from './serve.ts';

/** Finds out who makes a request: by its bearer token (RFC 6750), else by its `sid` cookie. */
export function createIdentity(sessions: Pick<Sessions, 'accountOf'>) {
  return async (request: IncomingMessage, cookies: Cookies): Promise<Identity | null> => {
    const { authorization } = request.headers;
    const secret = authorization === undefined ? cookies.get('sid') : bearerOf(authorization);
    const account = isRandomSecret(secret) ? await sessions.accountOf(secret) : null;
    return account && { ...account, by: 'session' };
  };
}

/** The bearer token of an Authorization header (RFC 6750 §2.1), if it holds one. */
export function bearerOf(authorization: string | undefined): string | undefined {
  return /^Bearer ([\w-]+)$/i.exec(authorization ?? '')?.[1];
}
