import type { IncomingMessage } from 'node:http';
import { isRandomSecret } from '../signin/secrets.ts';
import type { Sessions } from '../signin/sessions.ts';
import type { Cookies } from './cookies.ts';
import type { Account } from './serve.ts';

/** Finds out who makes a request: by its bearer token (RFC 6750), else by its `sid` cookie. */
export function createIdentity(sessions: Pick<Sessions, 'accountOf'>) {
  return async (request: IncomingMessage, cookies: Cookies): Promise<Account | null> => {
    const bearer = /^Bearer ([\w-]+)$/i.exec(request.headers.authorization ?? '')?.[1];
    const secret = request.headers.authorization === undefined ? cookies.get('sid') : bearer;
    return isRandomSecret(secret) ? sessions.accountOf(secret) : null;
  };
}
