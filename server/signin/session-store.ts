import type pg from 'pg';
import { ATTEMPT_SECONDS, MAX_CODE_TRIES } from '../../contract/limits.ts';
import { inTransaction } from '../db/database.ts';
import { BEGIN_SESSION_CHANGE, endedBySibling, LOCK_LOGOUT, notBeingSignedOut } from './statements.ts';

/** Absolute life of a session, in seconds: 30 days. An idle one ends after 7 days. */
export const SESSION_SECONDS = 30 * 86_400;

/** What a developer's sign-in issues: a session, and a key that lets the account in again on this device. */
export type Issue = {
  userId: string;
  session: Buffer;
  device: Buffer;
  selector: Buffer;
  verifier: Buffer;
  /** A name by which a person may recognize the device. */
  label: string;
  /** The session that the browser has had until now. */
  replaced: Buffer | null;
};

export type Exchange = Issue & { id: string; clientId: string; redirectUri: string | null; challenge: string };
export type TokenLogin = Issue & { hash: Buffer; browser: Buffer | null; confirmed: boolean };

/** `clientId`: the session is an application's token. */
export type SessionUser = { id: string; email: string; name: string | null; clientId: string | null };

// From the rows of a CTE `person` (email) come the account, its session and its key; its sites count as claimed. The other
// sessions of the browser end. $1…$7 the columns of Issue, as issueValues lists them.
const ISSUE = `
account as (
  insert into users (id, email) select $1, email from person on conflict (email) do update set email = excluded.email returning id, email
),
session as (
  insert into sessions (hash, user_id, device, label, expires_at)
  select $2, id, $3, $6, now() + interval '${SESSION_SECONDS} seconds' from account
),
replaced as (
  delete from sessions s using person where s.client_id is null and (s.device = $3 or s.hash = $7)
),
remembered as (
  insert into remembered_keys (selector, device, label, email, verifier, expires_at)
  select $4, $3, $6, email, $5, now() + interval '400 days' from person
  on conflict (device, email) do update set selector = excluded.selector, verifier = excluded.verifier, label = excluded.label,
    previous_verifier = null, rotated_at = now(), used_at = now(), expires_at = excluded.expires_at
),
claimed as (
  update websites w set claimed_at = now() from person p where w.email = p.email and w.claimed_at is null
),
audit as (
  insert into audit_log (action, email) select 'developer_signed_in', email from person
)
select email from person`;

const issueValues = ({ userId, session, device, selector, verifier, label, replaced }: Issue) => [
  userId,
  session,
  device,
  selector,
  verifier,
  label,
  replaced,
];

// RFC 6749 §4.1.2 and RFC 7636 §4.6 in one condition: code, client, redirect URI, challenge, unused, unexpired.
const EXCHANGE = `
with person as (
  update sign_in_attempts a set consumed_at = now(), session = $2, key_selector = $4
  where id = $8 and kind = 'app' and client_id = $9 and redirect_uri = coalesce($10, redirect_uri) and challenge = $11
    and consumed_at is null and expires_at > now() and secret_tries < ${MAX_CODE_TRIES}
    and not ${endedBySibling('a', `${ATTEMPT_SECONDS}`)}
  returning email
), ${ISSUE}`;

// A replay by whoever knows the verifier means that the code leaked: what it issued ends (RFC 6749 §4.1.2). A wrong
// verifier only counts as a try.
const REFUSED_EXCHANGE = `
with replayed as (
  select session, key_selector from sign_in_attempts
  where id = $1 and kind = 'app' and client_id = $2 and challenge = $3 and consumed_at is not null
),
sessions_ended as (delete from sessions s using replayed r where s.hash = r.session),
keys_ended as (delete from remembered_keys k using replayed r where k.selector = r.key_selector)
update sign_in_attempts set secret_tries = secret_tries + 1
where id = $1 and kind = 'app' and challenge <> $3 and consumed_at is null and secret_tries < ${MAX_CODE_TRIES}`;

const TOKEN_LOGIN = `
with person as (
  update tokens set used_at = now()
  where hash = $8 and domain is null and used_at is null and expires_at > now() and ($10 or browser = $9)
    and ${notBeingSignedOut('email')}
  returning email
), ${ISSUE}`;

