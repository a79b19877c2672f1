import type { IncomingMessage } from 'node:http';
import type { Sessions } from '../accounts/sessions.ts';
import type { ApiKeyBearers } from '../api-keys/bearers.ts';
import { isRandomSecret } from '../secrets.ts';
import type { Cookies } from './cookies.ts';
import type { Identity } from './serve.ts';

/**
 * Finds out who makes a request: by its bearer token (RFC 6750), which may be an API key or an application's token, else by its
 * `sid` cookie. @throws Fault bad_api_key
 */
export function createIdentity(sessions: Pick<Sessions, 'accountOf'>, apiKeys: Pick<ApiKeyBearers, 'identityOf'>) {
  return async (request: IncomingMessage, cookies: Cookies): Promise<Identity | null> => {
    const { authorization } = request.headers;
    const byKey = authorization === undefined ? undefined : await apiKeys.identityOf(authorization);
    if (byKey) return byKey;
    const secret = authorization === undefined ? cookies.get('sid') : bearerOf(authorization);
    const found = isRandomSecret(secret) ? await sessions.accountOf(secret) : null;
    if (!found) return null;
    const { clientId, ...account } = found;
    if (clientId === null) return { ...account, by: 'session' };
    // An application has its token to itself; in a cookie of a browser it would be somebody's mistake.
    return authorization === undefined ? null : { ...account, by: 'application' };
  };
}

/** The bearer token of an Authorization header (RFC 6750 §2.1), if it holds one. */
export function bearerOf(authorization: string | undefined): string | undefined {
  return /^Bearer ([\w-]+)$/i.exec(authorization ?? '')?.[1];
}
