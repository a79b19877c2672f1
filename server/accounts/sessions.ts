import type { IncomingMessage } from 'node:http';
import type pg from 'pg';
import { v7 as uuid } from 'uuid';
import { Fault } from '../../contract/errors.ts';
import { TOKEN_SECONDS } from '../../contract/limits.ts';
import type { Parsed } from '../../contract/routes.ts';
import { maskEmail } from '../../contract/rules.ts';
import type { ApiKeyBearers } from '../api-keys/bearers.ts';
import { inTransaction } from '../db/database.ts';
import type { Cookies } from '../http/cookies.ts';
import type { Identity } from '../http/invoke.ts';
import { bearerOf } from '../http/reading.ts';
import { raiseGenerations } from '../permissions/generations.ts';
import { REMEMBERED_LIFE } from '../permissions/remembered-keys.ts';
import { BEGIN_SESSION_CHANGE, endProviderSessions, LOCK_LOGOUT, notBeingSignedOut } from '../permissions/sign-outs.ts';
import { digest, isRandomSecret, randomSecret } from '../secrets.ts';
import { type Browser, createAuthKey, deviceLabelOf, type NewSession, SESSION_SECONDS } from './browser.ts';
import { endGuesses } from './guesses.ts';

/** Returns the public id of a device: the first 16 bytes of the hash of its cookie, in hex so that a command never reads it as a flag. */
export function deviceIdOf(device: Buffer): string {
  return device.toString('hex', 0, 16);
}

/** Sessions of developers: in a browser by its `sid` cookie, in a program by a bearer token. */
export class Sessions {
  readonly #store: SessionStore;

  constructor(store: SessionStore) {
    this.#store = store;
  }

  /**
   * Opens a session for the person of a grant. Returns null when the grant is not valid.
   * @param secrets of the session; random ones unless they are given
   */
  async open(grant: Grant, browser: Browser, secrets?: SessionSecrets): Promise<NewSession | null> {
    const { issue, session, authKey } = await newIssue(browser, secrets);
    const email = await this.#store.open(grant, issue);
    return email === null ? null : { email, session, authKey };
  }

