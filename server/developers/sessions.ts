import type { IncomingMessage } from 'node:http';
import type pg from 'pg';
import { raiseGenerations } from '../permissions/conditions.ts';
import { endProviderSessions, LOCK_LOGOUT } from '../permissions/sign-outs.ts';
import { addActivity } from '../platform/db/activity-rows.ts';
import { inTransaction } from '../platform/db/database.ts';
import type { Cookies } from '../platform/http/cookies.ts';
import type { Account, Identity } from '../platform/http/endpoint.ts';
import { bearerOf } from '../platform/http/reading.ts';
import { digest, isRandomSecret } from '../platform/secrets.ts';
import type { ApiKeyBearers } from './bearers.ts';

/** Returns the public id of a device: the first 16 bytes of the hash of its cookie, in hex so that a command never reads it as a flag. */
export function deviceIdOf(device: Buffer): string {
  return device.toString('hex', 0, 16);
}

/** `clientId`: the session is an application's token. */
type SessionUser = Account & { clientId: string | null };

const SESSION_USER = `
with touched as (
  update sessions set seen_at = now() where hash = $1 and seen_at < now() - interval '1 minute' and seen_at > now() - interval '7 days'
)
select u.id, u.email, u.name, s.label as device, s.client_id as "clientId" from sessions s join users u on u.id = s.user_id
where s.hash = $1 and s.expires_at > now() and s.seen_at > now() - interval '7 days'
  and (s.client_id is null or exists (
    select from applications p where p.client_id = s.client_id and p.is_active and p.active_since <= s.created_at))`;

// $1 session, $2 devices. The rows of keys remain without a verifier, so that the rate limits still know the device and requests
// of others cannot lock its user out. An unused portal token would open a session again, so it ends too.
const LOGOUT = `
with ended as (
  delete from sessions where client_id is null and (hash = $1 or device = any($2)) returning user_id
),
forgotten as (
  update remembered_keys set verifier = '', previous_verifier = null where device = any($2) and verifier <> '' returning email
),
signed_out as (select email from users where id in (select user_id from ended)),
account as (select email from signed_out union select email from forgotten),
raised as (${raiseGenerations('account')}),
tokens_ended as (
  delete from tokens where domain is null and used_at is null and email in (select email from account)
),
provider_sessions_ended as (${endProviderSessions('k.device = any($2)')})
${addActivity({ action: "'developer_signed_out'", email: 'email' }, 'signed_out')}`;

const APPLICATION_LOGOUT = `
with ended as (delete from sessions where hash = $1 returning user_id, client_id)
${addActivity(
  { action: "'application_signed_out'", email: 'u.email', clientId: 'ended.client_id' },
  'ended join users u on u.id = ended.user_id',
)}`;

/** Sessions of developers: in a browser by its `sid` cookie, in a program by a bearer token. A sign-in opens them (signin/portal.ts). */
export class Sessions {
  readonly #core: pg.Pool;

  constructor(core: pg.Pool) {
    this.#core = core;
  }

  /**
   * Returns the account of a session secret, from the `sid` cookie or a bearer token, which may be an application's; null when it has
   * ended. Counts as use of the session.
   */
  async accountOf(session: string): Promise<SessionUser | null> {
    return (await this.#run<SessionUser>('signin-session', SESSION_USER, [digest(session)])).rows[0] ?? null;
  }

  /** Returns the account that is signed in in a browser by its `sid` cookie. An application's token in that cookie does not count. */
  async signedInBy(sid: string | undefined): Promise<SessionUser | null> {
    const user = isRandomSecret(sid) ? await this.accountOf(sid) : null;
    return user?.clientId === null ? user : null;
  }

  /**
   * Ends a session, all other sessions of its device and of the browser's device, and the keys of both. An application's token
   * ends alone.
   * @returns whether it was an application's token
   */
  async logout(session: string | undefined, device: string | undefined): Promise<boolean> {
    type Found = { device: Buffer | null; clientId: string | null };
    const hash = session ? digest(session) : null;
    const text = 'select device, client_id as "clientId" from sessions where hash = $1';
    const [found] = hash ? (await this.#run<Found>('signin-session-device', text, [hash])).rows : [];
    if (found?.clientId) {
      await this.#run('signin-application-logout', APPLICATION_LOGOUT, [hash]);
      return true;
    }
    const devices = [device ? digest(device) : null, found?.device].filter((known) => known != null);
    await inTransaction(this.#core, async (query) => {
      await query('signin-lock-logout', LOCK_LOGOUT, [devices]);
      await query('signin-logout', LOGOUT, [hash, devices]);
    });
    return false;
  }

  #run<Row extends pg.QueryResultRow>(name: string, text: string, values: unknown[]) {
    return this.#core.query<Row>({ name, text, values });
  }
}

type Parts = {
  sessions: Sessions;
  apiKeys: ApiKeyBearers;
  accessTokens: { identityOf(authorization: string, resource: string): Promise<Identity | undefined> };
  /** The audience of the access tokens that are accepted. */
  resource: string;
};

/** Returns who makes a request, or null for an anonymous one. @throws Fault bad_api_key, bad_access_token */
type IdentityOf = (request: IncomingMessage, cookies: Cookies) => Promise<Identity | null>;

/**
 * Identifies requests by their bearer token (RFC 6750), which may be an API key, an access token for a resource of this service, a
 * session or an application's token, and without an Authorization header by their `sid` cookie.
 */
export function createIdentity({ sessions, apiKeys, accessTokens, resource }: Parts): IdentityOf {
  return async (request, cookies) => {
    const { authorization } = request.headers;
    const secret = authorization === undefined ? cookies.get('sid') : bearerOf(authorization);
    // Decided by length and characters, since a random secret can begin like an API key or a JWT.
    if (!isRandomSecret(secret)) {
      if (authorization === undefined) return null;
      return (await apiKeys.identityOf(authorization)) ?? (await accessTokens.identityOf(authorization, resource)) ?? null;
    }
    const found = await sessions.accountOf(secret);
    if (!found) return null;
    const { clientId, ...account } = found;
    if (clientId === null) return { ...account, credential: 'session', scopes: null };
    // The token of an application is never valid in a cookie.
    return authorization === undefined ? null : { ...account, credential: 'application', scopes: null };
  };
}
