import type pg from 'pg';
import type { LanguageCode } from '../../contract/languages.ts';
import { ATTEMPT_SECONDS, CODE_TRIES, TOKEN_SECONDS } from '../../contract/rules.ts';
import type { AttemptKind } from './secrets.ts';
import { endedBySibling, notBeingSignedOut } from './statements.ts';

/** Idle and absolute life of a session: 7 and 30 days. */
export const SESSION_SECONDS = 30 * 86_400;

/** What a developer's sign-in issues: a session, and a key that lets the account in again on this device. */
/** `label`: what a person may recognise the device by. */
export type Issue = { userId: string; session: Buffer; device: Buffer; label: string; selector: Buffer; verifier: Buffer };

export type Exchange = Issue & { id: string; clientId: string; redirectUri: string | null; challenge: string };
export type TokenLogin = Issue & { hash: Buffer; browser: Buffer | null; confirmed: boolean };
export type QuickLogin = {
  selector: Buffer;
  verifier: Buffer;
  nextVerifier: Buffer;
  device: Buffer;
  email: string;
  domain: string | null;
  /** The host that the token will be for. */
  host: string | null;
  tokenHash: Buffer;
  browser: Buffer | null;
};

export type AttemptStatus = 'waiting' | 'opened' | 'mail_failed' | 'expired';
export type LinkState = {
  kind: AttemptKind;
  email: string;
  language: LanguageCode;
  domain: string | null;
  clientId: string | null;
  redirectUri: string | null;
  forwardUrl: string | null;
  state: string | null;
  /** Id of the upload that the site shows. */
  icon: string | null;
  status: 'open' | 'used' | 'expired';
};
/** `clientId`: the session is an application's token. */
export type SessionUser = { id: string; email: string; name: string | null; clientId: string | null };

const ENDED = endedBySibling('a', `${ATTEMPT_SECONDS}`);

// From the rows of a CTE `person` (email) come the account, its session and its key; its sites count as claimed.
// $1 user id, $2 session, $3 device, $4 selector, $5 verifier.
/** @param label the parameter that holds the device's label */
const issue = (label: `$${number}`) => `
account as (
  insert into users (id, email) select $1, email from person on conflict (email) do update set email = excluded.email returning id, email
),
session as (
  insert into sessions (hash, user_id, device, label, expires_at)
  select $2, id, $3, ${label}, now() + interval '${SESSION_SECONDS} seconds' from account
),
remembered as (
  insert into remembered_keys (selector, device, label, email, verifier, expires_at)
  select $4, $3, ${label}, email, $5, now() + interval '400 days' from person
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

// RFC 6749 §4.1.2 and RFC 7636 §4.6 in one condition: code, client, redirect URI, challenge, unused, unexpired.
const EXCHANGE = `
with person as (
  update sign_in_attempts a set consumed_at = now(), session = $2, key_selector = $4
  where id = $6 and kind = 'app' and client_id = $7 and redirect_uri = coalesce($8, redirect_uri) and challenge = $9
    and consumed_at is null and expires_at > now() and secret_tries < ${CODE_TRIES}
    and not ${ENDED}
  returning email
), ${issue('$10')}`;

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
where id = $1 and kind = 'app' and challenge <> $3 and consumed_at is null and secret_tries < ${CODE_TRIES}`;

const TOKEN_LOGIN = `
with person as (
  update tokens set used_at = now()
  where hash = $6 and domain is null and used_at is null and expires_at > now() and ($8 or browser = $7)
    and ${notBeingSignedOut('email')}
  returning email
), ${issue('$9')}`;

// The verifier is replaced once it is a day old; the old one lives 60 s more, for requests under way.
const QUICK_LOGIN = `
with used as (
  update remembered_keys set used_at = now(),
    verifier = case when verifier = $2 and rotated_at <= now() - interval '1 day' then $3 else verifier end,
    previous_verifier = case when verifier = $2 and rotated_at <= now() - interval '1 day' then verifier else previous_verifier end,
    rotated_at = case when verifier = $2 and rotated_at <= now() - interval '1 day' then now() else rotated_at end
  where selector = $1 and device = $4 and email = $5 and used_at > now() - interval '90 days' and expires_at > now()
    and (verifier = $2 or (previous_verifier = $2 and rotated_at > now() - interval '60 seconds'))
    and ($6::text is null or exists (select from websites where domain = $6))
    and ${notBeingSignedOut('email')}
  returning email, verifier = $3 as rotated, verifier not in ($2, $3) as replaced
),
issued as (
  insert into tokens (hash, domain, host, email, browser, expires_at)
  select $7, $6, $9, email, $8, now() + interval '${TOKEN_SECONDS} seconds' from used
),
audit as (insert into audit_log (action, email, domain) select 'signed_in_again', email, $6 from used)
select rotated, replaced from used`;