  /**
   * Opens a session with the portal's own token, after a confirmation when another browser began the attempt or another account
   * is signed in.
   * @throws Fault bad_token, confirmation_needed
   */
  async tokenLogin({ token, confirm }: Parsed<'tokenLogin'>, browser: Browser, signedIn: SessionUser | null): Promise<NewSession> {
    const hash = digest(token);
    const { issue, session, authKey } = await newIssue(browser);
    const mayReplace = confirm || signedIn === null || signedIn.email === (await this.#store.portalTokenEmail(hash));
    if (mayReplace) {
      const portalToken = { hash, browser: digest(browser.attempt), confirmed: confirm ?? false };
      const email = await this.#store.openByPortalToken(portalToken, issue);
      if (email) return { email, session, authKey };
    }
    const unused = await this.#store.portalTokenEmail(hash);
    if (unused) throw new Fault('confirmation_needed', { message: `Sign in as ${maskEmail(unused)}?` });
    throw new Fault('bad_token');
  }

  /** Returns the account of a session secret, from the `sid` cookie or a bearer token, which may be an application's; null when it has ended. */
  accountOf(session: string): Promise<SessionUser | null> {
    return this.#store.user(digest(session));
  }

  /** Returns the account that is signed in in a browser by its `sid` cookie. An application's token in that cookie does not count. */
  async signedInBy(sid: string | undefined): Promise<SessionUser | null> {
    const user = isRandomSecret(sid) ? await this.accountOf(sid) : null;
    return user?.clientId === null ? user : null;
  }

  /**
   * Ends all sessions and keys of the browser's device and of the session's device, or an application's token.
   * @returns whether it was an application's token
   */
  logout(session: string | undefined, device: string | undefined): Promise<boolean> {
    return this.#store.end(session ? digest(session) : null, device ? digest(device) : null);
  }
}

type SessionSecrets = { session: string; authKey: ReturnType<typeof createAuthKey> };

async function newIssue(
  browser: Browser,
  { session, authKey }: SessionSecrets = { session: randomSecret(), authKey: createAuthKey() },
): Promise<{ issue: Issue; session: string; authKey: string }> {
  const label = await deviceLabelOf(browser.userAgent);
  const { key, selector, verifier } = authKey;
  return {
    issue: {
      userId: uuid(),
      session: digest(session),
      device: digest(browser.device),
      selector,
      verifier,
      label,
      replaced: browser.session === undefined ? null : digest(browser.session),
    },
    session,
    authKey: key,
  };
}

/** What a developer's sign-in issues: a session, and a key that lets the account in again on this device. */
type Issue = {
  userId: string;
  session: Buffer;
  device: Buffer;
  selector: Buffer;
  verifier: Buffer;
  /** A label by which a person may recognize the device. */
  label: string;
  /** The session that the browser had until now. */
  replaced: Buffer | null;
};

/** A statement that uses up what a session is issued for. */
type Grant = {
  /** Of the prepared statement. */
  name: string;
  /** Returns one row with `email`, `mailbox` and `proven_at`, or none. Its parameters begin at $8, after the columns of Issue. */
  person: string;
  values: unknown[];
};

/** `browser`: SHA-256 of the attempt cookie; `confirmed`: any browser may use the token. */
type PortalToken = { hash: Buffer; browser: Buffer; confirmed: boolean };

/** `clientId`: the session is an application's token. */
type SessionUser = { id: string; email: string; name: string | null; clientId: string | null };

// From the row of the CTE `person` (email; mailbox, unless the sign-in has ended its counter already; proven_at when the address was proven
// before this sign-in) come the account, its session and its key; its websites count as claimed. The other sessions of the browser end.
// $1…$7: the columns of Issue.
const ISSUE = `
account as (
  insert into users (id, email) select $1, email from person on conflict (email) do update set email = excluded.email returning id, email
),
session as (
  insert into sessions (hash, user_id, device, label, expires_at)
  select $2, id, $3, $6, now() + interval '${SESSION_SECONDS} seconds' from account
),
replaced as (
  delete from sessions s using person where s.client_id is null and (s.device = $3 or s.hash = $7) returning s.user_id
),
raised as (${raiseGenerations('(select u.email from users u join replaced r on r.user_id = u.id join person p on p.email <> u.email) ended')}),
remembered as (
  insert into remembered_keys (selector, device, label, email, verifier, expires_at)
  select $4, $3, $6, email, $5, coalesce(proven_at, now()) + ${REMEMBERED_LIFE} from person
  on conflict (device, email) do update set selector = excluded.selector, verifier = excluded.verifier, label = excluded.label,
    previous_verifier = null, rotated_at = now(), used_at = now(), expires_at = excluded.expires_at
),
claimed as (
  update websites w set claimed_at = now() from person p where w.email = p.email and w.claimed_at is null
),
guesses_ended as (${endGuesses('select mailbox from person')}),
audit as (
  insert into audit_log (action, email) select 'developer_signed_in', email from person
)
select email from person`;

const PORTAL_TOKEN = `
  update tokens set used_at = now()
  where hash = $8 and domain is null and host is null and used_at is null and expires_at > now() and ($10 or browser = $9)
    and ${notBeingSignedOut('email')}
  returning email, null::text as mailbox, coalesce(proven_at, expires_at - interval '${TOKEN_SECONDS} seconds') as proven_at`;

const FIND_PORTAL_TOKEN =
  'select email from tokens where hash = $1 and domain is null and host is null and used_at is null and expires_at > now()';

const SESSION_USER = `
with touched as (
  update sessions set seen_at = now() where hash = $1 and seen_at < now() - interval '1 minute' and seen_at > now() - interval '7 days'
)
select u.id, u.email, u.name, s.client_id as "clientId" from sessions s join users u on u.id = s.user_id
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
insert into audit_log (action, email) select 'developer_signed_out', email from signed_out`;

const APPLICATION_LOGOUT = `
with ended as (delete from sessions where hash = $1 returning user_id, client_id)
insert into audit_log (action, email, client_id)
select 'application_signed_out', u.email, ended.client_id from ended join users u on u.id = ended.user_id`;

/**
 * The statements of developers' sessions. A browser has at most one session: signing in and logging out lock its device, so that
 * each sees the session that the other one opened or ended.
 */
export class SessionStore {
  readonly #core: pg.Pool;

