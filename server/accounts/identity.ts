import type { IncomingMessage } from 'node:http';
import type { ApiKeyBearers } from '../api-keys/bearers.ts';
import type { Cookies } from '../http/cookies.ts';
import { bearerOf } from '../http/reading.ts';
import type { Identity } from '../http/serve.ts';
import { isRandomSecret } from '../secrets.ts';
import type { Sessions } from './sessions.ts';

/** Returns who makes a request, or null for an anonymous one. @throws Fault bad_api_key */
export type IdentityOf = (request: IncomingMessage, cookies: Cookies) => Promise<Identity | null>;

/**
 * Identifies requests by their bearer token (RFC 6750), which may be an API key, a session or an application's token, and without an
 * Authorization header by their `sid` cookie.
 */
export function createIdentity(sessions: Pick<Sessions, 'accountOf'>, apiKeys: Pick<ApiKeyBearers, 'identityOf'>): IdentityOf {
  return async (request, cookies) => {
    const { authorization } = request.headers;
    const byKey = authorization === undefined ? undefined : await apiKeys.identityOf(authorization);
    if (byKey) return byKey;
    const secret = authorization === undefined ? cookies.get('sid') : bearerOf(authorization);
    const found = isRandomSecret(secret) ? await sessions.accountOf(secret) : null;
    if (!found) return null;
    const { clientId, ...account } = found;
    if (clientId === null) return { ...account, by: 'session', scopes: null };
    // The token of an application is never valid in a cookie.
    return authorization === undefined ? null : { ...account, by: 'application', scopes: null };
  };
}
