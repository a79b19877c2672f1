import type pg from 'pg';
import { ATTEMPT_SECONDS, CODE_TRIES } from '../../contract/rules.ts';
import { applicationActive, endedBySibling } from './conditions.ts';

/** Life of an application's token, in seconds. */
export const APPLICATION_TOKEN_SECONDS = 3600;

/** The parameters of a token request that must match those of the authorization request. */
export type CodeGrant = { id: string; clientId: string; redirectUri: string | null; challenge: string };

/** `session`: SHA-256 of the token that is issued. */
type ApplicationToken = { userId: string; session: Buffer };

/** A link whose address was given: where the application's program waits for the code. */
type ConfirmedLink = { clientId: string; redirectUri: string; state: string };

const OPEN_ATTEMPT = `consumed_at is null and expires_at > now() and secret_tries < ${CODE_TRIES}
    and not ${endedBySibling('a', `${ATTEMPT_SECONDS}`)}`;

// RFC 6749 §4.1.2 and RFC 7636 §4.6 in one condition: code, client, redirect URI, challenge, unused, unexpired. $1…$7: what the
// session is issued with (accounts/session-store.ts).
const EXCHANGE = `
  update sign_in_attempts a set consumed_at = now(), session = $2, key_selector = $4
  where id = $8 and kind = 'app' and client_id = $9 and redirect_uri = coalesce($10, redirect_uri) and challenge = $11
    and ${OPEN_ATTEMPT}
  returning email`;

// A second exchange with the right verifier means that the code leaked, so that what it issued ends (RFC 6749 §4.1.2). A wrong
// verifier only counts as a try.
const REFUSED_EXCHANGE = `
with replayed as (
  select session, key_selector from sign_in_attempts
  where id = $1 and kind = 'app' and client_id = $2 and challenge = $3 and consumed_at is not null
),
sessions_ended as (delete from sessions s using replayed r where s.hash = r.session),
keys_ended as (delete from remembered_keys k using replayed r where k.selector = r.key_selector)
update sign_in_attempts set secret_tries = secret_tries + 1
where id = $1 and kind = 'app' and challenge <> $3 and consumed_at is null and secret_tries < ${CODE_TRIES}`;

// Like EXCHANGE, but the token only identifies the person: no key is issued and no website claimed. $1 attempt, $2 client,
// $3 redirect URI, $4 challenge, $5 user id, $6 session.
const APPLICATION_EXCHANGE = `
with person as (
  update sign_in_attempts a set consumed_at = now(), session = $6
  where id = $1 and kind = 'app' and client_id = $2 and redirect_uri = coalesce($3, redirect_uri) and challenge = $4
    and ${OPEN_ATTEMPT} and ${applicationActive('a')}
  returning email, client_id
),
account as (
  insert into users (id, email) select $5, email from person on conflict (email) do update set email = excluded.email returning id
),
session as (
  insert into sessions (hash, user_id, client_id, expires_at)
  select $6, account.id, person.client_id, now() + interval '${APPLICATION_TOKEN_SECONDS} seconds' from account, person
),
audit as (
  insert into audit_log (action, email, client_id) select 'application_signed_in', email, client_id from person
)
select email from person`;

// A wrong address counts as a try in the statement that compares it, so that concurrent requests do not get more tries.
const CONFIRM_LINK = `
update sign_in_attempts a set secret_tries = secret_tries + case when email = $2 then 0 else 1 end
where id = $1 and kind = 'app' and ${OPEN_ATTEMPT} and ${applicationActive('a')}
returning email = $2 as confirmed, client_id as "clientId", redirect_uri as "redirectUri", state`;

/** Returns the statement by which a session is issued for the person of an authorization code. */
export function exchangeOf({ id, clientId, redirectUri, challenge }: CodeGrant) {
  return { name: 'signin-exchange', person: EXCHANGE, values: [id, clientId, redirectUri, challenge] };
}

/** The statements of OAuth clients, after the email was sent. */
export class OAuthStore {
  readonly #core: pg.Pool;

  constructor(core: pg.Pool) {
    this.#core = core;
  }

  /** Records a refused exchange: counts a wrong verifier, or ends what the code issued when the right one is used again. */
  async refuse({ id, clientId, challenge }: CodeGrant): Promise<void> {
    await this.#core.query({ name: 'signin-exchange-refused', text: REFUSED_EXCHANGE, values: [id, clientId, challenge] });
  }

  /** Issues an application's token. Returns the address that signed in, or null when code, client, redirect URI or verifier do not match. */
  async exchangeForApplication(grant: CodeGrant, token: ApplicationToken): Promise<string | null> {
    const { id, clientId, redirectUri, challenge } = grant;
    const values = [id, clientId, redirectUri, challenge, token.userId, token.session];
    const { rows } = await this.#core.query<{ email: string }>({ name: 'signin-application-exchange', text: APPLICATION_EXCHANGE, values });
    return rows[0]?.email ?? null;
  }

  /** Compares the address given for an application's link with the attempt's. Returns null when it differs or the attempt has ended. */
  async confirmLink(id: string, email: string): Promise<ConfirmedLink | null> {
    type Row = ConfirmedLink & { confirmed: boolean };
    const { rows } = await this.#core.query<Row>({ name: 'signin-application-link', text: CONFIRM_LINK, values: [id, email] });
    return rows[0]?.confirmed ? rows[0] : null;
  }
}