const SESSION_USER = `
with touched as (
  update sessions set seen_at = now() where hash = $1 and seen_at < now() - interval '1 minute' and seen_at > now() - interval '7 days'
)
select u.id, u.email, u.name, s.client_id as "clientId" from sessions s join users u on u.id = s.user_id
where s.hash = $1 and s.expires_at > now() and s.seen_at > now() - interval '7 days'
  and (s.client_id is null or exists (
    select from applications p where p.client_id = s.client_id and p.is_active and p.active_since <= s.created_at))`;

// On probation a site shows no icon.
const SHOWN_ICON = 'case when w.claimed_at is not null then w.icon end';

export type AccountsStore = ReturnType<typeof createAccountsStore>;

/** The statements around the core: developers' sessions, remembered accounts, and what the waiting page asks. */
export function createAccountsStore(core: pg.Pool) {
  const run = <Row extends pg.QueryResultRow>(name: string, text: string, values: unknown[]) => core.query<Row>({ name, text, values });
  const issueValues = (issue: Issue) => [issue.userId, issue.session, issue.device, issue.selector, issue.verifier];
  return {
    /** @returns the address that is signed in, or null when anything of code, client and verifier does not fit */
    async exchange(exchange: Exchange): Promise<string | null> {
      const { id, clientId, redirectUri, challenge } = exchange;
      const { rows } = await run<{ email: string }>('signin-exchange', EXCHANGE, [
        ...issueValues(exchange),
        id,
        clientId,
        redirectUri,
        challenge,
        exchange.label,
      ]);
      return rows[0]?.email ?? null;
    },

    /** After an exchange that was refused: counts a wrong verifier; a replay with the right one ends what the code issued. */
    async refuseExchange({ id, clientId, challenge }: Pick<Exchange, 'id' | 'clientId' | 'challenge'>): Promise<void> {
      await run('signin-exchange-refused', REFUSED_EXCHANGE, [id, clientId, challenge]);
    },

    /** Uses a portal token up. @returns the address, or null */
    async tokenLogin(login: TokenLogin): Promise<string | null> {
      const { rows } = await run<{ email: string }>('signin-token-login', TOKEN_LOGIN, [
        ...issueValues(login),
        login.hash,
        login.browser,
        login.confirmed,
        login.label,
      ]);
      return rows[0]?.email ?? null;
    },

    /** The address of a portal token that could still be used, which this does not do. */
    async peekPortalToken(hash: Buffer): Promise<string | null> {
      const text = 'select email from tokens where hash = $1 and domain is null and used_at is null and expires_at > now()';
      return (await run<{ email: string }>('signin-peek-token', text, [hash])).rows[0]?.email ?? null;
    },

    /**
     * @returns `rotated`: the key is replaced now; `replaced`: it was replaced a moment ago, by another tab; null: it is not good,
     * and one that was replaced long ago ends its family
     */
    async quickLogin(login: QuickLogin): Promise<{ rotated: boolean; replaced: boolean } | null> {
      const { selector, verifier, nextVerifier, device, email, domain, host, tokenHash, browser } = login;
      const { rows } = await run<{ rotated: boolean; replaced: boolean }>('signin-quick', QUICK_LOGIN, [
        selector,
        verifier,
        nextVerifier,
        device,
        email,
        domain,
        tokenHash,
        browser,
        host,
      ]);
      if (rows[0]) return rows[0];
      const reuse = `delete from remembered_keys
        where selector = $1 and device = $2 and previous_verifier = $3 and rotated_at <= now() - interval '60 seconds'`;
      await run('signin-key-reuse', reuse, [selector, device, verifier]);
      return null;
    },

    /** Counts an address given for a link that was opened in another browser, before anything is compared. @returns whether there was a try left */
    async countAddressTry(id: string): Promise<boolean> {
      const text = `update sign_in_attempts set secret_tries = secret_tries + 1
        where id = $1 and consumed_at is null and secret_tries < ${CODE_TRIES}`;
      return (await run('signin-address-try', text, [id])).rowCount === 1;
    },

    /**
     * Counts an address given for any link of the last hour, before anything is compared; the link stays as it is.
     * @returns the address that the mail was sent to, or null when no try is left
     */
    async countBrowserTry(id: string): Promise<string | null> {
      const text = `update sign_in_attempts set secret_tries = secret_tries + 1
        where id = $1 and secret_tries < ${CODE_TRIES} and expires_at > now() - interval '${3600 - ATTEMPT_SECONDS} seconds' returning email`;
      return (await run<{ email: string }>('signin-browser-try', text, [id])).rows[0]?.email ?? null;
    },

    /** Makes a device known to the limits of an address, as a logout leaves it: the row lets nobody in. */
    async knowDevice({ device, email, selector, label }: Pick<Issue, 'device' | 'selector' | 'label'> & { email: string }): Promise<void> {
      const text = `insert into remembered_keys (selector, device, label, email, verifier, expires_at)
        values ($1, $2, $3, $4, '', now() + interval '400 days') on conflict (device, email) do nothing`;
      await run('signin-know-device', text, [selector, device, label, email]);
    },

    /** What became of the newest attempt of a browser for an address. */
    async attemptStatus(browser: Buffer, email: string): Promise<AttemptStatus> {
      const text = `select a.consumed_at is not null or ${ENDED} as opened, mail_failed, expires_at <= now() as expired
        from sign_in_attempts a where browser = $1 and email = $2 order by id desc limit 1`;
      const { rows } = await run<{ opened: boolean; mail_failed: boolean; expired: boolean }>('signin-status', text, [browser, email]);
      const [row] = rows;
      if (!row) return 'expired';
      if (row.opened) return 'opened';
      if (row.mail_failed) return 'mail_failed';
      return row.expired ? 'expired' : 'waiting';
    },

    /** The registered address of the site that a token is for, which this does not use up; null: no site's token. */
    async siteOfToken(hash: Buffer): Promise<{ owner: string | null } | null> {
      const text =
        'select w.email as owner from tokens t left join websites w on w.domain = t.domain where t.hash = $1 and t.domain is not null';
      return (await run<{ owner: string | null }>('signin-token-site', text, [hash])).rows[0] ?? null;
    },

    /** What a page may say about a link, without using it. */
    async linkState(id: string): Promise<LinkState | null> {
      const text = `select kind, email, language, domain, client_id as "clientId", redirect_uri as "redirectUri", forward_url as "forwardUrl", state,
          (select ${SHOWN_ICON} from websites w where w.domain = a.domain) as icon,
          case when a.consumed_at is not null or ${ENDED} then 'used' when expires_at <= now() or secret_tries >= ${CODE_TRIES} then 'expired' else 'open' end as status
        from sign_in_attempts a where id = $1`;
      return (await run<LinkState>('signin-link-state', text, [id])).rows[0] ?? null;
    },

    /** The site that visitors of a domain sign in to. @returns null when the domain is not registered */
    async registeredSite(domain: string): Promise<{ icon: string | null } | null> {
      const text = `select ${SHOWN_ICON} as icon from websites w where domain = $1`;
      return (await run<{ icon: string | null }>('signin-registered', text, [domain])).rows[0] ?? null;
    },

    /** Local mode: `localhost` is a site that nobody owns, so that any app under development can be tried at once. */
    async admitLocalhost(id: string): Promise<void> {
      const text = "insert into websites (id, domain, claimed_at) values ($1, 'localhost', now()) on conflict (domain) do nothing";
      await run('signin-admit-localhost', text, [id]);
    },

    /** The receiving server refused the mail for good; the waiting page says so. */
    async markMailFailed(id: string): Promise<void> {
      await run('signin-mail-failed', 'update sign_in_attempts set mail_failed = true where id = $1', [id]);
    },

    /** Whose session this is; counts as use of it. */
    async sessionUser(session: Buffer): Promise<SessionUser | null> {
      return (await run<SessionUser>('signin-session', SESSION_USER, [session])).rows[0] ?? null;
    },

    /**
     * Ends a session, and the keys of its device, on all instances. The keys' rows stay without a verifier: by them the limits
     * know the device, so that nobody else's requests lock its user out. An application's token ends alone.
     * @returns whether it was an application's
     */
    async endSession(session: Buffer | null, device: Buffer | null): Promise<boolean> {
      const text = `with ended as (delete from sessions where hash = $1 returning user_id, device, client_id),
        forgotten as (update remembered_keys set verifier = '', previous_verifier = null
          where (device = $2 or device in (select device from ended)) and not exists (select from ended where client_id is not null)),
        audit as (insert into audit_log (action, email, client_id)
          select case when client_id is null then 'developer_signed_out' else 'application_signed_out' end, u.email, client_id
          from ended join users u on u.id = ended.user_id)
        select from ended where client_id is not null`;
      return (await run('signin-logout', text, [session, device])).rowCount === 1;
    },
  };
}