  constructor(core: pg.Pool) {
    this.#core = core;
  }

  /** Uses up a grant and issues a session for its person. Returns the address, or null when the grant is not valid. */
  async open({ name, person, values }: Grant, issue: Issue): Promise<string | null> {
    const { userId, session, device, selector, verifier, label, replaced } = issue;
    const text = `with person as (${person}), ${ISSUE}`;
    return inTransaction(this.#core, async (query) => {
      await query('signin-lock-device', BEGIN_SESSION_CHANGE, [device]);
      const issued = [userId, session, device, selector, verifier, label, replaced];
      return (await query<{ email: string }>(name, text, [...issued, ...values]))[0]?.email ?? null;
    });
  }

  /** Uses up a token of the portal and issues a session. Returns the address, or null when the token is not valid in this browser. */
  openByPortalToken({ hash, browser, confirmed }: PortalToken, issue: Issue): Promise<string | null> {
    return this.open({ name: 'signin-token-login', person: PORTAL_TOKEN, values: [hash, browser, confirmed] }, issue);
  }

  /** Returns the address of a portal token that can still be used, without using it. */
  async portalTokenEmail(hash: Buffer): Promise<string | null> {
    return (await this.#run<{ email: string }>('signin-peek-token', FIND_PORTAL_TOKEN, [hash])).rows[0]?.email ?? null;
  }

  /** Returns the account of a session, which counts as use of it; null when it has ended. */
  async user(session: Buffer): Promise<SessionUser | null> {
    return (await this.#run<SessionUser>('signin-session', SESSION_USER, [session])).rows[0] ?? null;
  }

  /**
   * Ends a session, all other sessions of its device and of the browser's device, and the keys of both. An application's token
   * ends alone.
   * @returns whether it was an application's token
   */
  async end(session: Buffer | null, device: Buffer | null): Promise<boolean> {
    type Found = { device: Buffer | null; clientId: string | null };
    const text = 'select device, client_id as "clientId" from sessions where hash = $1';
    const [found] = session ? (await this.#run<Found>('signin-session-device', text, [session])).rows : [];
    if (found?.clientId) {
      await this.#run('signin-application-logout', APPLICATION_LOGOUT, [session]);
      return true;
    }
    const devices = [device, found?.device].filter((known) => known != null);
    await inTransaction(this.#core, async (query) => {
      await query('signin-lock-logout', LOCK_LOGOUT, [devices]);
      await query('signin-logout', LOGOUT, [session, devices]);
    });
    return false;
  }

  #run<Row extends pg.QueryResultRow>(name: string, text: string, values: unknown[]) {
    return this.#core.query<Row>({ name, text, values });
  }
}

type IdentityParts = {
  sessions: Pick<Sessions, 'accountOf'>;
  apiKeys: Pick<ApiKeyBearers, 'identityOf'>;
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
export function createIdentity({ sessions, apiKeys, accessTokens, resource }: IdentityParts): IdentityOf {
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
    if (clientId === null) return { ...account, by: 'session', scopes: null };
    // The token of an application is never valid in a cookie.
    return authorization === undefined ? null : { ...account, by: 'application', scopes: null };
  };
}
