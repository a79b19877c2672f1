import type pg from 'pg';
import { ATTEMPT_SECONDS, MAX_CODE_TRIES } from '../../contract/limits.ts';
import { applicationGoesOn, endedBySibling } from './statements.ts';

/** Life of an application's token, in seconds. */
export const APPLICATION_TOKEN_SECONDS = 3600;

/** `session`: the SHA-256 of the token that is issued. */
export type ApplicationExchange = {
  id: string;
  clientId: string;
  redirectUri: string | null;
  challenge: string;
  userId: string;
  session: Buffer;
};

/** A link that an address was given for: where the application's program waits for the code. */
type ConfirmedLink = { clientId: string; redirectUri: string; state: string };

const STILL_GOOD = `not ${endedBySibling('a', `${ATTEMPT_SECONDS}`)} and ${applicationGoesOn('a')}`;

// RFC 6749 §4.1.2 and RFC 7636 §4.6 in one condition, like the developer's EXCHANGE; but what is issued only identifies: no
// key, no claimed site. $1 attempt, $2 client, $3 redirect URI, $4 challenge, $5 user id, $6 session.
const EXCHANGE = `
with person as (
  update sign_in_attempts a set consumed_at = now(), session = $6
  where id = $1 and kind = 'app' and client_id = $2 and redirect_uri = coalesce($3, redirect_uri) and challenge = $4
    and consumed_at is null and expires_at > now() and secret_tries < ${MAX_CODE_TRIES}
    and ${STILL_GOOD}
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

// A wrong address counts as a try in the statement that compares it, so that no number of requests at once gets more tries.
const CONFIRM_LINK = `
update sign_in_attempts a set secret_tries = secret_tries + case when email = $2 then 0 else 1 end
where id = $1 and kind = 'app' and consumed_at is null and expires_at > now() and secret_tries < ${MAX_CODE_TRIES}
  and ${STILL_GOOD}
returning email = $2 as confirmed, client_id as "clientId", redirect_uri as "redirectUri", state`;

export type ApplicationSignInStore = ReturnType<typeof createApplicationSignInStore>;

/** The statements of an application's sign-in, once its mail is there. */
export function createApplicationSignInStore(core: pg.Pool) {
  return {
    /** Compares the address that was given for a mailed link with the link's own. @returns null when it is another, or the link is dead */
    async confirmLink(id: string, email: string): Promise<ConfirmedLink | null> {
      type Row = ConfirmedLink & { confirmed: boolean };
      const { rows } = await core.query<Row>({ name: 'signin-application-link', text: CONFIRM_LINK, values: [id, email] });
      return rows[0]?.confirmed ? rows[0] : null;
    },

    /** @returns the address that is signed in, or null when anything of code, client and verifier does not fit */
    async exchange({ id, clientId, redirectUri, challenge, userId, session }: ApplicationExchange): Promise<string | null> {
      const values = [id, clientId, redirectUri, challenge, userId, session];
      const { rows } = await core.query<{ email: string }>({ name: 'signin-application-exchange', text: EXCHANGE, values });
      return rows[0]?.email ?? null;
    },
  };
}