const SESSION_USER = `
with touched as (
  update sessions set seen_at = now() where hash = $1 and seen_at < now() - interval '1 minute' and seen_at > now() - interval '7 days'
)
select u.id, u.email, u.name, s.client_id as "clientId" from sessions s join users u on u.id = s.user_id
where s.hash = $1 and s.expires_at > now() and s.seen_at > now() - interval '7 days'
  and (s.client_id is null or exists (
    select from applications p where p.client_id = s.client_id and p.is_active and p.active_since <= s.created_at))`;

// $1 session, $2 devices. The rows of keys stay without a verifier: by them the limits know the device, so that nobody
// else's requests lock its user out. A portal token that is under way would open a session again, so it ends too.
const LOGOUT = `
with ended as (
  delete from sessions where client_id is null and (hash = $1 or device = any($2)) returning user_id
),
forgotten as (
  update remembered_keys set verifier = '', previous_verifier = null where device = any($2) and verifier <> '' returning email
),
signed_out as (select email from users where id in (select user_id from ended)),
tokens_ended as (
  delete from tokens where domain is null and used_at is null
    and email in (select email from signed_out union select email from forgotten)
)
insert into audit_log (action, email) select 'developer_signed_out', email from signed_out`;

const APPLICATION_LOGOUT = `
with ended as (delete from sessions where hash = $1 returning user_id, client_id)
insert into audit_log (action, email, client_id)
select 'application_signed_out', u.email, ended.client_id from ended join users u on u.id = ended.user_id`;

export type SessionStore = ReturnType<typeof createSessionStore>;

/**
 * The statements of developers' sessions. A browser has one at most: signing in and logging out take a lock on its device, so
 * that each of them sees the session that the other one has opened or ended.
 */
export function createSessionStore(core: pg.Pool) {
  const run = <Row extends pg.QueryResultRow>(name: string, text: string, values: unknown[]) => core.query<Row>({ name, text, values });

  const openSession = (name: string, text: string, { device }: Issue, values: unknown[]): Promise<string | null> =>
    inTransaction(core, async (ask) => {
      await ask('signin-lock-device', BEGIN_SESSION_CHANGE, [device]);
      return (await ask<{ email: string }>(name, text, values))[0]?.email ?? null;
    });

  return {
    /** @returns the address that is signed in, or null when anything of code, client and verifier does not fit */
    exchange: (exchange: Exchange): Promise<string | null> => {
      const { id, clientId, redirectUri, challenge } = exchange;
      const values = [...issueValues(exchange), id, clientId, redirectUri, challenge];
      return openSession('signin-exchange', EXCHANGE, exchange, values);
    },

    /** After an exchange that was refused: counts a wrong verifier; a replay with the right one ends what the code issued. */
    async refuseExchange({ id, clientId, challenge }: Pick<Exchange, 'id' | 'clientId' | 'challenge'>): Promise<void> {
      await run('signin-exchange-refused', REFUSED_EXCHANGE, [id, clientId, challenge]);
    },

    /** Uses a portal token up. @returns the address, or null */
    tokenLogin: (login: TokenLogin): Promise<string | null> => {
      const values = [...issueValues(login), login.hash, login.browser, login.confirmed];
      return openSession('signin-token-login', TOKEN_LOGIN, login, values);
    },

    /** The address of a portal token that could still be used, which this does not do. */
    async peekPortalToken(hash: Buffer): Promise<string | null> {
      const text = 'select email from tokens where hash = $1 and domain is null and used_at is null and expires_at > now()';
      return (await run<{ email: string }>('signin-peek-token', text, [hash])).rows[0]?.email ?? null;
    },

    /** Whose session this is; counts as use of it. */
    async sessionUser(session: Buffer): Promise<SessionUser | null> {
      return (await run<SessionUser>('signin-session', SESSION_USER, [session])).rows[0] ?? null;
    },

    /**
     * Ends a session, all other sessions of its device and of the browser's device, and the keys of both. An application's token
     * ends alone.
     * @returns whether it was an application's
     */
    async endSession(session: Buffer | null, device: Buffer | null): Promise<boolean> {
      type Found = { device: Buffer | null; clientId: string | null };
      const text = 'select device, client_id as "clientId" from sessions where hash = $1';
      const [found] = session ? (await run<Found>('signin-session-device', text, [session])).rows : [];
      if (found?.clientId) {
        await run('signin-application-logout', APPLICATION_LOGOUT, [session]);
        return true;
      }
      const devices = [device, found?.device].filter((known) => known != null);
      await inTransaction(core, async (ask) => {
        await ask('signin-lock-logout', LOCK_LOGOUT, [devices]);
        await ask('signin-logout', LOGOUT, [session, devices]);
      });
      return false;
    },
  };
}
