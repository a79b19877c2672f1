import type { IncomingMessage } from 'node:http';
import type { ApiKeyBearers } from '../api-keys/api-keys.ts';
import type { Cookies } from '../http/cookies.ts';
import { bearerOf } from '../http/reading.ts';
import type { Identity } from '../http/serve.ts';
import { isRandomSecret } from '../secrets.ts';
import type { Sessions } from './sessions.ts';

type Parts = {
  sessions: Pick<Sessions, 'accountOf'>;
  apiKeys: Pick<ApiKeyBearers, 'identityOf'>;
  accessTokens: { identityOf(authorization: string, resource: string): Promise<Identity | undefined> };
  /** The audience of the access tokens that are accepted. */
  resource: string;
};

/** Returns who makes a request, or null for an anonymous one. @throws Fault bad_api_key, bad_access_token */
export type IdentityOf = (request: IncomingMessage, cookies: Cookies) => Promise<Identity | null>;

/**
 * Identifies requests by their bearer token (RFC 6750), which may be an API key, an access token for a resource of this service, a
 * session or an application's token, and without an Authorization header by their `sid` cookie.
 */
export function createIdentity({ sessions, apiKeys, accessTokens, resource }: Parts): IdentityOf {
  return async (request, cookies) => {
    const { authorization } = request.headers;
    if (authorization !== undefined) {
      const found = (await apiKeys.identityOf(authorization)) ?? (await accessTokens.identityOf(authorization, resource));
      if (found) return found;
    }
    const secret = authorization === undefined ? cookies.get('sid') : bearerOf(authorization);
    const found = isRandomSecret(secret) ? await sessions.accountOf(secret) : null;
    if (!found) return null;
    const { clientId, ...account } = found;
    if (clientId === null) return { ...account, by: 'session', scopes: null };
    // The token of an application is never valid in a cookie.
    return authorization === undefined ? null : { ...account, by: 'application', scopes: null };
  };
}
