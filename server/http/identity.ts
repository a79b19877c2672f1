import type { IncomingMessage } from 'node:http';
import { isRandomSecret } from '../signin/secrets.ts';
import type { Sessions } from '../signin/sessions.ts';
import type { Cookies } from './cookies.ts';
import type { Account } from './serve.ts';

/** Finds out who makes a request: by its bearer token (RFC 6750), else by its `sid` cookie. */
export function createIdentity(sessions: Pick<Sessions, 'accountOf'>) {
  return async (request: IncomingMessage, cookies: Cookies): Promise<Account | null> => {
    const { authorization } = request.headers;
    const secret = authorization === undefined ? cookies.get('sid') : bearerOf(authorization);
    return isRandomSecret(secret) ? sessions.accountOf(secret) : null;
  };
}

/** The bearer token of an Authorization header (RFC 6750 §2.1), if it holds one. */
export function bearerOf(authorization: string | undefined): string | undefined {
  return /^Bearer ([\w-]+)$/i.exec(authorization ?? '')?.[1];
}
